import type { PartBytes } from '../../catalog/records.ts'
import type { HashOptions } from '../integrity/hashes.ts'
import type { Ranges } from './ranges/ranges.ts'
import type { RequestStats, S3Store } from './s3.ts'

/** A file or object that was found among the parts. */
export interface FoundPart {
  /** Its name in the store. */
  readonly name: string
  /** The id in its name; undefined if it is not named like a part. */
  readonly id: number | undefined
  readonly bytes: number
}

export interface CacheStats extends RequestStats {
  /** How many of the parts that readers wanted were in the cache, and how many were not. */
  readonly hits: number
  readonly misses: number
  /** The same for blocks of the parts that were read by ranges. */
  readonly blockHits: number
  readonly blockMisses: number
  /** Bytes fetched from the store since the start. */
  readonly fetchedBytes: number
  /** Bytes on disk now. */
  readonly bytes: number
  readonly maxBytes: number
}

/**
 * The place of the bytes of parts: a folder, or a store of objects with a cache. DuckDB writes a part once, at
 * `target`. The part is stored for good when `keep` resolves, and never changes.
 */
export interface PartStore {
  /** Its place, for operators. */
  readonly name: string
  /** Folders from which DuckDB reads parts. */
  readonly folders: readonly string[]
  /**
   * What paths of files that may be attached begin with: folders that others keep, without links, and `s3://bucket/` with
   * a prefix that ends with `/`.
   */
  readonly attachable: readonly string[]
  /** The path at which a new part is written. */
  target(id: number): string
  /**
   * Resolves when the part that was written at `target` would survive a crash of the machine.
   * @throws EngineError `storage_unavailable`, `storage_full`
   */
  keep(part: PartBytes): Promise<void>
  /** Removes a file at `target` that is not to be kept. */
  giveUp(id: number): Promise<void>
  /** Whether a part is an object that is fetched into a cache, which checks it. */
  isCached(part: PartBytes): boolean
  /** A bucket with objects that may be attached; undefined where there are none. */
  bucket(name: string): S3Store | undefined
  /** The file of a part that is pinned. */
  file(part: PartBytes): string
  /**
   * Makes parts readable under `file` until the result is disposed; undefined if they always are.
   * @throws EngineError `storage_unavailable`, `storage_full`; DamagedPart
   */
  pin(parts: readonly PartBytes[], signal?: AbortSignal): Promise<Disposable> | undefined
  /** Lets DuckDB read parts by ranges; undefined where it reads them as files only. */
  readonly ranges: Ranges | undefined
  /** Reads bytes `from` (inclusive) to `to` (exclusive) without fetching the whole part. */
  read(part: PartBytes, from: number, to: number): AsyncGenerator<Uint8Array, void, undefined>
  /** The number of bytes in the store, not in the cache; undefined if the part is missing. */
  size(part: PartBytes): Promise<number | undefined>
  /**
   * Reads a whole part from the store, not from the cache, and gives its hash.
   * @throws DamagedPart if it is missing or clearly no part; the system's error if it can't be read now
   */
  hash(part: PartBytes, options?: HashOptions): Promise<string>
  /** Removes parts from the cache because DuckDB could not read them. */
  distrust(parts: readonly PartBytes[]): void
  /** Removes a part, even if only some of its files exist. Resolves also if there is nothing to remove. */
  remove(part: Pick<PartBytes, 'id' | 'hash'>): Promise<void>
  /** Lists everything that is stored there. */
  list(): AsyncGenerator<FoundPart, void, undefined>
  /** Removes a file or object by a name that `list` gave. */
  removeFound(name: string): Promise<void>
  /**
   * Sets files aside that the catalog does not know but that nobody asked to delete. Gives their new place.
   * @param folder makes a folder for them, called only if one is needed
   */
  setAside(names: readonly string[], folder: () => string): Promise<string>
  /** Removes uploads that crashes have left unfinished, which `list` doesn't show. */
  endUnfinished(): Promise<void>
  /** The store of objects in which the parts are; undefined if they are in a folder. */
  readonly objects: S3Store | undefined
  /** The address of a part for other programs. */
  url(part: PartBytes): string
  /** Undefined if this store needs no cache. */
  readonly cache: CacheStats | undefined
  close(): void | Promise<void>
}

/** Objects of buckets as parts. */
export type BucketParts = Omit<
  PartStore,
  | 'name'
  | 'folders'
  | 'attachable'
  | 'objects'
  | 'target'
  | 'keep'
  | 'giveUp'
  | 'remove'
  | 'list'
  | 'removeFound'
  | 'setAside'
  | 'endUnfinished'
>

/** What is wrong with attached files, in words that come after their names. */
export const GONE = 'is missing'
export const CHANGED = 'was changed since it was attached'
export const OTHER_FOOTER = 'has another footer than when it was attached'

/** The error that a part is missing in the store, or that its bytes there are not those that were written. */
export class DamagedPart extends Error {
  override readonly name = 'DamagedPart'
  readonly part: number
  /** In words that come after "part 7:". */
  readonly problem: string

  constructor(part: number, problem: string, options?: ErrorOptions) {
    super(`part ${part}: ${problem}`, options)
    this.part = part
    this.problem = problem
  }
}
