import { LRUCache } from 'lru-cache'
import { ConnectorError, type ConnectorErrorCode } from '../errors.ts'
import { sizeOf } from './size.ts'

export interface CacheOptions {
  readonly maxBytes: number
  /** How long after its fetch a value may still be used if the provider fails. */
  readonly staleMs: number
  /** How long a 'not found' is cached. */
  readonly absentMs: number
  readonly now: () => number
}

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
}

interface Absence {
  readonly error: ConnectorError
  readonly foundAt: number
}

type Fill = (signal: AbortSignal) => Promise<unknown>

/**
 * Failures of the provider, as opposed to mistakes of the caller: in these cases a stale value is better than the
 * error.
 */
const FORGIVABLE = new Set<ConnectorErrorCode>([
  'provider_down',
  'provider_slow',
  'provider_limit',
  'not_understood',
  'answer_too_large',
])

/** 'Not found' is an answer too, so it is cached as one. */
const ABSENT = new Set<ConnectorErrorCode>(['series_not_found', 'path_not_found'])
const MOST_ABSENCES = 2_000

/**
 * Values by key, limited by their total size. Callers who ask for the same key share one fetch; if one of them leaves,
 * the others aren't disturbed, and when all have left, the fetch is aborted. Failures are not kept, except that a 'not
 * found' is kept for a short while: a client that asked for it in a loop would use up the limit of all. A value that is
 * older than its freshness allows, but by less than that time again, is returned at once and fetched anew in the
 * background.
 */
export class Cache {
  readonly #options: CacheOptions
  readonly #entries: LRUCache<string, Entry, Fill>
  readonly #absent = new LRUCache<string, Absence>({ max: MOST_ABSENCES })
  readonly #flights = new Map<string, Flight>()
  #hits = 0
  #staleHits = 0
  #misses = 0

  constructor(options: CacheOptions) {
    this.#options = options
    this.#entries = new LRUCache<string, Entry, Fill>({
      maxSize: options.maxBytes,
      sizeCalculation: (entry, key) => Math.ceil(sizeOf(entry.value)) + 2 * key.length,
      ignoreFetchAbort: true,
      noDeleteOnFetchRejection: true,
      fetchMethod: (key, _stale, { context: fill }) => this.#fetch(key, fill),
    })
  }

  async read<T>(
    key: string,
    freshMs: number,
    fill: (signal: AbortSignal) => Promise<T>,
    { signal, onlyFresh = false }: { readonly signal?: AbortSignal; readonly onlyFresh?: boolean } = {},
  ): Promise<Read<T>> {
    const absence = this.#absent.get(key)
    if (absence !== undefined && this.#options.now() - absence.foundAt < this.#options.absentMs) {
      this.#hits++
      throw absence.error
    }
    const entry = this.#entries.get(key, { allowStale: true })
    const age = entry === undefined ? Number.POSITIVE_INFINITY : this.#options.now() - entry.fetchedAt
    if (entry !== undefined && age < freshMs) {
      this.#hits++
      return { value: entry.value as T, cachedAt: entry.fetchedAt, stale: false }
    }
    if (!onlyFresh && entry !== undefined && age < Math.min(2 * freshMs, freshMs + this.#options.staleMs)) {
      this.#staleHits++
      this.#board(key)
      void this.#entries.fetch(key, { forceRefresh: true, allowStale: true, context: fill })
      return { value: entry.value as T, cachedAt: entry.fetchedAt, stale: true }
    }
    this.#misses++
    try {
      return { value: (await this.#join(key, fill, signal)) as T, stale: false }
    } catch (error) {
      if (error instanceof ConnectorError && ABSENT.has(error.code)) {
        this.#absent.set(key, { error, foundAt: this.#options.now() })
      }
      const isForgivable = !onlyFresh && error instanceof ConnectorError && FORGIVABLE.has(error.code)
      if (entry === undefined || !isForgivable || age > freshMs + this.#options.staleMs) throw error
      this.#staleHits++
      return { value: entry.value as T, cachedAt: entry.fetchedAt, stale: true }
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
    for (const flight of this.#flights.values()) flight.controller.abort()
    this.#entries.clear()
    this.#absent.clear()
  }

  /** Waits for the fetch that is under way, or starts one. */
  async #join(key: string, fill: Fill, signal: AbortSignal | undefined): Promise<unknown> {
    for (;;) {
      if (signal?.aborted) throw cancelled()
      const wasGivenUp = this.#flights.get(key)?.controller.signal.aborted ?? false
      const flight = wasGivenUp ? undefined : this.#board(key)
      const fetched = this.#entries.fetch(key, { forceRefresh: true, context: fill })
      if (flight === undefined) {
        // All callers of that fetch had left, so it was aborted: wait for its end and start a new one.
        await fetched.catch(() => undefined)
        continue
      }
      try {
        const entry = await unlessAborted(fetched, signal)
        if (entry !== undefined) return entry.value
      } finally {
        flight.leave()
      }
    }
  }

  #board(key: string): Flight {
    const flight = this.#flights.get(key) ?? new Flight()
    this.#flights.set(key, flight)
    flight.aboard++
    return flight
  }

  async #fetch(key: string, fill: Fill): Promise<Entry> {
    const flight = this.#flights.get(key) ?? new Flight()
    try {
      return { value: await fill(flight.controller.signal), fetchedAt: this.#options.now() }
    } finally {
      if (this.#flights.get(key) === flight) this.#flights.delete(key)
    }
  }
}

/** Counts the callers who wait for one fetch, and aborts it when the last one leaves. */
class Flight {
  readonly controller = new AbortController()
  aboard = 0

  leave(): void {
    if (--this.aboard === 0) this.controller.abort()
  }
}

function cancelled(): ConnectorError {
  return new ConnectorError('cancelled', 'The request was cancelled.')
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
