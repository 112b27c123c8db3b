import { LRUCache } from 'lru-cache'
import { ConnectorError, type ConnectorErrorCode, cancelled, FAULTS } from '../errors.ts'
import type { Settings } from '../options.ts'

export interface Read<T> {
  readonly value: T
  /** When the value was fetched; absent if it was fetched for this very call. */
  readonly cachedAt?: number
  /** No longer fresh: returned while a new fetch runs, or because the provider fails. */
  readonly stale: boolean
}

interface Entry {
  readonly value: unknown
  readonly fetchedAt: number
  /** Whether another process has fetched it. */
  readonly isShared?: boolean
}

interface ReadOptions {
  readonly signal?: AbortSignal
  readonly onlyFresh?: boolean
  /** Whether other processes may use the value, which must then be plain data. */
  readonly isShared?: boolean
}

/** In these cases a stale value is better than the error. */
const FORGIVABLE: readonly ConnectorErrorCode[] = [...FAULTS, 'provider_limit']

/** 'Not found' is an answer too, so it is cached as one. */
const ABSENT: readonly ConnectorErrorCode[] = ['series_not_found', 'path_not_found']
const MOST_ABSENCES = 2_000

/**
 * Values by key, limited by their total size. Callers who ask for the same key share one fetch; if one of them leaves,
 * the others aren't disturbed, and when all have left, the fetch is aborted. Failures are not kept, except that a 'not
 * found' is kept for a short while: a client that asked for it in a loop would use up the limit of all. A value that is
 * older than its freshness allows, but by less than that time again, is returned at once and fetched anew in the
 * background.
 */
export class Cache {
  readonly #settings: Settings
  readonly #entries: LRUCache<string, Entry>
  readonly #absent: LRUCache<string, ConnectorError>
  readonly #flights = new Map<string, Flight>()
  #hits = 0
  #staleHits = 0
  #misses = 0

  constructor(settings: Settings) {
    const { cache, now } = settings
    this.#settings = settings
    this.#entries = new LRUCache<string, Entry>({
      maxSize: cache.maxBytes,
      sizeCalculation: (entry, key) => Math.ceil(sizeOf(entry.value)) + 2 * key.length,
    })
    const ttl = Math.ceil(1000 * cache.absentSeconds)
    this.#absent = new LRUCache({ max: MOST_ABSENCES, ttl, ttlResolution: 0, perf: { now } })
  }

  async read<T>(
    key: string,
    freshMs: number,
    fill: (signal: AbortSignal) => Promise<T>,
    { signal, onlyFresh = false, isShared = false }: ReadOptions = {},
  ): Promise<Read<T>> {
    const { answers, cache, now } = this.#settings
    const absence = this.#absent.get(key)
    if (absence !== undefined) {
      this.#hits++
      throw absence
    }
    const entry = this.#entries.get(key)
    const age = entry === undefined ? Number.POSITIVE_INFINITY : now() - entry.fetchedAt
    const staleMs = 1000 * cache.staleSeconds
    const cached = ({ value, fetchedAt }: Entry, stale: boolean): Read<T> => {
      if (stale) this.#staleHits++
      else this.#hits++
      return { value: value as T, cachedAt: fetchedAt, stale }
    }
    if (entry !== undefined && age < freshMs) return cached(entry, false)
    const fetch = async (signal: AbortSignal): Promise<Entry> => {
      if (!answers || !isShared) return { value: await fill(signal), fetchedAt: now() }
      const { value, ageMs } = await answers.read(key, freshMs, () => fill(signal), signal)
      return { value, fetchedAt: now() - (ageMs ?? 0), isShared: ageMs !== undefined }
    }
    if (!onlyFresh && entry !== undefined && age < Math.min(2 * freshMs, freshMs + staleMs)) {
      this.#board(key, fetch).entry.catch(() => undefined)
      return cached(entry, true)
    }
    this.#misses++
    try {
      const { value, fetchedAt, isShared } = await this.#join(key, fetch, signal)
      return { value: value as T, ...(isShared && { cachedAt: fetchedAt }), stale: false }
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error
      if (ABSENT.includes(error.code) && cache.absentSeconds > 0) this.#absent.set(key, error)
      const isForgivable = !onlyFresh && FORGIVABLE.includes(error.code)
      if (entry === undefined || !isForgivable || age >= freshMs + staleMs) throw error
      return cached(entry, true)
    }
  }

  stats(): { entries: number; bytes: number; hits: number; staleHits: number; misses: number } {
    return {
      entries: this.#entries.size,
      bytes: this.#entries.calculatedSize,
      hits: this.#hits,
      staleHits: this.#staleHits,
      misses: this.#misses,
    }
  }

  clear(): void {
    for (const { controller } of this.#flights.values()) controller.abort()
    this.#entries.clear()
    this.#absent.clear()
  }

  /** Waits for the fetch that is under way, or starts one; the last one who leaves it aborts it. */
  async #join(key: string, fetch: Fetch, signal: AbortSignal | undefined): Promise<Entry> {
    if (signal?.aborted) throw cancelled()
    const flight = this.#board(key, fetch)
    try {
      return await unlessAborted(flight.entry, signal)
    } finally {
      if (--flight.aboard === 0) flight.controller.abort()
    }
  }

  #board(key: string, fetch: Fetch): Flight {
    const known = this.#flights.get(key)
    if (known !== undefined && !known.controller.signal.aborted) {
      known.aboard++
      return known
    }
    const controller = new AbortController()
    const entry = fetch(controller.signal)
    const flight: Flight = { controller, entry, aboard: 1 }
    this.#flights.set(key, flight)
    const land = (landed?: Entry) => {
      // A fetch that was aborted may end after the one that took its place.
      if (this.#flights.get(key) !== flight) return
      this.#flights.delete(key)
      if (landed !== undefined) this.#entries.set(key, landed)
    }
    entry.then(land, () => land())
    return flight
  }
}

type Fetch = (signal: AbortSignal) => Promise<Entry>

/** One fetch, and how many callers wait for it. */
interface Flight {
  readonly controller: AbortController
  readonly entry: Promise<Entry>
  aboard: number
}

/** The promise's outcome, or `cancelled` as soon as the signal aborts. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(cancelled())
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** The number of elements of a list that are measured; the others are assumed to be like them. */
const SAMPLE = 500

/** About how many bytes of memory a value of plain data takes. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 24 + 2 * value.length
  if (typeof value !== 'object' || value === null) return 8
  if (Array.isArray(value)) {
    const sample = value.slice(0, SAMPLE)
    const measured = sample.reduce<number>((sum, each) => sum + sizeOf(each), 0)
    return 32 + 8 * value.length + (sample.length === 0 ? 0 : (measured / sample.length) * value.length)
  }
  if (value instanceof Map) return sizeOf([...value])
  if (value instanceof Set) return sizeOf([...value])
  return Object.values(value).reduce<number>((sum, each) => sum + 16 + sizeOf(each), 32)
}
