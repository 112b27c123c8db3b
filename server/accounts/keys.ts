import { LRUCache } from 'lru-cache'
import { type Database, type Handle, isUniqueViolation } from '../../engine/index.ts'
import { generateKey, hashKey, isMistyped, keyHint, sameHash } from '../http/api-keys.ts'
import { ServerError } from '../http/errors.ts'
import { ACCOUNT_NAME, EXPIRY } from '../records/accounts.ts'
import type { CreatedNamedKey, NamedKey, NewNamedKey } from '../records/index.ts'
import { ACCOUNT_COLUMNS, type Account, type AccountRow, accountOf, limitedTo } from './accounts.ts'

interface Row extends Omit<NamedKey, 'readOnly' | 'repositories'>, Limits {}

/** What a key may do, as it is stored. */
interface Limits {
  readonly readOnly: 0 | 1
  readonly repositories: string | null
  readonly expiresAt: string | null
}

interface KeyRow extends AccountRow, Limits {
  readonly keyId: number
  readonly hash: Uint8Array
}

/** A key that is accepted, and what it reaches. */
export interface FoundKey {
  readonly account: Account
  /** 0 for the first key of the account. */
  readonly keyId: number
  readonly readOnly: boolean
  readonly expiresAt: string | null
  /** A text that tells the key from all others without revealing it. */
  readonly mark: string
}

const SELECT = `SELECT name, key_hint AS "keyHint", read_only AS "readOnly", expires_at AS "expiresAt",
  created_at AS "createdAt", repositories, last_used_at AS "lastUsedAt" FROM account_keys`

/** The first keys of accounts and the named ones, each with its account. */
const FOUND = `SELECT ${ACCOUNT_COLUMNS}, key_id AS "keyId", hash, read_only AS "readOnly", repositories,
    expires_at AS "expiresAt"
  FROM (
    SELECT id AS account_id, 0 AS key_id, key_hash AS hash, key_index AS beginning, 0 AS read_only,
      NULL AS repositories, NULL AS expires_at FROM accounts
    UNION ALL
    SELECT account_id, id, key_hash, key_index, read_only, repositories, expires_at FROM account_keys
  ) k JOIN accounts ON id = account_id`
const MOST = 100

/**
 * The keys of accounts. They are looked up for each request, so that one that was replaced or deleted stops working at
 * once. The first key of an account is made with it; the named ones are made and listed here.
 */
export class Keys {
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

  /** The key of an account with an id, 0 being its first; undefined if there is no such key or it has expired. */
  async get(accountId: number, keyId: number): Promise<FoundKey | undefined> {
    const sql = `${FOUND} WHERE account_id = ? AND key_id = ?`
    const row = await this.#database.get<KeyRow>(sql, accountId, keyId)
    return row && this.#unexpired(foundIn(row))
  }

  /** Whose key it is; undefined if it is nobody's or has expired. */
  async find(key: string): Promise<FoundKey | undefined> {
    if (key === '' || isMistyped(key)) return undefined
    const hash = hashKey(key)
    const known = await this.#database.cached(
      `key ${hash.toString('base64')}`,
      async () => {
        const rows = await this.#database.all<KeyRow>(`${FOUND} WHERE beginning = ?`, hash.subarray(0, 8))
        const row = rows.find((candidate) => sameHash(hash, candidate.hash))
        return row && foundIn(row)
      },
      { exact: true },
    )
    const found = known && this.#unexpired(known)
    if (found && found.keyId !== 0) this.#lastUse.note(found.keyId)
    return found
  }

  #unexpired(key: FoundKey): FoundKey | undefined {
    return key.expiresAt !== null && Date.parse(key.expiresAt) <= this.#now().getTime() ? undefined : key
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

function keyOf({ name, keyHint, expiresAt, createdAt, lastUsedAt, ...row }: Row): NamedKey {
  return { name, keyHint, ...limitsOf(row), expiresAt, createdAt, lastUsedAt }
}

function foundIn(row: KeyRow): FoundKey {
  const { keyId, expiresAt, hash } = row
  const { readOnly, repositories } = limitsOf(row)
  const mark = Buffer.from(hash).toString('hex')
  // Links are signed with it, and those that there are must stay valid.
  const signed = keyId === 0 ? mark.toUpperCase() : mark
  return { account: limitedTo(accountOf(row), repositories), keyId, readOnly, expiresAt, mark: signed }
}

function limitsOf({ readOnly, repositories }: Omit<Limits, 'expiresAt'>) {
  return {
    readOnly: readOnly === 1,
    repositories: repositories === null ? null : (JSON.parse(repositories) as number[]),
  }
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
