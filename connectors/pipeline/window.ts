import type { Limit } from '../connector.ts'

/**
 * Keeps what has been spent, across restarts and for all processes that ask the same providers. All methods are
 * synchronous, so that no request can slip in between. `expiresAt` is in milliseconds since 1970; after it, the entry
 * may be dropped.
 */
export interface LimitStore {
  /** Runs so that no other process reads or writes meanwhile: whoever counts a request has seen all the others. */
  exclusively<T>(work: () => T): T
  load(key: string): { readonly consumed: number; readonly expiresAt: number } | undefined
  save(key: string, consumed: number, expiresAt: number): void
}

const BUCKETS = 24

/**
 * A limit of so many requests in *any* span of so many seconds. A provider's own window begins at a moment that we
 * don't know, and windows that we begin ourselves let twice the limit through around their edge; so requests are
 * counted in buckets of a 24th of the span, and a bucket counts until its last moment lies a whole span back.
 */
export class SlidingWindow {
  readonly limit: Limit
  readonly #span: number
  readonly #width: number
  readonly #counts = new Map<number, number>()
  readonly #store: LimitStore
  readonly #key: string

  /** `key` tells this window from all others in the store. */
  constructor(limit: Limit, key: string, store: LimitStore, now: number) {
    this.limit = limit
    this.#span = limit.perSeconds * 1000
    this.#width = this.#span / BUCKETS
    this.#key = `${key}/${limit.perSeconds}`
    this.#store = store
    this.load(now)
  }

  used(now: number): number {
    for (const bucket of this.#counts.keys()) if (this.#endOf(bucket) <= now) this.#counts.delete(bucket)
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
  }

  /** The moment from which one more request is within the limit; `now` where it already is. */
  freeAt(now: number): number {
    let excess = this.used(now) - this.limit.requests + 1
    if (excess <= 0) return now
    for (const bucket of [...this.#counts.keys()].sort((a, b) => a - b)) {
      excess -= this.#counts.get(bucket)!
      if (excess <= 0) return this.#endOf(bucket)
    }
    return Number.POSITIVE_INFINITY
  }

  /** The moment when the first of the spent requests counts no more; undefined where none is spent. */
  resetsAt(now: number): number | undefined {
    return this.used(now) === 0 ? undefined : this.#endOf(Math.min(...this.#counts.keys()))
  }

  /** Counts a request, and returns how to take it back. Both belong between `load` and the next wait. */
  take(now: number): () => void {
    const bucket = Math.floor(now / this.#width)
    this.#add(bucket, 1)
    return () => this.#add(bucket, -1)
  }

  #add(bucket: number, change: number): void {
    const count = Math.max(0, (this.#counts.get(bucket) ?? 0) + change)
    this.#counts.set(bucket, count)
    this.#store.save(this.#slot(bucket), count, this.#endOf(bucket))
  }

  #endOf(bucket: number): number {
    return Math.ceil((bucket + 1) * this.#width + this.#span)
  }

  /** Two more than live at once are enough to write over nothing that still counts. */
  #slot(bucket: number): string {
    return `${this.#key}/${bucket % (BUCKETS + 2)}`
  }

  /** Takes in what other processes have spent. */
  load(now: number): void {
    for (let slot = 0; slot < BUCKETS + 2; slot++) {
      const kept = this.#store.load(this.#slot(slot))
      if (kept === undefined || kept.expiresAt <= now) continue
      const bucket = Math.floor((kept.expiresAt - this.#span) / this.#width + 1e-6) - 1
      this.#counts.set(bucket, kept.consumed)
    }
  }
}

export function memoryStore(): LimitStore {
  const kept = new Map<string, { consumed: number; expiresAt: number }>()
  return {
    exclusively: (work) => work(),
    load: (key) => kept.get(key),
    save: (key, consumed, expiresAt) => void kept.set(key, { consumed, expiresAt }),
  }
}
