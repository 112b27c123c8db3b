import { LRUCache } from 'lru-cache'
import type { PartBytes } from '../../../catalog/records.ts'
import type { HttpOptions } from '../../../duckdb/instance.ts'
import { once } from '../../../util/shared.ts'
import { POOL_THREADS } from '../../../util/threads.ts'
import { BlockSums } from '../../integrity/hashes.ts'
import { blocksName, type Cacheable, type ObjectCache } from '../cache.ts'
import type { RangeEndpoint } from './endpoint.ts'
import { PartialObject } from './partial.ts'

/** The most parts that one reading reads by ranges; others are fetched. */
const MOST_RANGED = 100
/** Half of the threads that wait in DuckDB may wait for ranges; the others are left to what must go on meanwhile. */
const MOST_READINGS = Math.floor(POOL_THREADS / 2)
/** The most objects of which blocks are remembered. Their sums take up to 8 KiB each. */
const MOST_OBJECTS = 1_000

/** Parts that DuckDB reads by ranges until it is disposed. */
export interface RangedParts extends Disposable {
  /** Where DuckDB reads a part; undefined if it has to be pinned as a file. */
  url(part: PartBytes): string | undefined
  /** Why DuckDB did not get bytes that it asked for; undefined if it got all. May be a DamagedPart. */
  failure(): unknown
  fail(error: unknown): void
}

/** Lets DuckDB read objects by ranges: their blocks are fetched when it asks for them, and compared with their sums. */
export class Ranges {
  readonly #httpfs: string
  readonly #cache: ObjectCache
  readonly #objectOf: (part: PartBytes) => Cacheable
  readonly #damage: (error: unknown, parts: readonly PartBytes[]) => unknown
  readonly #known = new LRUCache<string, PartialObject>({
    max: MOST_OBJECTS,
    dispose: (_, name) => this.#cache.drop(blocksName(name)),
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
    const objects = new Map<number, PartialObject>()
    for (const part of parts) {
      if (objects.size === MOST_RANGED) break
      const object = this.#objectOf(part)
      if (this.#cache.has(object)) continue
      const known = this.#find(object.name) ?? this.#remember(object, await sumsOf(part))
      if (known) objects.set(part.id, known)
    }
    signal?.throwIfAborted()
    if (objects.size === 0 || !this.#hasRoom) return undefined
    const names = [...objects.values()].map(({ name }) => name)
    const held = this.#cache.hold(names.map(blocksName))
    this.#readings += 1
    const end = once(() => {
      this.#readings -= 1
      signal?.removeEventListener('abort', end)
      for (const name of names) this.#leave(name, reading)
      held[Symbol.dispose]()
    })
    const { base } = this.#endpoint!
    let failure: unknown
    const reading: RangedParts = {
      url: ({ id }) => (objects.has(id) ? base + objects.get(id)!.name : undefined),
      failure: () => failure,
      fail: (error) => {
        failure ??= this.#damage(error, parts)
      },
      [Symbol.dispose]: end,
    }
    for (const object of objects.values()) this.#enter(object, reading)
    // DuckDB can't give up a request that waits for an answer, so it gets one at once.
    signal?.addEventListener('abort', end, { once: true })
    return reading
  }

  /** Whether another reading can begin now. */
  get #hasRoom(): boolean {
    return this.#endpoint !== undefined && this.#readings < MOST_READINGS
  }

  #find(name: string): PartialObject | undefined {
    return this.#read.get(name) ?? this.#known.get(name)
  }

  #remember(object: Cacheable, sums: string | null): PartialObject | undefined {
    if (sums === null && !object.attached) return undefined
    const known = this.#find(object.name)
    if (known) return known
    const context = { cache: this.#cache, counts: this.#counts, closing: this.#closing.signal }
    const made = new PartialObject(object, new BlockSums(sums ?? ''), context)
    this.#known.set(object.name, made)
    return made
  }

  /** Forgets the blocks of an object that is gone or damaged. */
  forget(name: string): void {
    this.#known.delete(name)
  }

  #enter(object: PartialObject, reading: RangedParts): void {
    // Another one for the same bytes may be read by now, if this one was forgotten meanwhile.
    const known = this.#read.get(object.name) ?? object
    this.#read.set(object.name, known)
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
