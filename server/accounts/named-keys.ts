import { type Database, type Handle, isUniqueViolation } from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'
import { ACCOUNT_NAME } from './accounts.ts'
import { generateKey, hashKey, isMistyped, keyHint, sameHash } from './keys.ts'

/**
 * A further key of an account, for a program or a colleague. It has a name, and may expire or be limited to reading.
 */
export interface NamedKey {
  readonly name: string
  readonly keyHint: string
  readonly readOnly: boolean
  /** ISO 8601; null if it doesn't expire. */
  readonly expiresAt: string | null
  readonly createdAt: string
}

interface Row extends Omit<NamedKey, 'readOnly'> {
  readonly accountId: number
  readonly readOnly: 0 | 1
  readonly hash: Uint8Array
}

const SELECT = `SELECT name, account_id AS "accountId", key_hash AS hash, key_hint AS "keyHint",
  read_only AS "readOnly", expires_at AS "expiresAt", created_at AS "createdAt" FROM account_keys`
/** What the name of a key looks like, and the time at which it expires. */
export const KEY_NAME = ACCOUNT_NAME
export const EXPIRY = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/
const MOST = 100

/** The further keys of accounts. They are looked up for each request, so that a deleted one stops working at once. */
export class NamedKeys {
  readonly #database: Database
  readonly #now: () => Date

  constructor(database: Database, now = () => new Date()) {
    this.#database = database
    this.#now = now
  }

  list(accountId: number): Promise<NamedKey[]> {
    return listed(this.#database, accountId)
  }

  /**
   * Makes a key. The key itself is given only here, because only a hash of it is kept.
   * @throws ServerError `invalid_body`, `key_exists`, `too_many_keys`
   */
  async create(
    accountId: number,
    fields: { readonly name: string; readonly expiresAt?: string | null; readonly readOnly?: boolean },
  ): Promise<NamedKey & { readonly apiKey: string }> {
    if (!KEY_NAME.test(fields.name)) {
      throw new ServerError(
        'invalid_body',
        'The name of a key has 1 to 64 letters, digits, dots, hyphens, underscores and @, and begins with a letter ' +
          'or a digit.',
      )
    }
    const expiresAt = fields.expiresAt == null ? null : this.#laterTime(fields.expiresAt)
    const apiKey = generateKey()
    try {
      await this.#database.transaction(async (t) => {
        await t.lock('accounts', accountId)
        if ((await listed(t, accountId)).length >= MOST) {
          throw new ServerError(
            'too_many_keys',
            `An account has at most ${MOST} named keys. Delete one first.`,
          )
        }
        await t.run(
          `INSERT INTO account_keys (account_id, name, key_hash, key_hint, read_only, expires_at, created_at)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
          accountId,
          fields.name,
          hashKey(apiKey),
          keyHint(apiKey),
          fields.readOnly ? 1 : 0,
          expiresAt,
          this.#now().toISOString(),
        )
      })
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      throw new ServerError('key_exists', `There is already a key named ${fields.name}.`)
    }
    const keys = await this.list(accountId)
    return { ...keys.find(({ name }) => name === fields.name)!, apiKey }
  }

  /** @throws ServerError `not_found` */
  async delete(accountId: number, name: string): Promise<void> {
    const changes = await this.#database.run(
      'DELETE FROM account_keys WHERE account_id = ? AND name = ?',
      accountId,
      name,
    )
    if (changes === 0) throw new ServerError('not_found', `There is no key named ${JSON.stringify(name)}.`)
  }

  /** The account of a key and whether the key may only read; undefined if there is no such key or it has expired. */
  async find(key: string): Promise<{ readonly accountId: number; readonly readOnly: boolean } | undefined> {
    if (isMistyped(key)) return undefined
    const hash = hashKey(key)
    const row = await this.#database.recall(
      `named key ${hash.toString('base64')}`,
      async () => {
        const rows = await this.#database.all<Row>(`${SELECT} WHERE key_index = ?`, hash.subarray(0, 8))
        return rows.find((candidate) => sameHash(hash, candidate.hash))
      },
      { exact: true },
    )
    if (!row || (row.expiresAt !== null && Date.parse(row.expiresAt) <= this.#now().getTime()))
      return undefined
    return { accountId: row.accountId, readOnly: row.readOnly === 1 }
  }

  #laterTime(text: string): string {
    const time = EXPIRY.test(text) ? Date.parse(text) : Number.NaN
    if (time > this.#now().getTime()) return new Date(time).toISOString()
    throw new ServerError(
      'invalid_body',
      `expiresAt must be a time in the future, for example 2027-01-31T00:00:00Z; it is ${JSON.stringify(text)}.`,
    )
  }
}

async function listed(handle: Handle, accountId: number): Promise<NamedKey[]> {
  const rows = await handle.all<Row>(`${SELECT} WHERE account_id = ? ORDER BY id`, accountId)
  return rows.map(keyOf)
}

function keyOf({ name, keyHint, readOnly, expiresAt, createdAt }: Row): NamedKey {
  return { name, keyHint, readOnly: readOnly === 1, expiresAt, createdAt }
}
