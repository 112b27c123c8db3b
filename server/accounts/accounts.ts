import { type Database, EngineError, isUniqueViolation } from '../../engine/index.ts'
import { generateKey, hashKey, isMistyped, keyHint } from '../http/api-keys.ts'
import { ServerError } from '../http/errors.ts'
import { ACCOUNT_NAME } from '../records/accounts.ts'
import type { AccountChanges, ManagedAccount } from '../records/index.ts'

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

/** What is read of a row of `accounts`. */
export const ACCOUNT_COLUMNS =
  'id, name, plan, admin, disabled, key_hint AS "apiKeyHint", created_at AS "createdAt"'
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
    checkAccountName(name)
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

export interface AccountRow extends Omit<ManagedAccount, 'admin' | 'disabled'> {
  readonly admin: 0 | 1
  readonly disabled: 0 | 1
}

export function accountOf({ admin, disabled, ...row }: AccountRow): Account {
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
