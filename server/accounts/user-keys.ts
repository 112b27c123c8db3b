import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Database, Handle } from '../../engine/index.ts'
import { ConfigError } from '../config/read.ts'
import { ServerError } from '../http/errors.ts'
import type { UserKey } from '../records/index.ts'
import type { Account } from './accounts.ts'

const SELECT = 'SELECT provider, hint AS "keyHint", updated_at AS "updatedAt" FROM provider_keys'

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

  /** The saved key, whose text is undefined if it can't be decrypted any more; undefined if there is none. */
  async find(account: Account, provider: string): Promise<{ text: string | undefined } | undefined> {
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

const NONCE_BYTES = 12
const TAG_BYTES = 16
const SHORTEST_SECRET = 16

/** Encrypts small secrets with AES-256-GCM under a key derived from the server's secret (HKDF, SHA-256). */
export class Vault {
  readonly #key: Buffer

  constructor(secret: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'parquetry provider keys', 32))
  }

  /** Gives nonce, tag and ciphertext. `context` names the text's place; it can only be opened with the same context. */
  seal(text: string, context: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(context))
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
  }

  /** Decrypts; undefined if it was sealed with another secret or context, or has been changed since. */
  open(sealed: Uint8Array, context: string): string | undefined {
    const nonce = sealed.subarray(0, NONCE_BYTES)
    const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(context))
        .setAuthTag(tag)
      return (
        decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      )
    } catch {
      return undefined
    }
  }
}

/** The secret in a data directory, made at the first call. Only the user who runs the server can read the file. */
export function secretIn(directory: string): string {
  const file = join(directory, 'secret')
  mkdirSync(directory, { recursive: true })
  try {
    // Fails if the file exists, so that two processes that start at once use the same secret.
    writeFileSync(file, newSecret(), { flag: 'wx', mode: 0o600, flush: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const secret = readFileSync(file, 'utf8')
  if (secret.length < SHORTEST_SECRET) {
    throw new ConfigError(
      `${file} is damaged. Restore it from a backup. If you remove it instead, saved provider keys are lost.`,
    )
  }
  return secret
}

/** The secret of the nodes that share a database, made at the first call and kept there. */
export async function secretAmong(database: Database): Promise<string> {
  return stored(database, 'server', newSecret())
}

/** The text that is kept under a name. If there is none, it is the given one, unless another node is faster. */
async function stored(database: Database, name: 'server' | 'check', text: string): Promise<string> {
  const sql = 'INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING'
  const known = await readSecret(database, name)
  if (known !== undefined) return known
  await database.run(sql, name, text)
  return (await readSecret(database, name))!
}

async function readSecret(handle: Handle, name: string): Promise<string | undefined> {
  return (await handle.get<{ value: string }>('SELECT value FROM secrets WHERE name = ?', name))?.value
}

function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** The place of a saved key. A sealed key can't be read in another one. */
function context(accountId: number, provider: string): string {
  return `${accountId} ${provider}`
}

/** Given in place of the earlier secret, it gives up the saved provider keys. */
const LOST = 'lost'

/**
 * Compares the secret with the one that the catalog is used with; only a value derived from it is kept there. With the
 * earlier secret, it is changed: saved provider keys are encrypted anew.
 * @throws ConfigError if it is another one, with which saved keys and links of other nodes could not be read
 */
export async function checkSecret(database: Database, secret: string, previous?: string): Promise<void> {
  const mark = markOf(secret)
  if ((await stored(database, 'check', mark)) === mark) return
  await database.transaction(async (t) => {
    // Another node may have changed it meanwhile.
    const current = await readSecret(t, 'check')
    if (current === mark) return
    if (previous === undefined || (previous !== LOST && markOf(previous) !== current)) {
      throw new ConfigError(
        `${previous === undefined ? 'PARQUETRY_SECRET' : 'PARQUETRY_PREVIOUS_SECRET'} is not the secret with which ` +
          'this catalog is used. Give all nodes the same. To change it, stop all nodes and start one with the new ' +
          'PARQUETRY_SECRET and the earlier one in PARQUETRY_PREVIOUS_SECRET; if that is lost, "lost" there removes ' +
          'the provider keys that users have saved.',
      )
    }
    if (previous === LOST) await t.run('DELETE FROM provider_keys')
    else await sealAnew(t, new Vault(previous), new Vault(secret))
    await t.run("UPDATE secrets SET value = ? WHERE name = 'check'", mark)
  })
}

async function sealAnew(t: Handle, before: Vault, after: Vault): Promise<void> {
  const sql = 'SELECT account_id AS "accountId", provider, sealed FROM provider_keys'
  const rows = await t.all<{ accountId: number; provider: string; sealed: Uint8Array }>(sql)
  for (const { accountId, provider, sealed } of rows) {
    const associated = context(accountId, provider)
    const key = before.open(sealed, associated)
    // It was unreadable before, and stays so.
    if (key === undefined) continue
    const sql = 'UPDATE provider_keys SET sealed = ? WHERE account_id = ? AND provider = ?'
    await t.run(sql, after.seal(key, associated), accountId, provider)
  }
}

function markOf(secret: string): string {
  return Buffer.from(hkdfSync('sha256', secret, '', 'parquetry secret check', 32)).toString('base64url')
}
