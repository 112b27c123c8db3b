import { statfsSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from '../../catalog/database.ts'
import { EngineError } from '../../errors.ts'
import type { Layout } from '../layout.ts'
import { parseS3Address } from './address.ts'
import { claimStore, ownStore } from './claim.ts'
import { FolderParts } from './folder.ts'
import type { ObjectStore } from './object-store.ts'
import type { PartStore } from './part-store.ts'
import { RemoteParts } from './remote.ts'
import { S3Store } from './s3.ts'

/** Where rows are kept, if not in the data directory. */
export interface ObjectStoreOptions {
  /** `s3://bucket/prefix`. */
  readonly address: string
  /** Of a store that is not Amazon's. */
  readonly endpoint?: string | undefined
  readonly region?: string | undefined
  /** `https://host/bucket/key` in place of `https://bucket.host/key`; the default where an endpoint is given. */
  readonly pathStyle?: boolean | undefined
  /** How large the cache of this machine may be; a third of the free disk by default. */
  readonly cacheBytes?: number | undefined
}

/** How to ask the store that the catalog names. */
export interface WhereItIs {
  readonly whereItIs: Omit<ObjectStoreOptions, 'address'>
}

export interface Place {
  readonly layout: Layout
  readonly database: Database
  /** A folder of this process's own. */
  readonly temporary: string
  /** A server's cache outlives it; others have one of their own, so that nobody drops what another one reads. */
  readonly role: 'server' | 'guest'
}

/** @throws EngineError `invalid_option` */
export function openObjects({ address, endpoint, region, pathStyle }: ObjectStoreOptions): ObjectStore {
  return new S3Store(parseS3Address(address, { endpoint, region, pathStyle }))
}

/**
 * The parts of a catalog.
 * @throws EngineError `invalid_option` where the catalog has its parts elsewhere, or the store belongs to another
 * catalog; `storage_unavailable`
 */
export async function openParts(
  place: Place,
  where: ObjectStoreOptions | WhereItIs | undefined,
): Promise<PartStore> {
  const { layout, database } = place
  const store = await ownStore(database)
  const options = where && 'whereItIs' in where ? store && { ...where.whereItIs, address: store.name } : where
  if (!options) {
    if (!store || where) return new FolderParts(layout.parts)
    throw new EngineError(
      'invalid_option',
      `The rows of ${layout.directory} lie in ${store.name}: name it (--store, PARQUETRY_STORE), or bring them back ` +
        'with parquetry migrate.',
    )
  }
  const objects = openObjects(options)
  try {
    await claimStore(database, objects)
    return remoteParts(place, objects, options)
  } catch (error) {
    objects.close()
    throw error
  }
}

/** Parts in a store that is the catalog's own, or is about to be. */
export function remoteParts(place: Place, objects: ObjectStore, options: ObjectStoreOptions): PartStore {
  const { layout, temporary, role } = place
  const folder = join(role === 'server' ? layout.directory : temporary, 'cache')
  return new RemoteParts(objects, {
    writing: temporary,
    cache: { folder, maxBytes: options.cacheBytes ?? thirdOfFree(layout.directory) },
  })
}

function thirdOfFree(directory: string): number {
  const { bavail, bsize } = statfsSync(directory)
  return Math.floor((bavail * bsize) / 3)
}
