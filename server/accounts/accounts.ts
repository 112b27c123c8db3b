import { type Database, EngineError, type Handle, isUniqueViolation } from '../../engine/index.ts'
import { generateKey, hashKey, isMistyped, keyHint, sameHash } from '../http/api-keys.ts'
import { ServerError } from '../http/errors.ts'
import { ACCOUNT_NAME } from '../records/accounts.ts'
import type { ManagedAccount } from '../records/index.ts'

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

const SELECT =
  'SELECT id, name, plan, admin, disabled, key_hint AS "apiKeyHint", created_at AS "createdAt" FROM accounts'
const BY_KEY = `${SELECT.replace(' FROM', ', key_hash AS hash FROM')} WHERE key_index = ?`
const INVITED_ARE_MEMBERS = `
  INSERT INTO repository_members SELECT repository_id, ?, permission FROM repository_invitations WHERE account = ?`

/** The accounts of the service. Keys are looked up for each request, so that a rotated key stops working at once. */
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
  async create(fields: { name: string; plan: string; admin?: boolean; key?: string }): Promise<{
    account: Account
    key: string
  }> {
    checkAccountName(fields.name)
    const key = fields.key ?? generateKey()
    if (isMistyped(key)) {
      throw new EngineError(
        'invalid_option',
        'The key (key; PARQUETRY_ROOT_KEY for the first account) looks like one that Parquetry has made, but its ' +
          'checksum does not match: it was mistyped or cut.',
      )
    }
    try {
      const id = await this.#database.transaction(async (t) => {
        const made = await insert(t, fields, key)
        await t.run(INVITED_ARE_MEMBERS, made, fields.name)
        await t.run('DELETE FROM repository_invitations WHERE account = ?', fields.name)
        return made
      })
      return { account: await this.get(id), key }
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      throw new ServerError('account_exists', `There is already an account named ${fields.name}.`)
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

  /** A text that changes when the account's key changes, but does not reveal the key. */
  async keyMark(id: number): Promise<string | undefined> {
    const sql = 'SELECT key_hash AS hash FROM accounts WHERE id = ?'
    const row = await this.#database.get<{ hash: Uint8Array }>(sql, id)
    return row && Buffer.from(row.hash).toString('hex').toUpperCase()
  }

  /** @throws ServerError `not_found` */
  async byName(name: string): Promise<Account> {
    const row = await this.#database.get<AccountRow>(`${SELECT} WHERE name = ?`, name)
    if (!row) throw new ServerError('not_found', `There is no account named ${JSON.stringify(name)}.`)
    return accountOf(row)
  }

  /** The account to which a key belongs; undefined if it is nobody's key. */
  async byKey(key: string): Promise<Account | undefined> {
    if (isMistyped(key)) return undefined
    const hash = hashKey(key)
    return this.#database.cached(
      `account of key ${hash.toString('base64')}`,
      async () => {
        const rows = await this.#database.all<AccountRow & { hash: Uint8Array }>(BY_KEY, hash.subarray(0, 8))
        const row = rows.find((candidate) => sameHash(hash, candidate.hash))
        return row && accountOf(row)
      },
      { exact: true },
    )
  }

  /** Gives an account a new key; the old one and its links stop working at once. */
  async rotateKey(id: number): Promise<{ account: Account; key: string }> {
    const key = generateKey()
    await this.#database.transaction(async (t) => {
      const sql = 'UPDATE accounts SET key_hash = ?, key_hint = ? WHERE id = ?'
      await t.run(sql, hashKey(key), keyHint(key), id)
      await t.run('DELETE FROM links WHERE account_id = ? AND key_id IS NULL', id)
    })
    return { account: await this.get(id), key }
  }

  async setDisabled(id: number, disabled: boolean): Promise<Account> {
    await this.#database.run('UPDATE accounts SET disabled = ? WHERE id = ?', disabled ? 1 : 0, id)
    return this.get(id)
  }

  async setPlan(id: number, plan: string): Promise<Account> {
    await this.#database.run('UPDATE accounts SET plan = ? WHERE id = ?', plan, id)
    return this.get(id)
  }
}

function insert(
  t: Handle,
  fields: { name: string; plan: string; admin?: boolean },
  key: string,
): Promise<number> {
  return t.insert(
    'INSERT INTO accounts (name, plan, admin, key_hash, key_hint, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    fields.name,
    fields.plan,
    fields.admin ? 1 : 0,
    hashKey(key),
    keyHint(key),
    new Date().toISOString(),
  )
}

interface AccountRow extends Omit<Account, 'admin' | 'disabled'> {
  readonly admin: 0 | 1
  readonly disabled: 0 | 1
}

function accountOf({ admin, disabled, ...row }: AccountRow): Account {
  const { id, name, plan, apiKeyHint, createdAt } = row
  return { id, name, plan, admin: admin === 1, disabled: disabled === 1, apiKeyHint, createdAt }
}

/** @throws ServerError `invalid_name` */
function checkAccountName(name: string): void {
  if (ACCOUNT_NAME.test(name)) return
  throw new ServerError(
    'invalid_name',
    'The name of an account has 1 to 64 letters, digits, dots, hyphens, underscores and @, and begins with a letter ' +
      'or a digit.',
  )
}
