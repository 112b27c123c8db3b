import { EngineError } from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'

export interface GateLimits {
  /** The most transfers that run at once, in all and of one account. */
  readonly places: number
  readonly placesPerAccount: number
  /** The most transfers that wait at once. */
  readonly queue: number
  /** The longest wait, in milliseconds. */
  readonly wait: number
}

interface Waiting {
  readonly account: number
  readonly enter: () => void
  readonly refuse: (error: Error) => void
}

/** One of this many places is reserved for accounts that have none, so that a few accounts can't take all places. */
const ONE_KEPT_OF = 4

/**
 * Lets a limited number of transfers run at once. A transfer that finds no place waits for a short time. A free place
 * goes to the waiting account that has the fewest places, among equals to the one that came first.
 */
export class Gate {
  readonly #limits: GateLimits
  readonly #work: string
  readonly #inside = new Map<number, number>()
  #taken = 0
  readonly #waiting: Waiting[] = []
  #closed = false

  /** @param work the name of what runs here, such as "downloads" */
  constructor(work: string, limits: GateLimits) {
    this.#work = work
    this.#limits = limits
  }

  get running(): number {
    return this.#taken
  }

  get queued(): number {
    return this.#waiting.length
  }

  /**
   * Takes a place, or waits for one. Dispose the result to give the place back.
   * @throws ServerError `busy`, `shutting_down`; EngineError `cancelled`
   */
  async enter(account: number, signal: AbortSignal): Promise<Disposable> {
    if (this.#closed) throw stopping()
    if (!this.#hasRoom(account)) await this.#wait(account, signal)
    else this.#take(account)
    let inside = true
    return {
      [Symbol.dispose]: () => {
        if (!inside) return
        inside = false
        this.#leave(account)
      },
    }
  }

  /** Refuses all that wait and all that come later. Running transfers keep their places. */
  close(): void {
    this.#closed = true
    for (const waiting of this.#waiting.splice(0)) waiting.refuse(stopping())
  }

  #hasRoom(account: number): boolean {
    const { places, placesPerAccount } = this.#limits
    const own = this.#placesOf(account)
    const open = own === 0 ? places : places - Math.floor(places / ONE_KEPT_OF)
    return this.#taken < open && own < placesPerAccount
  }

  #placesOf(account: number): number {
    return this.#inside.get(account) ?? 0
  }

  #take(account: number): void {
    this.#taken += 1
    this.#inside.set(account, this.#placesOf(account) + 1)
  }

  #leave(account: number): void {
    this.#taken -= 1
    const left = this.#inside.get(account)! - 1
    if (left === 0) this.#inside.delete(account)
    else this.#inside.set(account, left)
    const fitting = this.#waiting.filter((waiting) => this.#hasRoom(waiting.account))
    if (fitting.length === 0) return
    const next = fitting.reduce((best, one) =>
      this.#placesOf(one.account) < this.#placesOf(best.account) ? one : best,
    )
    this.#waiting.splice(this.#waiting.indexOf(next), 1)
    next.enter()
  }

  async #wait(account: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw cancelled()
    if (this.#waiting.length >= this.#limits.queue) throw this.#busy()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting: Waiting = {
      account,
      // The place is taken at once, so that nobody else takes it before the promise's callbacks run.
      enter: () => {
        this.#take(account)
        resolve()
      },
      refuse: reject,
    }
    const giveUp = (error: Error) => {
      const index = this.#waiting.indexOf(waiting)
      if (index < 0) return
      this.#waiting.splice(index, 1)
      reject(error)
    }
    this.#waiting.push(waiting)
    const timer = setTimeout(() => giveUp(this.#busy()), this.#limits.wait)
    const onAbort = () => giveUp(cancelled())
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await promise
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
  }

  #busy(): ServerError {
    return new ServerError('busy', `Too many ${this.#work} are running. Try again in a few seconds.`)
  }
}

/** The error for requests that come while the server is being stopped. */
export function stopping(): ServerError {
  return new ServerError('shutting_down', 'The server is being stopped. Try again in a few seconds.')
}

function cancelled(): EngineError {
  return new EngineError('cancelled', 'The request was abandoned.')
}
