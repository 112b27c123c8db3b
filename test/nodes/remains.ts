import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Engine, openEngine } from '../../engine/index.ts'
import type { Cluster } from './cluster.ts'

const LONG_AGO_MS = 1_000_000
const ROUNDS = 3

/**
 * Resolves when the database has done what was under way when this was called: a node that was killed may have sent a
 * commit that is still being made.
 */
export async function untilDone({ postgres }: Cluster): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  try {
    const { rows } = await client.query('SELECT clock_timestamp() AS now')
    const open = `SELECT 1 FROM pg_stat_activity WHERE datname IS NOT NULL AND pid <> pg_backend_pid() AND xact_start < $1`
    while ((await client.query(open, [rows[0].now])).rows.length > 0) await sleep(20)
  } finally {
    await client.end()
  }
}

/**
 * What there is that nothing needs after all nodes have ended, some by kills, and gc has run as it does after a while:
 * rows of the catalog, objects in the store, damaged parts. Each in a sentence.
 */
export async function remains(cluster: Cluster): Promise<string[]> {
  const { postgres, store, folder } = cluster
  await using engine = await openEngine({
    directory: join(folder, 'afterwards'),
    role: 'server',
    threads: 1,
    workers: 1,
    // Past versions are kept on purpose.
    keep: { versions: 1 },
    database: postgres.url,
    store: { address: store.address('rows'), endpoint: store.endpoint, cacheBytes: 100_000_000 },
  })
  // It takes over the merges of dead nodes, which may end while it collects; the next round finds what they leave.
  for (let round = 0; round < ROUNDS; round++) {
    await engine.settled()
    await collect(engine)
  }
  const found = (await engine.verify()).problems.map((problem) => `verify finds ${JSON.stringify(problem)}`)
  const nothing: Readonly<Record<string, string>> = {
    'a version that no dataset shows':
      'SELECT * FROM versions WHERE id NOT IN (SELECT version_id FROM datasets)',
    'a part of no version':
      'SELECT * FROM parts WHERE id NOT IN (SELECT part_id FROM version_parts) OR process IS NOT NULL',
    'a place in the list of parts of no version': `SELECT * FROM part_ranges r WHERE NOT EXISTS (SELECT 1 FROM versions v
       WHERE v.dataset_id = r.dataset_id AND v.id >= r.since AND v.id < r.until)`,
    'a lease of a node that is no more': 'SELECT * FROM leases WHERE process NOT IN (SELECT id FROM nodes)',
    'a job that somebody is at': 'SELECT * FROM jobs WHERE taken_by IS NOT NULL',
  }
  for (const [what, sql] of Object.entries(nothing)) {
    for (const row of await engine.database.all(sql)) found.push(`${what}: ${JSON.stringify(row)}`)
  }
  const rows = await engine.database.all<{ id: number; hash: string }>('SELECT id, hash FROM parts')
  const named = new Set(rows.map(({ id, hash }) => `${id}-${hash.split(':')[1]!.slice(0, 22)}.parquet`))
  const files = readdirSync(join(store.folder, 'data', store.bucket, 'rows', 'parts'))
  // A file of the S3 server's own, which it leaves if it is killed during an upload, and doesn't list as an object.
  const stored = files.filter((name) => !name.startsWith('.rclone_temp_put_'))
  for (const name of stored) if (!named.delete(name)) found.push(`an object of no part: ${name}`)
  for (const name of named) found.push(`a part without an object: ${name}`)
  return found
}

/** Removes what is no longer needed, as if a while had passed. */
async function collect(engine: Engine): Promise<void> {
  const { database } = engine
  const [own] = await database.all<{ id: string }>('SELECT id FROM nodes ORDER BY seen DESC LIMIT 1')
  await database.run('UPDATE nodes SET seen = seen - ? WHERE id <> ?', LONG_AGO_MS, own!.id)
  // The first finds what is no longer shown, the second removes it.
  await engine.gc()
  await database.run('UPDATE versions SET retired_at = retired_at - ?', LONG_AGO_MS)
  await engine.gc()
}
