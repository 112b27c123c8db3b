import { statfsSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from '../../catalog/database.ts'
import { type EngineError, invalidOption } from '../../errors.ts'
import type { Events } from '../../events.ts'
import type { Layout } from '../layout.ts'
import { parseS3Address, type S3Address } from './address.ts'
import { FolderParts } from './folder.ts'
import { type ClaimOptions, claimStore, OwnedStore, ownStore } from './owner.ts'
import type { PartStore } from './part-store.ts'
import { RemoteParts } from './remote.ts'
import type { S3Store } from './s3.ts'

/** The store of objects that holds the rows if they are not in the data directory. */
export interface ObjectStoreOptions extends Omit<S3Address, 'bucket' | 'prefix'> {
  /** `s3://bucket/prefix`. */
  readonly address: string
  /** The most bytes of the cache on this machine; by default a third of the free disk. */
  readonly cacheBytes?: number | undefined
  /**
   * DuckDB's extension httpfs, with which a few rows of parts that are not in the cache are read by ranges: a folder
   * that has the file `httpfs.duckdb_extension`, or `install` to have DuckDB fetch it from its repository. Without it,
   * parts are fetched whole.
   */
  readonly httpfs?: string | undefined
}

/** Use the store that the catalog names, and reach it with these options. */
export interface WhereItIs {
  readonly whereItIs: Omit<ObjectStoreOptions, 'address'>
}

export interface PartsContext {
  readonly layout: Layout
  readonly database: Database
  /** A folder that only this process uses. */
  readonly temporary: string
  /**
   * The cache of the server that owns the directory stays after it ends. Others have caches of their own, so that no
   * process removes files others read.
   */
  readonly role: 'server' | 'guest'
}

/**
 * Opens the place that holds the parts of a catalog.
 * @throws EngineError `invalid_option` if the catalog's parts are in another place, or if the store belongs to another
 * catalog; `storage_unavailable`
 */
export async function openParts(
  context: PartsContext,
  where: ObjectStoreOptions | WhereItIs | undefined,
  events: Events,
  claim: ClaimOptions,
): Promise<PartStore> {
  const { layout, database } = context
  const store = await ownStore(database)
  const options = where && 'whereItIs' in where ? store && { ...where.whereItIs, address: store.name } : where
  if (!options) {
    if (!store || where) return new FolderParts(layout.parts)
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
    const isMoving = where !== undefined && 'whereItIs' in where
    await claimStore(database, objects, isMoving ? { mayOnlyRead: true } : claim)
    return remoteParts(context, objects, options)
  } catch (error) {
    objects.close()
    throw error
  }
}

/** Parts in a store of objects that belongs to the catalog, or to which the parts are being moved. */
export function remoteParts(context: PartsContext, objects: S3Store, options: ObjectStoreOptions): PartStore {
  const { layout, temporary, role } = context
  const folder = join(role === 'server' ? layout.directory : temporary, 'cache')
  return new RemoteParts(objects, {
    writing: temporary,
    cache: { folder, maxBytes: options.cacheBytes ?? thirdOfFree(layout.directory) },
    httpfs: options.httpfs,
  })
}

function thirdOfFree(directory: string): number {
  const { bavail, bsize } = statfsSync(directory)
  return Math.floor((bavail * bsize) / 3)
}
