import { statfsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { Database } from '../catalog/database.ts'
import { PostgresDatabase } from '../catalog/postgres/postgres.ts'
import { CATALOG_STEPS, migrate } from '../catalog/schema.ts'
import { SqliteDatabase } from '../catalog/sqlite.ts'
import type { EngineOptions, ObjectStoreOptions, S3Options } from '../engine-options.ts'
import { EngineError, invalidOption } from '../errors.ts'
import type { Events } from '../events.ts'
import { FileHashes } from './integrity/hashes.ts'
import {
  attachableFolders,
  catalogLost,
  isCatalogLost,
  type Layout,
  layoutOf,
  partFiles,
  refuseMoved,
  setAllAside,
} from './layout.ts'
import { FileLock, ProcessMark } from './membership/mark.ts'
import { parseS3Address, s3Requests } from './objects/address.ts'
import { type CachedOptions, CachedParts } from './objects/cached.ts'
import { FolderParts } from './objects/folder.ts'
import { claimStore, OwnedStore, ownStore } from './objects/owner.ts'
import type { PartStore } from './objects/part-store.ts'
import { RemoteParts } from './objects/remote.ts'
import type { S3Store } from './objects/s3.ts'

/** Use the store that the catalog names, and reach it with these options. */
export interface WhereItIs {
  readonly whereItIs: S3Options
}

export interface StorageOptions
  extends Pick<EngineOptions, 'directory' | 'anew' | 'takeOver' | 'database' | 'attachable' | 's3'> {
  readonly role: 'server' | 'guest'
  /** Where the parts are; with `whereItIs`, the store that the catalog names. */
  readonly store?: ObjectStoreOptions | WhereItIs | undefined
  readonly events: Events
}

/** All that a process opens while it works: its data directory and the catalog, which may be elsewhere. */
export interface Storage extends AsyncDisposable {
  readonly layout: Layout
  readonly database: Database
  readonly mark: ProcessMark
  /** Where the bytes of parts are. */
  readonly files: PartStore
  /** Of the parts that were written or compared on this machine. */
  readonly hashes: FileHashes
  /** The lock of the server that owns the directory; undefined if this process does not own it. */
  readonly serverLock: FileLock | undefined
}

/**
 * If one thing can't be opened, all are closed.
 * @throws EngineError `locked` when another server has the directory; `storage_full`; `storage_damaged` when its
 * catalog is lost or damaged; `invalid_option`, `catalog_unavailable`, `storage_unavailable`
 */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { directory, events } = options
  checkShared(options)
  const layout = layoutOf(directory)
  // With a catalog elsewhere, several servers may share a directory, and the lock only says whose the cache there is.
  const lock = options.database === undefined ? () => lockServer(layout, 'it is already served') : acquire
  const serverLock = options.role === 'server' ? lock(layout) : undefined
  let database: Database | undefined
  let mark: ProcessMark | undefined
  try {
    database = await openDatabase(layout, options)
    const older = await migrate(database, 'catalog', CATALOG_STEPS)
    if (older !== undefined) {
      events.tell(
        'catalog_migrated',
        `The catalog of an older version was migrated from step ${older} to step ${CATALOG_STEPS.length}. Older versions can no longer open it.`,
      )
    }
    mark = new ProcessMark(layout)
    const files = await openParts({ layout, database, mark, serverLock }, options)
    const storage = { layout, database, mark, files, serverLock, hashes: new FileHashes() }
    return { ...storage, [Symbol.asyncDispose]: () => end(storage) }
  } catch (error) {
    mark?.end()
    await database?.close()
    serverLock?.release()
    throw error
  }
}

async function end({
  files,
  mark,
  database,
  serverLock,
}: Omit<Storage, keyof AsyncDisposable>): Promise<void> {
  await files.close()
  try {
    mark.end()
  } finally {
    await database.close()
    serverLock?.release()
  }
}

/** @throws EngineError `invalid_option` */
function checkShared({ database, store, anew }: StorageOptions): void {
  if (database === undefined) return
  if (store === undefined) {
    throw invalidOption(
      'A catalog in PostgreSQL needs a store of objects for the rows, because other machines must reach them.',
    )
  }
  if (anew) {
    throw invalidOption(
      '--new is for a catalog in the data directory. Restore the database, or name another one and another store.',
    )
  }
}

function openDatabase(layout: Layout, { database, anew, events }: StorageOptions): Promise<Database> {
  if (database !== undefined) return PostgresDatabase.open(database)
  return anew ? openAnew(layout, events) : openCatalog(layout, events)
}

/**
 * @throws EngineError `storage_damaged` if it is lost or damaged, so that no part is taken for a leftover and removed
 */
async function openCatalog(layout: Layout, events: Events): Promise<Database> {
  refuseMoved(layout)
  if (isCatalogLost(layout)) throw catalogLost(layout)
  let database: Database | undefined
  try {
    const message =
      'A commit failed, and whether it took effect is unknown. This process writes nothing more; restart it.'
    database = new SqliteDatabase(layout.catalog, events.failure('writes_stopped', message))
    const isKnown = (await database.hasTable('parts')) || (await database.hasTable('migrations'))
    if (!isKnown && partFiles(layout).length > 0) throw catalogLost(layout)
    return database
  } catch (error) {
    await database?.close()
    if (!(error instanceof EngineError && error.code === 'storage_damaged' && error.cause)) throw error
    throw new EngineError(
      'storage_damaged',
      `The catalog ${layout.catalog} is damaged (${(error.cause as Error).message}). Restore the data directory from ` +
        'a backup, or start empty with --new; the present files are then set aside.',
      { cause: error },
    )
  }
}

/** @throws EngineError `invalid_option` if the directory has an undamaged catalog */
async function openAnew(layout: Layout, events: Events): Promise<Database> {
  let database: Database
  try {
    database = await openCatalog(layout, events)
  } catch (error) {
    if (!(error instanceof EngineError && error.code === 'storage_damaged')) throw error
    const folder = setAllAside(layout)
    events.tell('files_set_aside', `The data directory starts empty; its earlier files are in ${folder}.`, {
      cause: error,
    })
    return openCatalog(layout, events)
  }
  if (!(await database.hasTable('parts'))) return database
  await database.close()
  throw invalidOption(
    `The catalog of ${layout.directory} is intact, so --new is refused: leave it out, or name another directory.`,
  )
}

function acquire(layout: Layout): FileLock | undefined {
  return FileLock.acquire(join(layout.locks, 'server.lock'))
}

/** @throws EngineError `locked` with `why` in its message, if a server holds the directory */
export function lockServer(layout: Layout, why: string): FileLock {
  const lock = acquire(layout)
  if (lock) return lock
  throw new EngineError(
    'locked',
    `A server is using the data directory ${layout.directory}: ${why}. Stop it first.`,
  )
}

/**
 * Opens the place that holds the parts of a catalog.
 * @throws EngineError `invalid_option` if the catalog's parts are in another place, or if the store belongs to another
 * catalog; `storage_unavailable`
 */
async function openParts(
  { layout, database, mark, serverLock }: Pick<Storage, 'layout' | 'database' | 'mark' | 'serverLock'>,
  { store: where, events, takeOver, role, s3 = {}, attachable: given = [] }: StorageOptions,
): Promise<PartStore> {
  const store = await ownStore(database)
  const attachable = attachableFolders(given, layout)
  const isOwner = serverLock !== undefined
  const isMoving = where !== undefined && 'whereItIs' in where
  const options = isMoving ? store && { ...where.whereItIs, address: store.name } : where
  if (!options) {
    if (!store || where) {
      const hasBuckets = attachable.some((one) => !isAbsolute(one))
      const buckets = hasBuckets && new CachedParts(cachedOptions(layout, mark.temporary, s3, isOwner))
      return new FolderParts(layout.parts, attachable, buckets || undefined)
    }
    throw invalidOption(
      `The rows of ${layout.directory} lie in ${store.name}: name it (--store, PARQUETRY_STORE), or bring them back ` +
        'with parquetry migrate.',
    )
  }
  const address = parseS3Address(options.address, options)
  const onLost = ({ message }: EngineError) => events.tell('writes_stopped', message)
  const objects = new OwnedStore(address, database, await database.identity(), onLost)
  try {
    // Rows that are moved away are only read.
    const claim = isMoving ? { mayOnlyRead: true } : { takeOver, mayOnlyRead: role === 'guest' }
    await claimStore(database, objects, claim)
    return remoteParts(layout, mark.temporary, objects, options, { isOwner, attachable })
  } catch (error) {
    objects.close()
    throw error
  }
}

/**
 * Parts in a store of objects that belongs to the catalog, or to which the parts are being moved.
 * @param temporary a folder that only this process uses
 */
export function remoteParts(
  layout: Layout,
  temporary: string,
  objects: S3Store,
  options: S3Options,
  { isOwner = true, attachable }: { isOwner?: boolean; attachable?: readonly string[] } = {},
): PartStore {
  const cached = cachedOptions(layout, temporary, options, isOwner)
  return new RemoteParts(objects, { ...cached, writing: temporary, attachable })
}

/**
 * @param isOwner whether this process owns the directory: the cache of such a server stays after it ends. Others have
 *   caches of their own, so that no process removes files others read.
 */
function cachedOptions(
  { directory }: Layout,
  temporary: string,
  { cacheBytes, httpfs, endpoint, region, pathStyle }: S3Options,
  isOwner: boolean,
): CachedOptions {
  const { bavail, bsize } = statfsSync(directory)
  const folder = join(isOwner ? directory : temporary, 'cache')
  const maxBytes = cacheBytes ?? Math.floor((bavail * bsize) / 3)
  return { cache: { folder, maxBytes }, httpfs, s3: s3Requests({ endpoint, region, pathStyle }) }
}
