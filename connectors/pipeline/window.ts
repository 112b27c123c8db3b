import type { Limit } from '../connector.ts'

/**
 * The requests that have been counted. `expiresAt` is in milliseconds since 1970; after it, the entry may be dropped.
 */
export interface LimitEntries {
  load(key: string): { readonly consumed: number; readonly expiresAt: number } | undefined
  save(key: string, consumed: number, expiresAt: number): void
}

/** Keeps the counted requests across restarts, shared by all processes that ask the same providers. */
export interface LimitStore {
  /**
   * Runs `work` on the entries whose keys begin with `name`, and saves its changes. Nobody else reads or writes these
   * entries meanwhile, so that every request is counted on top of all others. `now` is the time of the store's clock,
   * if that isn't this machine's.
   */
  exclusively<T>(name: string, work: (entries: LimitEntries, now?: number) => T): Promise<T>
  /** The entries as this process last saw them, only for display. */
  readonly seen: Pick<LimitEntries, 'load'>
}

const BUCKETS = 24

/**
 * A limit of so many requests in *any* span of so many seconds. We don't know when a provider's own window begins, and
 * fixed windows of our own would let through twice the limit around their edges. So requests are counted in buckets of
 * 1/24 of the span, and a bucket counts until its last moment is a whole span ago.
 */
export class SlidingWindow {
  readonly limit: Limit
  readonly #span: number
  readonly #width: number
  readonly #counts = new Map<number, number>()
  readonly #key: string

  /** `key` distinguishes this window from all others in the store. */
  constructor(limit: Limit, key: string) {
    this.limit = limit
    this.#span = limit.perSeconds * 1000
    this.#width = this.#span / BUCKETS
    this.#key = `${key}/${limit.perSeconds}`
  }

  used(now: number): number {
    for (const bucket of this.#counts.keys()) if (this.#endOf(bucket) <= now) this.#counts.delete(bucket)
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
  }

  /** The moment from which one more request is within the limit; `now` if it already is. */
  freeAt(now: number): number {
    let excess = this.used(now) - this.limit.requests + 1
    if (excess <= 0) return now
    for (const bucket of [...this.#counts.keys()].sort((a, b) => a - b)) {
      excess -= this.#counts.get(bucket)!
      if (excess <= 0) return this.#endOf(bucket)
    }
    return Number.POSITIVE_INFINITY
  }

  /** The moment when the first counted request no longer counts; undefined if none is counted. */
  resetsAt(now: number): number | undefined {
    return this.used(now) === 0 ? undefined : this.#endOf(Math.min(...this.#counts.keys()))
  }

  /**
   * Counts a request, and returns a function that takes it back. `load` must be called with the same entries before
   * either.
   */
  take(entries: LimitEntries, now: number): (entries: LimitEntries) => void {
    const bucket = Math.floor(now / this.#width)
    this.#add(entries, bucket, 1)
    return (later) => this.#add(later, bucket, -1)
  }

  #add(entries: LimitEntries, bucket: number, change: number): void {
    const count = Math.max(0, (this.#counts.get(bucket) ?? 0) + change)
    this.#counts.set(bucket, count)
    entries.save(this.#slot(bucket), count, this.#endOf(bucket))
  }

  #endOf(bucket: number): number {
    return Math.ceil((bucket + 1) * this.#width + this.#span)
  }

  /**
   * Two more slots than buckets that count at the same time, so that a new bucket never overwrites one that still
   * counts.
   */
  #slot(bucket: number): string {
    return `${this.#key}/${bucket % (BUCKETS + 2)}`
  }

  /** Reads the requests that were counted earlier and by other processes. */
  load(entries: Pick<LimitEntries, 'load'>, now: number): void {
    for (let slot = 0; slot < BUCKETS + 2; slot++) {
      const stored = entries.load(this.#slot(slot))
      if (stored === undefined || stored.expiresAt <= now) continue
      const bucket = Math.floor((stored.expiresAt - this.#span) / this.#width + 1e-6) - 1
      this.#counts.set(bucket, stored.consumed)
    }
  }
}

export function memoryEntries(): LimitEntries {
  const stored = new Map<string, { consumed: number; expiresAt: number }>()
  return {
    load: (key) => stored.get(key),
    save: (key, consumed, expiresAt) => void stored.set(key, { consumed, expiresAt }),
  }
}

export function memoryStore(): LimitStore {
  const seen = memoryEntries()
  return { exclusively: async (_name, work) => work(seen), seen }
}
