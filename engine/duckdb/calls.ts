import { POOL_THREADS } from '../util/pool-threads.ts'
import { Semaphore } from '../util/semaphore.ts'
import { cancelled, engineError } from './errors.ts'

/**
 * Shared by everything in the process that calls DuckDB off the main thread. Each call blocks a thread of libuv's pool.
 */
const places = new Semaphore(Math.max(1, POOL_THREADS - 2))

const INTERRUPT_MS = 5

/**
 * Interrupts a query again and again until the returned timer is cleared, because an interrupt that comes before the
 * query has begun is lost.
 */
export function keepInterrupting(interruptQuery: () => void): NodeJS.Timeout {
  interruptQuery()
  return setInterval(interruptQuery, INTERRUPT_MS)
}

/** The calls of one connection: one at a time, within the limit of the process, and all of them interruptible. */
export class Calls {
  readonly #interruptQuery: () => void
  #running: Promise<unknown> = Promise.resolve()
  #interrupted = false

  /** @param interruptQuery makes a running call fail soon; harmless if none is running */
  constructor(interruptQuery: () => void) {
    this.#interruptQuery = interruptQuery
  }

  get interrupted(): boolean {
    return this.#interrupted
  }

  /**
   * Runs a call. `keep` receives its result and stores it; it has run before `settled` resolves.
   * @throws EngineError `cancelled` once interrupted, else what the call throws
   */
  async call<T>(call: () => Promise<T>, keep: (value: T) => T): Promise<T> {
    const place = await places.enter()
    try {
      if (this.#interrupted) throw cancelled(undefined)
      const running = call().then(keep)
      this.#running = running
      return await running
    } catch (error) {
      throw this.#interrupted ? cancelled(undefined) : engineError(error, 'query')
    } finally {
      place[Symbol.dispose]()
    }
  }

  /** Makes the running call, and all that follow, fail. */
  interrupt(): void {
    if (this.#interrupted) return
    this.#interrupted = true
    const timer = keepInterrupting(this.#interruptQuery)
    this.settled().finally(() => clearInterval(timer))
  }

  /** Resolves when no call is running. */
  async settled(): Promise<void> {
    await this.#running.catch(() => {})
  }
}
