import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Database, Handle } from '../../catalog/database.ts'
import { PostgresDatabase } from '../../catalog/postgres/postgres.ts'
import { CATALOG_STEPS, migrate } from '../../catalog/schema.ts'
import { SqliteDatabase } from '../../catalog/sqlite.ts'
import { EngineError, invalidOption } from '../../errors.ts'
import { Events } from '../../events.ts'
import { type Layout, layoutOf } from '../layout.ts'
import { MOVED, movedNote } from '../lost.ts'
import { forgetDeadNodes } from '../membership/nodes.ts'
import type { ObjectStoreOptions } from '../objects/open.ts'
import { ownStore } from '../objects/owner.ts'
import { lockServer, openStorage } from '../storage.ts'
import { type CopySource, copyCatalog, requireEmpty, tablesOf } from './copy-catalog.ts'
import { type MoveReport, movePartsOf, moveRows } from './move.ts'

/** Each statement of the transaction sees the same moment. The SQLite file may be slow, and nobody waits for locks. */
const SNAPSHOT =
  'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 60000'

/** A cluster that everything is moved to or from. */
export interface ClusterPlace {
  readonly database: string
  readonly store: ObjectStoreOptions
}

export interface MoveAllOptions {
  readonly directory: string
  readonly cluster: ClusterPlace
  /** Makes the caller's own tables in a catalog; they are copied, too. */
  readonly prepare?: (database: Database) => Promise<void>
  readonly onProgress?: (done: { bytes: number; of: number }) => void
}

/**
 * Copies a data directory into a database and an object store, where any number of nodes can serve it: first the rows,
 * each part compared with its hash, then the catalog in one transaction. What is in the directory stays, but its catalog
 * is renamed at the end, because a second catalog on the same rows would remove them. If it is interrupted, the next call
 * continues. No other process may have the directory open.
 * @throws EngineError `locked` beside a server, `invalid_option` if the database holds a catalog already,
 * `catalog_unavailable`, `storage_damaged`, `storage_unavailable`, `storage_full`
 */
export async function moveIntoCluster({
  directory,
  cluster,
  prepare,
  onProgress,
}: MoveAllOptions): Promise<MoveReport> {
  const { layout, report } = await copyToShared()
  for (const ending of ['-wal', '-shm']) rmSync(layout.catalog + ending, { force: true })
  const { host, pathname } = new URL(cluster.database)
  writeFileSync(movedNote(layout), `postgres://${host}${pathname} and ${cluster.store.address}\n`)
  renameSync(layout.catalog, layout.catalog + MOVED)
  return report

  async function copyToShared(): Promise<{ layout: Layout; report: MoveReport }> {
    const { store } = cluster
    const options = { directory, role: 'server', store: { whereItIs: store }, events: new Events() } as const
    await using storage = await openStorage(options)
    await using shared = await PostgresDatabase.open(cluster.database)
    for (const database of [storage.database, shared]) {
      await migrate(database, 'catalog', CATALOG_STEPS)
      await prepare?.(database)
    }
    const isCopied = await isCopyOf(storage.database, shared)
    // Looked at before the rows are moved, too, so that a refusal leaves the directory as it was.
    if (!isCopied) await requireEmpty(shared, await tablesOf(storage.database))
    const report = await movePartsOf(storage, store, onProgress)
    if (!isCopied) await copyCatalog(storage.database, shared, storage.database)
    return { layout: storage.layout, report }
  }
}

/**
 * Copies what a database and an object store hold into a data directory: the catalog at once, then the rows, each part
 * compared with its hash. The originals stay. If it is interrupted, the next call begins with the catalog anew and keeps
 * the parts that are there.
 * @throws EngineError `locked` while nodes run, `invalid_option` if the directory holds a catalog already,
 * `catalog_unavailable`, `storage_damaged`, `storage_unavailable`, `storage_full`
 */
export async function moveIntoDirectory({
  directory,
  cluster,
  prepare,
  onProgress,
}: MoveAllOptions): Promise<MoveReport> {
  const layout = layoutOf(directory)
  const lock = lockServer(layout, 'nothing can be moved into it')
  try {
    await removeHalfMoved(layout)
    await using shared = await PostgresDatabase.open(cluster.database)
    await migrate(shared, 'catalog', CATALOG_STEPS)
    await prepare?.(shared)
    await refuseNodes(shared)
    await copyShared(shared, layout.catalog, prepare)
  } finally {
    lock.release()
  }
  return moveRows(directory, { target: undefined, from: cluster.store }, onProgress)
}

/**
 * Copies a catalog that nodes share, as it is at one moment, into an SQLite file that has no tables yet.
 * @throws EngineError `catalog_unavailable`, `storage_full`
 */
export async function copyShared(
  shared: Database,
  file: string,
  prepare: MoveAllOptions['prepare'],
): Promise<void> {
  await using own = new SqliteDatabase(file)
  await migrate(own, 'catalog', CATALOG_STEPS)
  await prepare?.(own)
  const copy = async (t: Handle) => {
    await t.exec(SNAPSHOT)
    const from = {
      all: t.all.bind(t),
      get: t.get.bind(t),
      newestId: shared.newestId.bind(shared),
    } as CopySource
    await copyCatalog(from, own, own)
  }
  await shared.transaction(copy, { changes: [] })
}

/**
 * Whether an earlier call has copied the catalog, and was interrupted before the renaming. Both then name the same store
 * of objects with the same mark, which no other catalog has. It was copied in one transaction, so it is whole.
 */
async function isCopyOf(own: Database, shared: Database): Promise<boolean> {
  const [here, there] = [await ownStore(own), await ownStore(shared)]
  return here !== undefined && here.name === there?.name && here.mark === there.mark
}

async function refuseNodes(shared: Database): Promise<void> {
  await forgetDeadNodes(shared)
  const nodes = await shared.all<{ name: string }>('SELECT name FROM nodes ORDER BY name')
  if (nodes.length === 0) return
  const names = nodes.map(({ name }) => name).join(', ')
  throw new EngineError(
    'locked',
    `Nodes run on this database (${names}). Stop them first; one that was killed counts for 45 seconds.`,
  )
}

/** Removes a catalog whose rows have not been moved into the directory yet. @throws EngineError `invalid_option` */
async function removeHalfMoved({ directory, catalog }: Layout): Promise<void> {
  if (!existsSync(catalog)) return
  const database = new SqliteDatabase(catalog)
  const isHalf =
    !(await database.hasTable('part_store')) ||
    (await ownStore(database)) !== undefined ||
    (await database.newestId('repositories')) === 0
  await database.close()
  if (!isHalf) {
    throw invalidOption(`${directory} holds a catalog already. Name an empty data directory.`)
  }
  for (const ending of ['', '-wal', '-shm']) rmSync(catalog + ending, { force: true })
}
