import { LRUCache } from 'lru-cache'

/** The most values that are kept in memory. */
const MOST = 4_096

/** Values that were read, by name. Callers that ask for a value while it is being read share that one read. */
export class ReadCache {
  readonly #values: LRUCache<string, Promise<unknown>>

  /** @param oldest after how many milliseconds a value is read anew; Infinity: age does not matter */
  constructor(oldest = Number.POSITIVE_INFINITY) {
    this.#values = new LRUCache({ max: MOST, ...(Number.isFinite(oldest) && { ttl: oldest }) })
  }

  get<Value>(name: string, read: () => Promise<Value>): Promise<Value> {
    const known = this.#values.get(name)
    if (known) return known as Promise<Value>
    const value = read()
    this.#values.set(name, value)
    // A failed read is forgotten, so that only the callers who waited for it get its error. By the time it fails, the
    // name may already stand for a newer read, which stays.
    value.catch(() => {
      if (this.#values.peek(name) === value) this.#values.delete(name)
    })
    return value
  }

  /** Forgets the values of these names, or all. */
  forget(names: readonly string[] | undefined): void {
    if (!names) this.#values.clear()
    else for (const name of names) this.#values.delete(name)
  }
}
