import { Semaphore } from '../util/semaphore.ts'
import { cancelled, engineError } from './errors.ts'

/**
 * Calls into DuckDB block a thread of libuv's pool, four by default; files, DNS and zlib need it, too. Whoever starts
 * the process may set `UV_THREADPOOL_SIZE`; setting it here counts where nothing has used the pool yet.
 */
process.env['UV_THREADPOOL_SIZE'] ??= '16'
// As libuv reads it: digits at the beginning, and one thread where there are none.
const POOL_THREADS = Number.parseInt(process.env['UV_THREADPOOL_SIZE'], 10) || 1

/** Shared by everything in the process that calls DuckDB off the main thread. */
const places = new Semaphore(Math.max(1, POOL_THREADS - 2))

const INTERRUPT_MS = 5

/**
 * Interrupts a query again and again until the timer that it gives is cleared: an interrupt that comes before the query
 * has begun is lost.
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

  /** @param interruptQuery makes a running call fail soon; harmless where none is running */
  constructor(interruptQuery: () => void) {
    this.#interruptQuery = interruptQuery
  }

  get interrupted(): boolean {
    return this.#interrupted
  }

  /**
   * Runs a call. `keep` takes what it gave before anything that waits for it in `settled` goes on.
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
