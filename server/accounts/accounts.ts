import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { ServerError } from '../http/errors.ts'
import { generateKey, hashKey, isMistyped, keyHint, sameHash } from './keys.ts'

export interface Account {
  readonly id: number
  readonly name: string
  readonly plan: string
  /** May do everything, everywhere. */
  readonly admin: boolean
  readonly apiKeyHint: string
  readonly createdAt: string
}

const SELECT = 'SELECT id, name, plan, admin, key_hint AS apiKeyHint, created_at AS createdAt FROM accounts'
const NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/

/** Who may use the service. A key is looked up anew with each request, so a rotated one is dead at once. */
export class Accounts {
  readonly #database: DatabaseSync
  readonly #byKey: StatementSync

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#byKey = database.prepare(
      `${SELECT.replace(' FROM', ', key_hash AS hash FROM')} WHERE key_index = ?`,
    )
  }

  /**
   * Makes an account; the key is given here, once, and kept as a hash alone. `key` sets one that was chosen elsewhere.
   * @throws ServerError `account_exists`, `invalid_name`
   */
  create(fields: { name: string; plan: string; admin?: boolean; key?: string }): {
    account: Account
    key: string
  } {
    if (!NAME.test(fields.name)) {
      throw new ServerError(
        'invalid_name',
        'The name of an account has 1 to 64 letters, digits, dots, hyphens, underscores and @, and begins with a letter or a digit.',
      )
    }
    const key = fields.key ?? generateKey()
    if (isMistyped(key)) {
      throw new ServerError(
        'invalid_name',
        'The key looks like one of ours, but its checksum does not match.',
      )
    }
    try {
      const { lastInsertRowid } = this.#database
        .prepare(
          'INSERT INTO accounts (name, plan, admin, key_hash, key_hint, created_at) VALUES (?, ?, ?, ?, ?, ?)',
        )
        .run(
          fields.name,
          fields.plan,
          fields.admin ? 1 : 0,
          hashKey(key),
          keyHint(key),
          new Date().toISOString(),
        )
      return { account: this.get(Number(lastInsertRowid)), key }
    } catch (error) {
      if (!/UNIQUE/.test((error as Error).message)) throw error
      throw new ServerError('account_exists', `There is an account named ${fields.name} already.`)
    }
  }

  list(): Account[] {
    return this.#database.prepare(`${SELECT} ORDER BY id`).all().map(accountOf)
  }

  /** @throws ServerError `not_found` */
  get(id: number): Account {
    const row = this.#database.prepare(`${SELECT} WHERE id = ?`).get(id)
    if (!row) throw new ServerError('not_found', `There is no account ${id}.`)
    return accountOf(row)
  }

  /** @throws ServerError `not_found` */
  byName(name: string): Account {
    const row = this.#database.prepare(`${SELECT} WHERE name = ?`).get(name)
    if (!row) throw new ServerError('not_found', `There is no account named ${JSON.stringify(name)}.`)
    return accountOf(row)
  }

  /** The account that a key belongs to; undefined for every other text. */
  byKey(key: string): Account | undefined {
    if (isMistyped(key)) return undefined
    const hash = hashKey(key)
    const rows = this.#byKey.all(hash.subarray(0, 8))
    const row = rows.find((candidate) => sameHash(hash, candidate['hash'] as Uint8Array))
    return row && accountOf(row)
  }

  /** Gives an account a new key; the old one is dead from here on. */
  rotateKey(id: number): { account: Account; key: string } {
    const key = generateKey()
    this.#database
      .prepare('UPDATE accounts SET key_hash = ?, key_hint = ? WHERE id = ?')
      .run(hashKey(key), keyHint(key), id)
    return { account: this.get(id), key }
  }

  setPlan(id: number, plan: string): Account {
    this.#database.prepare('UPDATE accounts SET plan = ? WHERE id = ?').run(plan, id)
    return this.get(id)
  }
}

function accountOf(row: Record<string, unknown>): Account {
  return {
    id: row['id'] as number,
    name: row['name'] as string,
    plan: row['plan'] as string,
    admin: row['admin'] === 1,
    apiKeyHint: row['apiKeyHint'] as string,
    createdAt: row['createdAt'] as string,
  }
}
