import { createWriteStream, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Database, Handle, SqlValue } from '../catalog/database.ts'
import { PostgresDatabase } from '../catalog/postgres/postgres.ts'
import type { PartBytes } from '../catalog/records.ts'
import { CATALOG_STEPS, migrate } from '../catalog/schema.ts'
import { SqliteDatabase } from '../catalog/sqlite.ts'
import type { ObjectStoreOptions } from '../engine-options.ts'
import { EngineError, invalidOption } from '../errors.ts'
import { Events } from '../events.ts'
import { BlockSums, hashFile } from './integrity/hashes.ts'
import { type Layout, layoutOf, MOVED, movedNote } from './layout.ts'
import { forgetDeadNodes } from './membership/nodes.ts'
import { parseS3Address } from './objects/address.ts'
import { FolderParts } from './objects/folder.ts'
import { claimTarget, ownStore, settleIn } from './objects/owner.ts'
import { DamagedPart, type PartStore } from './objects/part-store.ts'
import { S3Store } from './objects/s3.ts'
import { lockServer, openStorage, remoteParts, type Storage, type WhereItIs } from './storage.ts'

export interface MoveOptions {
  /** A store of objects, or undefined for the data directory. */
  readonly target: ObjectStoreOptions | undefined
  /** How to reach the store of objects that holds the rows now, if one does. */
  readonly from: WhereItIs['whereItIs']
}

export interface MoveReport {
  readonly from: string
  readonly to: string
  readonly parts: number
  readonly bytes: number
  /** The number of parts that had to be copied, because no earlier try had copied them. */
  readonly copied: number
}

/**
 * Copies the rows of a data directory into an object store, or back, and uses the copies once all of them are there and
 * were checked; the old files stay where they are. If it is interrupted, the next call continues. No other process may
 * have the directory open.
 * @throws EngineError `locked` beside a server, `invalid_option`, `storage_damaged`, `storage_unavailable`,
 * `storage_full`
 */
export async function moveRows(
  directory: string,
  { target, from }: MoveOptions,
  onProgress?: (done: { bytes: number; of: number }) => void,
): Promise<MoveReport> {
  const options = { directory, role: 'server', store: { whereItIs: from }, events: new Events() } as const
  await using storage = await openStorage(options)
  const report = await movePartsOf(storage, target, onProgress)
  if (report.from !== report.to) return report
  throw invalidOption(`The rows are already in ${report.to}.`)
}

/** The same in a directory that is open. Does nothing if the rows are there already. */
async function movePartsOf(
  storage: Storage,
  target: ObjectStoreOptions | undefined,
  onProgress?: (done: { bytes: number; of: number }) => void,
): Promise<MoveReport> {
  const { database, files } = storage
  const to = await openTarget(storage, target)
  try {
    const parts = await movable(database)
    const local = `SELECT 1 FROM parts WHERE attached NOT LIKE '{"folder":"s3://%' LIMIT 1`
    if (await database.get(local))
      throw invalidOption(
        'Files of this machine are attached, which can only be read where rows are kept in a data directory. Delete the datasets that have them, and their past versions, first.',
      )
    const of = parts.reduce((sum, { bytes }) => sum + bytes, 0)
    const done = { parts: parts.length, bytes: 0, copied: 0 }
    const places = { from: files.name, to: to.name }
    if (to.name === files.name) return { ...done, bytes: of, ...places }
    for (const part of parts) {
      if (await copy(files, to, part, database)) done.copied += 1
      done.bytes += part.bytes
      onProgress?.({ bytes: done.bytes, of })
    }
    await database.transaction((t) => settleIn(t, target ? 'target' : 'directory'))
    return { ...done, ...places }
  } finally {
    await to.close()
  }
}

async function openTarget(storage: Storage, target: ObjectStoreOptions | undefined): Promise<PartStore> {
  const { layout, database, mark } = storage
  if (!target) return new FolderParts(layout.parts)
  const objects = new S3Store(parseS3Address(target.address, target))
  try {
    if (objects.name !== storage.files.name) await claimTarget(database, objects)
    return remoteParts(layout, mark.temporary, objects, target)
  } catch (error) {
    objects.close()
    throw error
  }
}

/** The committed parts. Others belong to processes that have ended, and the next sweep removes them. */
function movable(database: Database): Promise<PartBytes[]> {
  return database.all(
    'SELECT id, bytes, hash FROM parts WHERE process IS NULL AND given_up_at IS NULL AND attached IS NULL ORDER BY id',
  )
}

/** Copies a part unless it is there already; gives whether it was copied. */
async function copy(from: PartStore, to: PartStore, part: PartBytes, database: Database): Promise<boolean> {
  const note = (column: 'hash' | 'block_sums', value: string) =>
    database.run(`UPDATE parts SET ${column} = ? WHERE id = ?`, value, part.id)
  const hash = part.hash ?? (await from.hash(part))
  const known = { ...part, hash }
  // Parts of an older program have no hash, but the names in a store of objects need one.
  if (part.hash === null) await note('hash', hash)
  if (await isThere(to, known)) return false
  const target = to.target(part.id)
  await pipeline(from.read(known, 0, part.bytes), createWriteStream(target, { mode: 0o600 }))
  const blocks = to.objects && new BlockSums()
  if ((await hashFile(target, { blocks })) !== hash) {
    await to.giveUp(part.id)
    throw new EngineError(
      'storage_damaged',
      `Part ${part.id} differs from what was written, so the rows stay where they are; parquetry verify lists what is damaged.`,
    )
  }
  if (blocks) await note('block_sums', blocks.text())
  await to.keep(known)
  return true
}

/** In a store of objects, names contain the hash, so name and size are enough. In a folder, the content is hashed. */
async function isThere(to: PartStore, part: PartBytes): Promise<boolean> {
  if ((await to.size(part)) !== part.bytes) return false
  if (to.objects) return true
  try {
    return (await to.hash(part)) === part.hash
  } catch (error) {
    if (error instanceof DamagedPart) return false
    throw error
  }
}

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
  {
    using _ = lockServer(layout, 'nothing can be moved into it')
    await removeHalfMoved(layout)
    await using shared = await PostgresDatabase.open(cluster.database)
    await migrate(shared, 'catalog', CATALOG_STEPS)
    await prepare?.(shared)
    await refuseNodes(shared)
    await copyShared(shared, layout.catalog, prepare)
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
  const [expected, found] = [await from.get<{ n: number }>(count), await t.get<{ n: number }>(count)]
  if (expected!.n !== found!.n) throw new Error(`${name}: ${found!.n} of ${expected!.n} rows were copied`)
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
