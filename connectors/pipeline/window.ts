import type { Limit } from '../connector.ts'

/** What has been spent. `expiresAt` is in milliseconds since 1970; after it, the entry may be dropped. */
export interface LimitEntries {
  load(key: string): { readonly consumed: number; readonly expiresAt: number } | undefined
  save(key: string, consumed: number, expiresAt: number): void
}

/** Keeps what has been spent, across restarts and for all processes that ask the same providers. */
export interface LimitStore {
  /**
   * Runs over the entries whose keys begin with a name, and keeps what is saved, so that nobody else reads or writes
   * them meanwhile: whoever counts a request has seen all the others. `now` is the clock of who keeps the entries, where
   * that is not this machine's.
   */
  exclusively<T>(name: string, work: (entries: LimitEntries, now?: number) => T): Promise<T>
  /** The entries as this process saw them last, for showing them. */
  readonly seen: Pick<LimitEntries, 'load'>
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
  readonly #key: string

  /** `key` tells this window from all others in the store. */
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

  /** Counts a request, and returns how to take it back. Both belong behind a `load` of the same entries. */
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

  /** Two more than live at once are enough to write over nothing that still counts. */
  #slot(bucket: number): string {
    return `${this.#key}/${bucket % (BUCKETS + 2)}`
  }

  /** Takes in what was spent before, and by other processes. */
  load(entries: Pick<LimitEntries, 'load'>, now: number): void {
    for (let slot = 0; slot < BUCKETS + 2; slot++) {
      const kept = entries.load(this.#slot(slot))
      if (kept === undefined || kept.expiresAt <= now) continue
      const bucket = Math.floor((kept.expiresAt - this.#span) / this.#width + 1e-6) - 1
      this.#counts.set(bucket, kept.consumed)
    }
  }
}

export function memoryEntries(): LimitEntries {
  const kept = new Map<string, { consumed: number; expiresAt: number }>()
  return {
    load: (key) => kept.get(key),
    save: (key, consumed, expiresAt) => void kept.set(key, { consumed, expiresAt }),
  }
}

export function memoryStore(): LimitStore {
  const seen = memoryEntries()
  return { exclusively: async (_name, work) => work(seen), seen }
}
