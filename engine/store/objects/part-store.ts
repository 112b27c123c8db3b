import type { Part } from '../../catalog/records.ts'
import type { HashOptions } from '../integrity/hash.ts'

/** What must be known of a part to find its bytes, and to know them for its own. */
export type PartBytes = Pick<Part, 'id' | 'bytes' | 'hash'>

/** Parts that may be read until it is disposed. */
export type Pinned = Disposable

/** Bytes that lie under the name of a part. */
export interface FoundPart {
  /** What the store calls it. */
  readonly name: string
  /** The number in its name; undefined for what is no part. */
  readonly id: number | undefined
  readonly bytes: number
}

export interface CacheStats {
  /** Parts that were there when somebody wanted to read them, and those that were not. */
  readonly hits: number
  readonly misses: number
  /** Bytes that came from the store since the start. */
  readonly fetchedBytes: number
  /** Bytes on disk now. */
  readonly bytes: number
  readonly maxBytes: number
}

/**
 * Where the bytes of parts lie: a folder, or a store of objects with a cache before it. A part is written once, under
 * `target`, by DuckDB; it counts from `keep` on, and never changes.
 */
export interface PartStore {
  /** Where it is, for those who run it. */
  readonly name: string
  /** Folders from which DuckDB reads parts. */
  readonly folders: readonly string[]
  /** The file into which a new part is written. */
  target(id: number): string
  /**
   * Resolves when what was written at `target` would survive a crash of everything.
   * @throws EngineError `storage_unavailable`, `storage_full`
   */
  keep(part: PartBytes): Promise<void>
  /** Removes what was written at `target` and is not to be kept. */
  giveUp(id: number): Promise<void>
  /** The file of a part that is pinned. */
  file(part: PartBytes): string
  /**
   * Makes parts readable under `file`, until what it gives is disposed; undefined where they are so anyway.
   * @throws EngineError `storage_unavailable`, `storage_full`; DamagedPart
   */
  pin(parts: readonly PartBytes[], signal?: AbortSignal): Promise<Pinned> | undefined
  /** Bytes `from` (inclusive) to `to` (exclusive), without making all of the part readable. */
  read(
    part: PartBytes,
    from: number,
    to: number,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined>
  /** How many bytes are stored, whatever is cached; undefined where there is nothing. */
  size(part: PartBytes): Promise<number | undefined>
  /**
   * Reads all that is stored of a part, whatever is cached, and gives its hash.
   * @throws DamagedPart where it is missing or clearly no part; the system's error where it can't be read now
   */
  hash(part: PartBytes, options?: HashOptions): Promise<string>
  /** Forgets what is cached of parts, which DuckDB could not read. */
  distrust(parts: readonly PartBytes[]): void
  /** Removes a part, also one of which less is there than of others. Resolves where there is nothing, too. */
  remove(part: Pick<PartBytes, 'id' | 'hash'>): Promise<void>
  /** All that lies there. */
  list(): AsyncGenerator<FoundPart, void, undefined>
  /** Removes something that `list` gave. */
  removeFound(name: string): Promise<void>
  /**
   * Puts away what nobody knows but nobody asked to delete. Gives where it lies.
   * @param folder makes a folder for it, where it needs one
   */
  setAside(names: readonly string[], folder: () => string): Promise<string>
  /** Ends what crashes have left half written, where `list` doesn't show it. */
  endUnfinished(): Promise<void>
  /** Resolves where it can be reached; asked often, it answers from what it knows of the last seconds. */
  answers(): Promise<void>
  /** Undefined where nothing is cached. */
  readonly cache: CacheStats | undefined
  close(): void
}

/** A part whose bytes in the store are not those that were written, or not there. */
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
