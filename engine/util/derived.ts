import { LRUCache } from 'lru-cache'

/** How many values are kept of a list. */
const MOST = 16

/** Values that are made of lists which never change: each is made once for a list and a key, while the list is in use. */
export class Derived<List extends object, Value extends object> {
  readonly #lists = new WeakMap<List, LRUCache<string, Value>>()

  get(list: List, key: string, make: () => Value): Value {
    const values = this.#lists.get(list) ?? new LRUCache<string, Value>({ max: MOST })
    this.#lists.set(list, values)
    const value = values.get(key) ?? make()
    values.set(key, value)
    return value
  }
}
