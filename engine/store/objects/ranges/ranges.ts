import { LRUCache } from 'lru-cache'
import type { PartBytes } from '../../../catalog/records.ts'
import type { HttpOptions } from '../../../duckdb/instance.ts'
import { once } from '../../../util/lazy.ts'
import { POOL_THREADS } from '../../../util/pool-threads.ts'
import { BlockSums } from '../../integrity/hashes.ts'
import type { Cacheable, ObjectCache } from '../cache.ts'
import type { RangeEndpoint } from './endpoint.ts'
import { PartialObject } from './partial.ts'

/** The most parts that one reading reads by ranges; others are fetched. */
const MOST_RANGED = 100
/** Half of the threads that wait in DuckDB may wait for ranges; the others are left to what must go on meanwhile. */
const MOST_READINGS = Math.floor(POOL_THREADS / 2)
/** The most objects of which blocks are remembered. Their sums take up to 8 KiB each. */
const MOST_OBJECTS = 1_000

/** Lets DuckDB read objects by ranges: their blocks are fetched when it asks for them, and compared with their sums. */
export class Ranges {
  readonly #httpfs: string
  readonly #cache: ObjectCache
  readonly #objectOf: (part: PartBytes) => Cacheable
  readonly #damage: (error: unknown, parts: readonly PartBytes[]) => unknown
  readonly #known = new LRUCache<string, PartialObject>({
    max: MOST_OBJECTS,
    dispose: (_, name) => this.#cache.dropBlocks(name),
  })
  /** Those that somebody reads now. */
  readonly #read = new Map<string, PartialObject>()
  readonly #closing = new AbortController()
  readonly #counts = { hits: 0, misses: 0 }
  #endpoint: RangeEndpoint | undefined
  #readings = 0

  /**
   * @param objectOf the object of a part
   * @param damage turns an error about the bytes of one of the parts into a `DamagedPart`
   */
  constructor(
    httpfs: string,
    cache: ObjectCache,
    objectOf: (part: PartBytes) => Cacheable,
    damage: (error: unknown, parts: readonly PartBytes[]) => unknown,
  ) {
    this.#httpfs = httpfs
    this.#cache = cache
    this.#objectOf = objectOf
    this.#damage = damage
  }

  /** How many blocks that DuckDB wanted were on this disk, and how many were not. */
  get stats(): { readonly hits: number; readonly misses: number } {
    return { ...this.#counts }
  }

  /**
   * Begins to listen for DuckDB. Gives what the addresses of parts begin with, and the only proxy that DuckDB may use.
   * @param extensions the folder into which DuckDB installs its extension, if it is not on the disk already
   */
  async open(extensions: string): Promise<HttpOptions> {
    if (!this.#endpoint) {
      // Not imported at the top, because an import of node:http loads all that it exports, and so Node's HTTP client.
      const { RangeEndpoint } = await import('./endpoint.ts')
      this.#endpoint = await RangeEndpoint.open((name) => this.#read.get(name))
    }
    const { base, origin: proxy } = this.#endpoint
    return { base, proxy, extensions, httpfs: this.#httpfs === 'install' ? undefined : this.#httpfs }
  }

  /** Ends what was begun for DuckDB. Nothing is fetched after this has resolved. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#endpoint?.close()
    const known = [...this.#known.values()]
    for (const object of known) object.giveUp()
    await Promise.allSettled(known.map(({ completing }) => completing))
  }

  /**
   * Begins to read those of the parts that are not in the cache and that have sums of their blocks; undefined if there
   * are none, or if enough parts are being read in this way.
   * @param sumsOf gives the sums of a part's blocks as the catalog has them
   */
  async begin(
    parts: readonly PartBytes[],
    sumsOf: (part: PartBytes) => Promise<string | null>,
    signal: AbortSignal | undefined,
  ): Promise<RangedParts | undefined> {
    if (!this.#hasRoom) return undefined
    const names = new Map<number, string>()
    for (const part of parts) {
      if (names.size === MOST_RANGED) break
      const object = this.#objectOf(part)
      if (this.#cache.has(object)) continue
      const sums = this.#knows(object.name) ? undefined : await sumsOf(part)
      if (sums === null) continue
      if (sums !== undefined && !this.#knows(object.name)) {
        const blocks = new BlockSums(sums)
        const partial = new PartialObject(object, blocks, this.#cache, this.#counts, this.#closing.signal)
        this.#known.set(object.name, partial)
      }
      names.set(part.id, object.name)
    }
    signal?.throwIfAborted()
    // Meanwhile other readings may have had so many objects remembered that some of these were forgotten.
    for (const [id, name] of names) if (!this.#knows(name)) names.delete(id)
    if (names.size === 0 || !this.#hasRoom) return undefined
    const held = this.#cache.holdBlocks([...names.values()])
    this.#readings += 1
    // DuckDB can't give up a request that waits for an answer, so it gets one at once.
    const end = () => reading[Symbol.dispose]()
    const fail = (error: unknown) => this.#damage(error, parts)
    const reading = new RangedParts(this.#endpoint!.base, names, fail, () => {
      this.#readings -= 1
      signal?.removeEventListener('abort', end)
      for (const name of names.values()) this.#leave(name, reading)
      held[Symbol.dispose]()
    })
    for (const name of names.values()) this.#enter(name, reading)
    signal?.addEventListener('abort', end, { once: true })
    return reading
  }

  /** Whether another reading can begin now. */
  get #hasRoom(): boolean {
    return this.#endpoint !== undefined && this.#readings < MOST_READINGS
  }

  /** Whether an object can be read without being told the sums of its blocks. */
  #knows(name: string): boolean {
    return this.#known.has(name) || this.#read.has(name)
  }

  /** Forgets the blocks of an object that is gone or damaged. */
  forget(name: string): void {
    this.#known.delete(name)
  }

  #enter(name: string, reading: RangedParts): void {
    const known = this.#read.get(name) ?? this.#known.get(name)
    if (!known) return
    this.#read.set(name, known)
    known.readers.add(reading)
  }

  #leave(name: string, reading: RangedParts): void {
    const known = this.#read.get(name)
    known?.readers.delete(reading)
    if (known?.readers.size !== 0) return
    this.#read.delete(name)
    known.giveUp()
  }
}

/** Parts that DuckDB reads by ranges until it is disposed. */
export class RangedParts implements Disposable {
  readonly #base: string
  readonly #names: ReadonlyMap<number, string>
  readonly #damage: (error: unknown) => unknown
  readonly #end: () => void
  #failure: unknown

  constructor(
    base: string,
    names: ReadonlyMap<number, string>,
    damage: (error: unknown) => unknown,
    end: () => void,
  ) {
    this.#base = base
    this.#names = names
    this.#damage = damage
    this.#end = once(end)
  }

  /** Where DuckDB reads a part; undefined if it has to be pinned as a file. */
  url({ id }: PartBytes): string | undefined {
    const name = this.#names.get(id)
    return name === undefined ? undefined : this.#base + name
  }

  /** Why DuckDB did not get bytes that it asked for; undefined if it got all. May be a DamagedPart. */
  get failure(): unknown {
    return this.#failure
  }

  fail(error: unknown): void {
    this.#failure ??= this.#damage(error)
  }

  [Symbol.dispose](): void {
    this.#end()
  }
}
