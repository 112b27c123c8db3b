import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Database, Handle, SqlValue } from '../../catalog/database.ts'
import { PostgresDatabase } from '../../catalog/postgres/postgres.ts'
import { CATALOG_STEPS, migrate } from '../../catalog/schema.ts'
import { SqliteDatabase } from '../../catalog/sqlite.ts'
import { EngineError, invalidOption } from '../../errors.ts'
import { Events } from '../../events.ts'
import { type Layout, layoutOf, MOVED, movedNote } from '../layout.ts'
import { forgetDeadNodes } from '../membership/nodes.ts'
import type { ObjectStoreOptions } from '../objects/open.ts'
import { ownStore } from '../objects/owner.ts'
import { lockServer, openStorage } from '../storage.ts'
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

/** How many rows one statement inserts. */
const ROWS = 100
/**
 * Tables about processes that are running, what they count and what they remember, and about migrations, which the target
 * has by itself.
 */
const NOT_COPIED = [
  'migrations',
  'nodes',
  'jobs',
  'leases',
  'request_rates',
  'provider_answers',
  'idempotency_keys',
]

interface Table {
  readonly name: string
  readonly columns: readonly string[]
  readonly key: readonly string[]
  /** Whether it gives ids that must never be given again. */
  readonly hasIds: boolean
}

/** Where rows are read: a catalog that nobody writes to meanwhile, or a transaction that sees one moment. */
type CopySource = Pick<Database, 'all' | 'get' | 'newestId'>

/**
 * Copies all rows of a catalog into another one that has the same tables, all or nothing.
 * @param sqlite the one of the two that is in SQLite; the tables are taken from its schema
 * @throws EngineError `invalid_option` if the target holds something already
 */
async function copyCatalog(from: CopySource, to: Database, sqlite: Database): Promise<void> {
  const tables = await tablesOf(sqlite)
  await to.transaction(async (t) => {
    await t.lockName('migrations')
    await requireEmpty(t, tables)
    for (const table of tables) {
      await copyTable(from, t, table)
      if (table.hasIds) await setNewestId(to, t, table.name, await from.newestId(table.name))
    }
  })
}

/**
 * Refuses a catalog that holds anything.
 * @throws EngineError `invalid_option`
 */
async function requireEmpty(target: Handle, tables: readonly { name: string }[]): Promise<void> {
  for (const { name } of tables) {
    if (!(await target.get(`SELECT 1 FROM ${name} LIMIT 1`))) continue
    throw invalidOption(
      'The target holds a catalog already. Name an empty database, or an empty data directory.',
    )
  }
}

async function copyTable(from: CopySource, t: Handle, { name, columns, key }: Table): Promise<void> {
  const order = key.join(', ')
  for (let last: SqlValue[] = []; ; ) {
    const after = last.length > 0 ? `WHERE (${order}) > (${key.map(() => '?').join(', ')})` : ''
    const rows = await from.all<Record<string, SqlValue>>(
      `SELECT ${columns.join(', ')} FROM ${name} ${after} ORDER BY ${order} LIMIT ${ROWS}`,
      ...last,
    )
    if (rows.length === 0) break
    last = key.map((column) => rows.at(-1)![column]!)
    const values = rows.flatMap((row) => columns.map((column) => row[column]!))
    const places = `(${columns.map(() => '?').join(', ')})`
    const all = rows.map(() => places).join(', ')
    await t.run(`INSERT INTO ${name} (${columns.join(', ')}) VALUES ${all}`, ...values)
    if (rows.length < ROWS) break
  }
  const count = `SELECT count(*) AS n FROM ${name}`
  const [wanted, found] = [await from.get<{ n: number }>(count), await t.get<{ n: number }>(count)]
  if (wanted!.n !== found!.n) throw new Error(`${name}: ${found!.n} of ${wanted!.n} rows were copied`)
}

async function setNewestId({ isShared }: Database, t: Handle, table: string, id: number): Promise<void> {
  if (id === 0) return
  if (isShared) {
    await t.get(`SELECT setval('${table}_id_seq', ?)`, id)
    return
  }
  await t.run('DELETE FROM sqlite_sequence WHERE name = ?', table)
  await t.run('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', table, id)
}

/**
 * The tables to be copied, with what they refer to before them, and those of their columns that are not calculated. The
 * steps that build them make a table after those that it refers to, because PostgreSQL demands it.
 */
async function tablesOf(sqlite: Database): Promise<Table[]> {
  const found = await sqlite.all<{ name: string; sql: string }>(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
  )
  const tables: Table[] = []
  for (const { name, sql } of found.filter((one) => !NOT_COPIED.includes(one.name))) {
    const all = await sqlite.all<{ name: string; pk: number; hidden: number }>(
      'SELECT name, pk, hidden FROM pragma_table_xinfo(?)',
      name,
    )
    tables.push({
      name,
      columns: all.filter(({ hidden }) => hidden === 0).map((column) => column.name),
      key: all.filter(({ pk }) => pk > 0).map((column) => column.name),
      hasIds: sql.includes('AUTOINCREMENT'),
    })
  }
  return tables
}
