import type { Keep } from '../catalog/records.ts'
import type { Events } from '../events.ts'
import type { CheckOptions } from './integrity/checker.ts'
import type { ObjectStoreOptions } from './objects/open.ts'
import type { PartSizes } from './part-size.ts'
import type { UploadLimits } from './upload.ts'

/** What a store is opened with. */
export interface StoreOptions {
  readonly directory: string
  /**
   * `server` owns the directory: a second one is refused, and leftovers of crashes are swept at start. `guest` works
   * beside a server, as the commands do.
   */
  readonly role: 'server' | 'guest'
  /** Begin with an empty catalog if the present one is lost or damaged. */
  readonly anew?: boolean
  /** Make this catalog the owner of the store of objects, even if another copy of it is. */
  readonly takeOver?: boolean | undefined
  /** The PostgreSQL database of the catalog; without it, the catalog is in the data directory. */
  readonly database?: string | undefined
  /** The store of objects for the parts; without it, they are in the data directory. */
  readonly store?: ObjectStoreOptions | undefined
  readonly events: Events
  readonly checks?: Partial<CheckOptions>
  readonly partSizes?: Partial<PartSizes>
  readonly threads?: number
  readonly uploadLimits: UploadLimits
  /** How new parts are encoded; `compact` by default. */
  readonly partEncoding?: 'plain' | 'compact' | undefined
  /** How long versions of datasets are kept that were given no other time. */
  readonly keep?: Partial<Keep> | undefined
}
