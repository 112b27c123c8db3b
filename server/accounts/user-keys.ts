import type { Database } from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'
import type { UserKey } from '../records/index.ts'
import type { Account } from './accounts.ts'
import { context, type Vault } from './vault.ts'

const SELECT = 'SELECT provider, hint AS "keyHint", updated_at AS "updatedAt" FROM provider_keys'

/** A saved key; its text is undefined if it can't be decrypted any more. */
interface SavedKey {
  readonly text: string | undefined
}

/** The provider keys that accounts have saved, encrypted. `provider` is a slug in lower case. */
export class UserKeys {
  readonly #database: Database
  readonly #vault: Vault

  constructor(database: Database, vault: Vault) {
    this.#database = database
    this.#vault = vault
  }

  async list(account: Account): Promise<UserKey[]> {
    const sql = `${SELECT} WHERE account_id = ? ORDER BY provider`
    const rows = await this.#database.all<UserKey>(sql, account.id)
    return rows.map((row) => ({ ...row }))
  }

  /** What is saved; undefined if there is nothing. */
  async find(account: Account, provider: string): Promise<SavedKey | undefined> {
    const row = await this.#row(account, provider)
    return row && { text: this.#vault.open(row.sealed, context(account.id, provider)) }
  }

  /** The key itself, for a request to the provider. @throws ServerError `user_key_unreadable` */
  async reveal(account: Account, provider: string): Promise<string | undefined> {
    const saved = await this.find(account, provider)
    if (!saved || saved.text !== undefined) return saved?.text
    throw new ServerError(
      'user_key_unreadable',
      `Your saved key for ${provider} can't be read any more. Save it again with PUT /user-keys/${provider}.`,
    )
  }

  /**
   * Saves a key after `check` has passed. If several processes change it at the same time, one of them succeeds.
   * @throws ServerError `user_key_conflict` if the saved key has changed since the call
   */
  async save(account: Account, provider: string, key: string, check: () => Promise<void>): Promise<UserKey> {
    const before = await this.#row(account, provider)
    await check()
    const updatedAt = new Date().toISOString()
    const values = [this.#vault.seal(key, context(account.id, provider)), hint(key), updatedAt]
    // A key is never sealed twice into the same bytes, so they tell whether it is still the one that was read.
    const changes = before
      ? await this.#database.run(
          `UPDATE provider_keys SET sealed = ?, hint = ?, updated_at = ?
           WHERE account_id = ? AND provider = ? AND sealed = ?`,
          ...values,
          account.id,
          provider,
          before.sealed,
        )
      : await this.#database.run(
          'INSERT INTO provider_keys VALUES (?, ?, ?, ?, ?) ON CONFLICT (account_id, provider) DO NOTHING',
          account.id,
          provider,
          ...values,
        )
    if (changes === 0) {
      throw new ServerError(
        'user_key_conflict',
        `Your key for ${provider} was changed by another request at the same time. Check it and try again.`,
      )
    }
    return { provider, keyHint: hint(key), updatedAt }
  }

  /** @throws ServerError `not_found` */
  async delete(account: Account, provider: string): Promise<void> {
    const sql = 'DELETE FROM provider_keys WHERE account_id = ? AND provider = ?'
    const changes = await this.#database.run(sql, account.id, provider)
    if (changes === 0) throw new ServerError('not_found', `You have saved no key for ${provider}.`)
  }

  #row(account: Account, provider: string) {
    const sql = 'SELECT sealed FROM provider_keys WHERE account_id = ? AND provider = ?'
    return this.#database.get<{ sealed: Uint8Array }>(sql, account.id, provider)
  }
}

/** The last four characters; of a short key none, because they would be a good part of it. */
function hint(key: string): string {
  return key.length >= 12 ? `…${key.slice(-4)}` : '…'
}
