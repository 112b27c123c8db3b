import { LRUCache } from 'lru-cache'
import { BlockSums } from '../../integrity/block-sums.ts'
import type { Cacheable, ObjectCache } from '../cache.ts'
import type { RangeEndpoint, Readable } from './endpoint.ts'
import { PartialObject } from './partial.ts'

/** Objects that somebody reads by ranges. Dispose it when they have been read. */
export interface RangeReading extends Disposable {
  /** The address under which DuckDB reads an object. */
  url(name: string): string
  /** Why DuckDB did not get bytes that it asked for; undefined if it got all. */
  readonly failure: unknown
}

/** The most objects of which blocks are remembered. Their sums take up to 8 KiB each. */
const MOST_OBJECTS = 1_000
/** If more of an object than this was fetched by ranges, readers wait for the whole object instead. */
const COMPLETED_FROM = 1 / 4
/** After so many readings of an object by ranges, it is fetched whole while the next one goes on by ranges. */
const READ_BY_RANGES = 8

/** What is known about an object of which some blocks are here. */
interface Known {
  readonly partial: PartialObject
  readonly whole: Cacheable
  /** Who reads it now. */
  readonly readers: Set<Reading>
  /** How many readings of it have begun. */
  readings: number
  /** Whether readers wait for the whole object. */
  isWantedWhole: boolean
  completing: Promise<void> | undefined
}

/** Lets DuckDB read objects by ranges: their blocks are fetched when it asks for them, and compared with their sums. */
export class Ranges {
  readonly #cache: ObjectCache
  readonly #most: number
  readonly #known = new LRUCache<string, Known>({
    max: MOST_OBJECTS,
    dispose: (_, name) => this.#cache.dropBlocks(name),
  })
  /** Those that somebody reads now. */
  readonly #read = new Map<string, Known>()
  readonly #closing = new AbortController()
  readonly #counts = { hits: 0, misses: 0 }
  #endpoint: RangeEndpoint | undefined
  #readings = 0

  /**
   * @param most how many readings there may be at once. Each may keep a thread of libuv's pool waiting, and some must
   * stay free for those who fetch
   */
  constructor(cache: ObjectCache, most: number) {
    this.#cache = cache
    this.#most = most
  }

  /** How many blocks that DuckDB wanted were on this disk, and how many were not. */
  get stats(): { readonly hits: number; readonly misses: number } {
    return { ...this.#counts }
  }

  /** Begins to listen for DuckDB. */
  async open(): Promise<{ readonly base: string; readonly proxy: string }> {
    if (!this.#endpoint) {
      // Not imported at the top, because an import of node:http loads all that it exports, and so Node's HTTP client.
      const { RangeEndpoint } = await import('./endpoint.ts')
      this.#endpoint = await RangeEndpoint.open((name) => this.#readable(name))
    }
    return { base: this.#endpoint.base, proxy: this.#endpoint.origin }
  }

  /** Ends what was begun for DuckDB. Nothing is fetched after this has resolved. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#endpoint?.close()
    const known = [...this.#known.values()]
    for (const { partial } of known) partial.giveUp()
    await Promise.allSettled(known.map(({ completing }) => completing))
  }

  /** Whether another reading can begin now. */
  get hasRoom(): boolean {
    return this.#endpoint !== undefined && this.#readings < this.#most
  }

  /** Whether an object can be read without being told the sums of its blocks. */
  knows(name: string): boolean {
    return this.#known.has(name) || this.#read.has(name)
  }

  /** Takes in the sums of an object's blocks. */
  learn(object: Cacheable, text: string): void {
    const { name, bytes } = object
    if (this.knows(name)) return
    const known: Known = {
      partial: new PartialObject({
        name,
        bytes,
        sums: new BlockSums(text),
        file: this.#cache.blocksFile(name),
        counts: this.#counts,
        get: (from, to, signal) => this.#cache.get(name, from, to, signal),
        whole: () => this.#cache.wholeFile(object),
        completing: () => (known.isWantedWhole ? known.completing : undefined),
        onGrown: (here) => {
          this.#cache.growBlocks(name, here)
          known.isWantedWhole = here > bytes * COMPLETED_FROM
          if (known.isWantedWhole) this.#complete(known)
        },
      }),
      whole: object,
      readers: new Set(),
      readings: 0,
      isWantedWhole: false,
      completing: undefined,
    }
    this.#known.set(name, known)
  }

  /** Begins to read objects that are known. Aborting the signal ends the reading. */
  begin(names: readonly string[], signal: AbortSignal | undefined): RangeReading {
    const held = this.#cache.holdBlocks(names)
    this.#readings += 1
    const reading = new Reading(this.#endpoint!.base, () => {
      this.#readings -= 1
      signal?.removeEventListener('abort', end)
      for (const name of names) this.#leave(name, reading)
      held[Symbol.dispose]()
    })
    for (const name of names) this.#enter(name, reading)
    // DuckDB can't give up a request that waits for an answer, so it gets one at once.
    const end = () => reading[Symbol.dispose]()
    signal?.addEventListener('abort', end, { once: true })
    return reading
  }

  /** Forgets the blocks of an object that is gone or damaged. */
  forget(name: string): void {
    this.#known.delete(name)
  }

  #enter(name: string, reading: Reading): void {
    const known = this.#read.get(name) ?? this.#known.get(name)
    if (!known) return
    this.#read.set(name, known)
    known.readers.add(reading)
    known.readings += 1
    if (known.readings > READ_BY_RANGES) this.#complete(known)
  }

  #leave(name: string, reading: Reading): void {
    const known = this.#read.get(name)
    known?.readers.delete(reading)
    if (known?.readers.size !== 0) return
    this.#read.delete(name)
    known.partial.giveUp()
  }

  #readable(name: string): Readable | undefined {
    const known = this.#read.get(name)
    if (!known) return undefined
    return {
      bytes: known.whole.bytes,
      read: async (from, to) => {
        try {
          return await known.partial.read(from, to)
        } catch (error) {
          for (const reading of known.readers) reading.failure ??= error
          throw error
        }
      },
    }
  }

  /** Fetches the whole object in the background. Who needs it later tries again if that fails. */
  #complete(known: Known): void {
    if (known.completing || this.#closing.signal.aborted) return
    known.completing = this.#cache
      .pin([known.whole], this.#closing.signal)
      .then((pin) => {
        pin[Symbol.dispose]()
        known.readings = 0
        this.#cache.dropBlocks(known.whole.name)
      })
      .catch(() => {})
      .finally(() => {
        known.completing = undefined
      })
  }
}

class Reading implements RangeReading {
  failure: unknown
  readonly #base: string
  readonly #end: () => void
  #ended = false

  constructor(base: string, end: () => void) {
    this.#base = base
    this.#end = end
  }

  url(name: string): string {
    return this.#base + name
  }

  [Symbol.dispose](): void {
    if (this.#ended) return
    this.#ended = true
    this.#end()
  }
}
