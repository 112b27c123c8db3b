import { LRUCache } from 'lru-cache'
import { type Database, type Handle, isUniqueViolation } from '../../engine/index.ts'
import { generateKey, hashKey, isMistyped, keyHint, sameHash } from '../http/api-keys.ts'
import { ServerError } from '../http/errors.ts'
import { ACCOUNT_NAME, EXPIRY } from '../records/accounts.ts'
import type { CreatedNamedKey, NamedKey, NewNamedKey } from '../records/index.ts'

interface Row extends Omit<NamedKey, 'readOnly' | 'repositories'> {
  readonly id: number
  readonly accountId: number
  readonly readOnly: 0 | 1
  readonly repositories: string | null
  readonly hash: Uint8Array
}

/** A key that is accepted now. */
export interface FoundKey {
  readonly id: number
  readonly accountId: number
  readonly readOnly: boolean
  readonly repositories: readonly number[] | null
  /** A text that tells the key from all others without revealing it. */
  readonly mark: string
}

const SELECT = `SELECT id, name, account_id AS "accountId", key_hash AS hash, key_hint AS "keyHint",
  read_only AS "readOnly", expires_at AS "expiresAt", created_at AS "createdAt", repositories,
  last_used_at AS "lastUsedAt" FROM account_keys`
const MOST = 100

/** The further keys of accounts. They are looked up for each request, so that a deleted one stops working at once. */
export class NamedKeys {
  readonly #database: Database
  readonly #now: () => Date
  readonly #lastUse: LastUse

  constructor(database: Database, now = () => new Date()) {
    this.#database = database
    this.#now = now
    this.#lastUse = new LastUse(database, 'account_keys', now)
  }

  list(accountId: number): Promise<NamedKey[]> {
    return listed(this.#database, accountId)
  }

  /**
   * Makes a key. The key itself is given only here, because only a hash of it is kept.
   * @throws ServerError `invalid_body`, `key_exists`, `too_many_keys`
   */
  async create(accountId: number, fields: NewNamedKey): Promise<CreatedNamedKey> {
    if (!ACCOUNT_NAME.test(fields.name)) {
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
          `INSERT INTO account_keys
             (account_id, name, key_hash, key_hint, read_only, repositories, expires_at, created_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
          accountId,
          fields.name,
          hashKey(apiKey),
          keyHint(apiKey),
          fields.readOnly ? 1 : 0,
          fields.repositories ? JSON.stringify(fields.repositories) : null,
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

  /** The key with an id; undefined if there is no such key or it has expired. */
  async get(accountId: number, id: number): Promise<FoundKey | undefined> {
    return this.#found(
      await this.#database.get<Row>(`${SELECT} WHERE account_id = ? AND id = ?`, accountId, id),
    )
  }

  /** The record of a key; undefined if there is no such key or it has expired. */
  async find(key: string): Promise<FoundKey | undefined> {
    if (isMistyped(key)) return undefined
    const hash = hashKey(key)
    const row = await this.#database.cached(
      `named key ${hash.toString('base64')}`,
      async () => {
        const rows = await this.#database.all<Row>(`${SELECT} WHERE key_index = ?`, hash.subarray(0, 8))
        return rows.find((candidate) => sameHash(hash, candidate.hash))
      },
      { exact: true },
    )
    const found = this.#found(row)
    if (found) this.#lastUse.note(found.id)
    return found
  }

  #found(row: Row | undefined): FoundKey | undefined {
    if (!row || (row.expiresAt !== null && Date.parse(row.expiresAt) <= this.#now().getTime()))
      return undefined
    const { id, accountId, hash } = row
    return { id, accountId, ...limitsOf(row), mark: Buffer.from(hash).toString('hex') }
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

function keyOf(row: Row): NamedKey {
  const { name, keyHint, expiresAt, createdAt, lastUsedAt } = row
  return { name, keyHint, ...limitsOf(row), expiresAt, createdAt, lastUsedAt }
}

function limitsOf({ readOnly, repositories }: Row): Pick<NamedKey, 'readOnly' | 'repositories'> {
  return { readOnly: readOnly === 1, repositories: repositories === null ? null : JSON.parse(repositories) }
}

/** How exactly the last use of a key or a link is known. */
const EXACT_MS = 60_000

/** Notes when rows of a table were last used, each once a minute. No request waits for it or fails because of it. */
export class LastUse {
  readonly #database: Database
  readonly #sql: string
  readonly #now: () => Date
  readonly #noted = new LRUCache<number, true>({ max: 4_096, ttl: EXACT_MS })

  constructor(database: Database, table: 'links' | 'account_keys', now: () => Date) {
    this.#database = database
    this.#sql = `UPDATE ${table} SET last_used_at = ? WHERE id = ?`
    this.#now = now
  }

  note(id: number): void {
    if (this.#noted.has(id)) return
    this.#noted.set(id, true)
    const at = this.#now().toISOString()
    this.#database
      .unattended(() => this.#database.transaction((t) => t.run(this.#sql, at, id), { changes: [] }))
      // For example a full disk.
      .catch(() => undefined)
  }
}
