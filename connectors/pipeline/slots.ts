import { cancelled } from '../errors.ts'
import { Failure } from '../failures.ts'
import type { Allowance } from './allowances.ts'
import type { Layer } from './layer.ts'

/**
 * Limits how many requests with one allowance are under way at once; the others wait in line. `waitMs` limits the wait, so
 * that with a provider that hangs, requests in line don't take longer than those under way.
 */
export function limitConcurrency(concurrency: number, waitMs: number): Layer {
  const lines = new WeakMap<Allowance, WaitQueue>()
  return (next) => async (exchange) => {
    let line = lines.get(exchange.allowance)
    if (line === undefined) lines.set(exchange.allowance, (line = new WaitQueue(concurrency)))
    if (!(await line.enter(exchange.signal, waitMs))) {
      throw exchange.signal?.aborted ? cancelled() : new Failure('crowded')
    }
    try {
      return await next(exchange)
    } finally {
      line.leave()
    }
  }
}

class WaitQueue {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(places: number) {
    this.#free = places
  }

  /** Resolves to false if the signal or the end of the wait ended it. */
  enter(signal: AbortSignal | undefined, waitMs: number): Promise<boolean> {
    if (this.#free > 0) {
      this.#free--
      return Promise.resolve(true)
    }
    return new Promise((resolve) => {
      const settle = (isIn: boolean) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', giveUp)
        this.#waiting.delete(admit)
        resolve(isIn)
      }
      const admit = () => settle(true)
      const giveUp = () => settle(false)
      const timer = setTimeout(giveUp, waitMs)
      signal?.addEventListener('abort', giveUp)
      this.#waiting.add(admit)
    })
  }

  leave(): void {
    const [first] = this.#waiting
    if (first === undefined) this.#free++
    else first()
  }
}
