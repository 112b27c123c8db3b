import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from '../../engine/index.ts'
import { ConfigError } from '../config/read.ts'

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
  const kept = () => database.get<{ value: string }>("SELECT value FROM secrets WHERE name = 'server'")
  if (!(await kept())) {
    // If another node does this at the same moment, its secret stays.
    await database.run(
      "INSERT INTO secrets (name, value) VALUES ('server', ?) ON CONFLICT (name) DO NOTHING",
      newSecret(),
    )
  }
  return (await kept())!.value
}

function newSecret(): string {
  return randomBytes(32).toString('base64url')
}
