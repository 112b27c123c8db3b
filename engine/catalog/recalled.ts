import { LRUCache } from 'lru-cache'

/** How many things are kept in memory that were read of the database. */
const MOST = 4_096

/** What was read of the database, or is being read, by names. Who asks while it is read waits for the same reading. */
export class Recalled {
  readonly #values: LRUCache<string, Promise<unknown>>

  /** @param oldest after how many milliseconds it is read anew; Infinity: never for its age */
  constructor(oldest = Number.POSITIVE_INFINITY) {
    this.#values = new LRUCache({ max: MOST, ...(Number.isFinite(oldest) && { ttl: oldest }) })
  }

  get<Value>(name: string, read: () => Promise<Value>): Promise<Value> {
    const known = this.#values.get(name)
    if (known) return known as Promise<Value>
    const value = read()
    this.#values.set(name, value)
    // Only those who asked while it failed hear of it. It may have been forgotten, and read again, by then.
    value.catch(() => {
      if (this.#values.peek(name) === value) this.#values.delete(name)
    })
    return value
  }

  clear(): void {
    this.#values.clear()
  }
}
