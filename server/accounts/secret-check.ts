import { hkdfSync } from 'node:crypto'
import type { Database, Handle } from '../../engine/index.ts'
import { ConfigError } from '../config/read.ts'
import { context } from './user-keys.ts'
import { Vault } from './vault.ts'

/** Given in place of the earlier secret, it gives up the saved provider keys. */
const LOST = 'lost'

interface Sealed {
  readonly accountId: number
  readonly provider: string
  readonly sealed: Uint8Array
}

/**
 * Compares the secret with the one that the catalog is used with; only a value derived from it is kept there. With the
 * earlier secret, it is changed: saved provider keys are encrypted anew.
 * @throws ConfigError if it is another one, with which saved keys and links of other nodes could not be read
 */
export async function checkSecret(database: Database, secret: string, previous?: string): Promise<void> {
  const mark = markOf(secret)
  const sql = "INSERT INTO secrets (name, value) VALUES ('check', ?) ON CONFLICT (name) DO NOTHING"
  const known = async (handle: Handle) =>
    (await handle.get<{ value: string }>("SELECT value FROM secrets WHERE name = 'check'"))?.value
  if ((await known(database)) === undefined) await database.run(sql, mark)
  if ((await known(database)) === mark) return
  await database.transaction(async (t) => {
    // Another node may have changed it meanwhile.
    const current = await known(t)
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
  const rows = await t.all<Sealed>('SELECT account_id AS "accountId", provider, sealed FROM provider_keys')
  for (const { accountId, provider, sealed } of rows) {
    const place = context(accountId, provider)
    const key = before.open(sealed, place)
    // It was unreadable before, and stays so.
    if (key === undefined) continue
    const sql = 'UPDATE provider_keys SET sealed = ? WHERE account_id = ? AND provider = ?'
    await t.run(sql, after.seal(key, place), accountId, provider)
  }
}

function markOf(secret: string): string {
  return Buffer.from(hkdfSync('sha256', secret, '', 'parquetry secret check', 32)).toString('base64url')
}
