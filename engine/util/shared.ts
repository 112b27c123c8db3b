import { LRUCache } from 'lru-cache'
import { orAborted } from './concurrency.ts'

/** Something that is opened when it is first needed. If opening fails, the next call of `get` tries again. */
export class Lazy<T> {
  readonly #open: () => Promise<T>
  #opening: Promise<T> | undefined

  constructor(open: () => Promise<T>) {
    this.#open = open
  }

  get(): Promise<T> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  /**
   * What is open or being opened, without opening it. Undefined if nothing is, and also if opening fails: callers of
   * `get` receive that error.
   */
  async present(): Promise<T | undefined> {
    return this.#opening?.catch(() => undefined)
  }
}

/** A function that runs at its first call only. */
export function once(run: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    run()
  }
}

/** Counts who uses something, and releases it when the last of them has left. */
export class Users {
  readonly #release: () => void
  #count = 0

  constructor(release: () => void) {
    this.#release = release
  }

  /** Counts one more user. The returned function removes that user; calling it again has no effect. */
  enter(): () => void {
    this.#count += 1
    return once(() => {
      this.#count -= 1
      if (this.#count === 0) this.#release()
    })
  }
}

interface Run<T> {
  readonly result: Promise<T>
  readonly ending: AbortController
  waiting: number
}

/** Work that several callers may ask for at the same time: it runs once, and is aborted when the last one gives up. */
export class SingleFlight<T> {
  readonly #runs = new Map<string, Run<T>>()

  /**
   * @param work started unless work with this key is running already; its signal is aborted when no caller waits for it
   * any more
   * @throws the signal's reason if the signal is aborted, else whatever the work throws
   */
  async run(key: string, work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    const run = this.#runs.get(key) ?? this.#start(key, work)
    run.waiting += 1
    try {
      return await orAborted(run.result, signal)
    } finally {
      run.waiting -= 1
      if (run.waiting === 0 && this.#runs.get(key) === run) {
        this.#runs.delete(key)
        run.ending.abort()
      }
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<T>): Run<T> {
    const ending = new AbortController()
    const run: Run<T> = { result: work(ending.signal), ending, waiting: 0 }
    const forget = () => {
      if (this.#runs.get(key) === run) this.#runs.delete(key)
    }
    run.result.then(forget, forget)
    this.#runs.set(key, run)
    return run
  }
}

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
