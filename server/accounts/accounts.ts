import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { type Database, EngineError, type Handle, isUniqueViolation } from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'
import { ACCOUNT_NAME, EXPIRY } from '../records/accounts.ts'
import type {
  AccountChanges,
  CreatedNamedKey,
  ManagedAccount,
  NamedKey,
  NewNamedKey,
} from '../records/index.ts'

/** An account with all that admins see of it. */
export interface Account extends ManagedAccount {
  /** The only repositories that the key of the request reaches; without it, all that the account does. */
  readonly repositories?: readonly number[]
}

/** An account as a key that is limited to repositories shows it. Such a key is no admin's. */
export function limitedTo(account: Account, repositories: readonly number[] | null): Account {
  return repositories ? { ...account, admin: false, repositories } : account
}

/** Who sends a request without a key, where the configuration allows that. No account has this id. */
export const ANONYMOUS: Account = {
  id: 0,
  name: 'anonymous',
  plan: 'unlimited',
  admin: false,
  disabled: false,
  apiKeyHint: '',
  createdAt: '',
}

const ACCOUNT_COLUMNS = 'id, name, plan, admin, disabled, key_hint AS "apiKeyHint", created_at AS "createdAt"'
const SELECT = `SELECT ${ACCOUNT_COLUMNS} FROM accounts`
const INVITED_ARE_MEMBERS = `
  INSERT INTO repository_members SELECT repository_id, ?, permission FROM repository_invitations WHERE account = ?`

/** The accounts of the service. */
export class Accounts {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /**
   * Makes an account. Its key is given only here, because only a hash of it is kept. `key` sets a key that was chosen
   * by the caller.
   * @throws ServerError `account_exists`, `invalid_name`
   * @throws EngineError `invalid_option` if the key is mistyped
   */
  async create({
    name,
    plan,
    admin = false,
    key = generateKey(),
  }: {
    name: string
    plan: string
    admin?: boolean
    key?: string
  }): Promise<{ account: Account; key: string }> {
    checkName(name, 'an account', 'invalid_name')
    if (isMistyped(key)) {
      throw new EngineError(
        'invalid_option',
        'The key (key; PARQUETRY_ROOT_KEY for the first account) looks like one that Parquetry has made, but its ' +
          'checksum does not match: it was mistyped or cut.',
      )
    }
    try {
      const id = await this.#database.transaction(async (t) => {
        const made = await t.insert(
          'INSERT INTO accounts (name, plan, admin, key_hash, key_hint, created_at) VALUES (?, ?, ?, ?, ?, ?)',
          name,
          plan,
          Number(admin),
          hashKey(key),
          keyHint(key),
          new Date().toISOString(),
        )
        await t.run(INVITED_ARE_MEMBERS, made, name)
        await t.run('DELETE FROM repository_invitations WHERE account = ?', name)
        return made
      })
      return { account: await this.get(id), key }
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      throw new ServerError('account_exists', `There is already an account named ${name}.`)
    }
  }

  async list(): Promise<Account[]> {
    const rows = await this.#database.all<AccountRow>(`${SELECT} ORDER BY id`)
    return rows.map(accountOf)
  }

  /** @throws ServerError `not_found` */
  async get(id: number): Promise<Account> {
    const account = await this.find(id)
    if (!account) throw new ServerError('not_found', `There is no account ${id}.`)
    return account
  }

  /** The account with this id, or undefined. */
  async find(id: number): Promise<Account | undefined> {
    const row = await this.#database.get<AccountRow>(`${SELECT} WHERE id = ?`, id)
    return row && accountOf(row)
  }

  /** @throws ServerError `not_found` */
  async byName(name: string): Promise<Account> {
    const row = await this.#database.get<AccountRow>(`${SELECT} WHERE name = ?`, name)
    if (!row) throw new ServerError('not_found', `There is no account named ${JSON.stringify(name)}.`)
    return accountOf(row)
  }

  /** Gives an account a new key, which is returned; the old one and its links stop working at once. */
  async rotateKey(id: number): Promise<string> {
    const key = generateKey()
    await this.#database.transaction(async (t) => {
      const sql = 'UPDATE accounts SET key_hash = ?, key_hint = ? WHERE id = ?'
      await t.run(sql, hashKey(key), keyHint(key), id)
      await t.run('DELETE FROM links WHERE account_id = ? AND key_id IS NULL', id)
    })
    return key
  }

  /** Changes what is given. */
  async update(id: number, { plan, disabled }: AccountChanges): Promise<Account> {
    const sql = 'UPDATE accounts SET plan = coalesce(?, plan), disabled = coalesce(?, disabled) WHERE id = ?'
    await this.#database.run(sql, plan ?? null, disabled === undefined ? null : Number(disabled), id)
    return this.get(id)
  }
}

interface AccountRow extends Omit<ManagedAccount, 'admin' | 'disabled'> {
  readonly admin: 0 | 1
  readonly disabled: 0 | 1
}

function accountOf({ admin, disabled, ...row }: AccountRow): Account {
  const { id, name, plan, apiKeyHint, createdAt } = row
  return { id, name, plan, admin: admin === 1, disabled: disabled === 1, apiKeyHint, createdAt }
}

function checkName(name: string, of: 'an account' | 'a key', code: 'invalid_name' | 'invalid_body'): void {
  if (ACCOUNT_NAME.test(name)) return
  throw new ServerError(
    code,
    `The name of ${of} has 1 to 64 letters, digits, dots, hyphens, underscores and @, and begins with a letter or a digit.`,
  )
}

/** What a key may do, as it is stored. */
interface Limits {
  readonly readOnly: 0 | 1
  readonly repositories: string | null
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

interface FoundRow extends AccountRow, Limits {
  readonly keyId: number
  readonly hash: Uint8Array
  readonly expiresAt: string | null
}

const NAMED = `SELECT name, key_hint AS "keyHint", read_only AS "readOnly", repositories,
  expires_at AS "expiresAt", created_at AS "createdAt", last_used_at AS "lastUsedAt" FROM account_keys`

/** The first keys of accounts and the named ones, each with its account. */
const FOUND = `SELECT ${ACCOUNT_COLUMNS}, key_id AS "keyId", hash, read_only AS "readOnly", repositories,
    expires_at AS "expiresAt"
  FROM (
    SELECT id AS account_id, 0 AS key_id, key_hash AS hash, key_index AS beginning, 0 AS read_only,
      NULL AS repositories, NULL AS expires_at FROM accounts
    UNION ALL
    SELECT account_id, id, key_hash, key_index, read_only, repositories, expires_at FROM account_keys
  ) k JOIN accounts ON id = account_id`
const MOST_KEYS = 100

/**
 * The keys of accounts. They are looked up for each request, so that one that was replaced or deleted stops working at
 * once. The first key of an account is made with it; the named ones are made and listed here.
 */
export class Keys {
  readonly #database: Database
  readonly #now: () => Date
  readonly #noteUse: (id: number) => void

  constructor(database: Database, now = () => new Date()) {
    this.#database = database
    this.#now = now
    this.#noteUse = lastUse(database, 'account_keys', now)
  }

  /** @param keyId only this one */
  async list(accountId: number, keyId?: number, handle: Handle = this.#database): Promise<NamedKey[]> {
    const sql = `${NAMED} WHERE account_id = ? AND id = coalesce(CAST(? AS BIGINT), id) ORDER BY id`
    const rows = await handle.all<Omit<NamedKey, keyof Limits> & Limits>(sql, accountId, keyId ?? null)
    return rows.map((row) => ({ ...row, ...limitsOf(row) }))
  }

  /**
   * Makes a key. The key itself is given only here, because only a hash of it is kept.
   * @throws ServerError `invalid_body`, `key_exists`, `too_many_keys`
   */
  async create(accountId: number, fields: NewNamedKey): Promise<CreatedNamedKey> {
    checkName(fields.name, 'a key', 'invalid_body')
    const expiresAt = fields.expiresAt == null ? null : this.#laterTime(fields.expiresAt)
    const apiKey = generateKey()
    try {
      await this.#database.transaction(async (t) => {
        await t.lock('accounts', accountId)
        if ((await this.list(accountId, undefined, t)).length >= MOST_KEYS) {
          throw new ServerError(
            'too_many_keys',
            `An account has at most ${MOST_KEYS} named keys. Delete one first.`,
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
    const row = await this.#database.get<FoundRow>(sql, accountId, keyId)
    return row && this.#unexpired(foundIn(row))
  }

  /** Whose key it is; undefined if it is nobody's or has expired. */
  async find(key: string): Promise<FoundKey | undefined> {
    if (key === '' || isMistyped(key)) return undefined
    const hash = hashKey(key)
    const known = await this.#database.cached(
      `key ${hash.toString('base64')}`,
      async () => {
        const rows = await this.#database.all<FoundRow>(`${FOUND} WHERE beginning = ?`, hash.subarray(0, 8))
        const row = rows.find((candidate) => sameHash(hash, candidate.hash))
        return row && foundIn(row)
      },
      { exact: true },
    )
    const found = known && this.#unexpired(known)
    if (found && found.keyId !== 0) this.#noteUse(found.keyId)
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

function foundIn(row: FoundRow): FoundKey {
  const { keyId, expiresAt, hash } = row
  const { readOnly, repositories } = limitsOf(row)
  const mark = Buffer.from(hash).toString('hex')
  // Links are signed with it, and those that there are must stay valid.
  const signed = keyId === 0 ? mark.toUpperCase() : mark
  return { account: limitedTo(accountOf(row), repositories), keyId, readOnly, expiresAt, mark: signed }
}

function limitsOf({ readOnly, repositories }: Limits) {
  return {
    readOnly: readOnly === 1,
    repositories: repositories === null ? null : (JSON.parse(repositories) as number[]),
  }
}

/** How exactly the last use of a key or a link is known. */
const EXACT_MS = 60_000

/** Notes when rows of a table were last used, each once a minute. No request waits for it or fails because of it. */
export function lastUse(
  database: Database,
  table: 'links' | 'account_keys',
  now: () => Date,
): (id: number) => void {
  const sql = `UPDATE ${table} SET last_used_at = ? WHERE id = ?`
  const noted = new LRUCache<number, true>({ max: 4_096, ttl: EXACT_MS })
  return (id) => {
    if (noted.has(id)) return
    noted.set(id, true)
    const at = now().toISOString()
    database
      .unattended(() => database.transaction((t) => t.run(sql, at, id), { changes: [] }))
      // For example a full disk.
      .catch(() => undefined)
  }
}

const PREFIX = 'pq_'
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 32 characters of 62 are 190 bits. */
const RANDOM_LENGTH = 32
/** Six characters of 62 hold 35 bits, enough for a CRC-32. */
const CHECKSUM_LENGTH = 6
const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`)

/** A new API key: `pq_`, 190 random bits, and a checksum of both. */
export function generateKey(): string {
  let random = ''
  while (random.length < RANDOM_LENGTH) {
    for (const byte of randomBytes(RANDOM_LENGTH)) {
      // 248 is the largest multiple of 62 in a byte. Using larger values would make some characters more likely.
      if (byte < 248 && random.length < RANDOM_LENGTH) random += ALPHABET[byte % 62]
    }
  }
  return `${PREFIX}${random}${checksum(PREFIX + random)}`
}

/** Whether a key looks like a generated one but has a wrong checksum, so that it need not be looked up. */
export function isMistyped(key: string): boolean {
  return SHAPE.test(key) && checksum(key.slice(0, -CHECKSUM_LENGTH)) !== key.slice(-CHECKSUM_LENGTH)
}

/** The hash of a key, which is stored instead of it. Keys have so many random bits that one fast hash is enough. */
function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

/** Compares hashes in constant time, so that the time of an answer says nothing about the stored hash. */
export function sameHash(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}

/** The end of a key, by which its owner recognizes it. */
function keyHint(key: string): string {
  return `${key.startsWith(PREFIX) ? PREFIX : ''}…${key.slice(-4)}`
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let index = 0; index < CHECKSUM_LENGTH; index++) {
    digits = ALPHABET[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
