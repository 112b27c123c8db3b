/** Who takes slots: an account, say. Undefined for work that is nobody's. */
export type Holder = string | number | undefined

export interface SemaphoreOptions {
  /** How many slots one holder may have; by default all. */
  readonly perHolder?: number
  /** How many slots are only for holders that have none; by default none. */
  readonly reserved?: number
  /** How many may wait, at most half of them for one holder; by default any number. */
  readonly queue?: number
  /** How long one waits, in milliseconds; by default until there is a slot. */
  readonly wait?: number
  /** The error when there is no slot in time. */
  readonly crowded?: (crowd: Crowd) => Error
}

/** Why there is no slot: how many are taken, how many of them by the same holder, and how many it may have. */
export interface Crowd {
  readonly taken: number
  readonly own: number
  readonly most: number
}

interface Waiting {
  readonly holder: Holder
  readonly admit: () => void
  readonly refuse: (error: unknown) => void
}

/** The slots of a holder, and when it got its last one, as a number that grows. */
interface Holding {
  own: number
  served: number
}

/**
 * Lets a limited number in at once. A free slot goes to the waiting holder that has the fewest, among equals to the one
 * whose last slot is longest ago, and each holder's own come in their order. So whoever has more than a fair share gets
 * no further slot while others wait.
 */
export class Semaphore {
  readonly #slots: number
  readonly #options: SemaphoreOptions
  readonly #holdings = new Map<Holder, Holding>()
  readonly #waiting: Waiting[] = []
  #taken = 0
  #served = 0
  #closed: (() => Error) | undefined

  constructor(slots: number, options: SemaphoreOptions = {}) {
    this.#slots = slots
    this.#options = options
  }

  get running(): number {
    return this.#taken
  }

  get queued(): number {
    return this.#waiting.length
  }

  /**
   * Waits for a free slot. Dispose the result to free the slot again.
   * @throws the reason of the signal, or what `crowded` or `close` gives
   */
  async enter(holder?: Holder, signal?: AbortSignal): Promise<Disposable> {
    if (this.#closed) throw this.#closed()
    signal?.throwIfAborted()
    if (this.#hasRoom(holder)) this.#take(holder)
    else await this.#wait(holder, signal)
    let inside = true
    return {
      [Symbol.dispose]: () => {
        if (inside) this.#leave(holder)
        inside = false
      },
    }
  }

  /** Refuses all that wait and all that come later. Those inside stay. */
  close(error: () => Error): void {
    this.#closed = error
    for (const { refuse } of this.#waiting.splice(0)) refuse(error())
  }

  #hasRoom(holder: Holder): boolean {
    if (holder === undefined) return this.#taken < this.#slots
    const { perHolder = this.#slots, reserved = 0 } = this.#options
    const own = this.#holdings.get(holder)?.own ?? 0
    return own < perHolder && this.#taken < (own === 0 ? this.#slots : this.#slots - reserved)
  }

  #take(holder: Holder): void {
    const holding = this.#holdings.get(holder) ?? { own: 0, served: 0 }
    this.#taken += 1
    holding.own += 1
    holding.served = ++this.#served
    this.#holdings.set(holder, holding)
  }

  #leave(holder: Holder): void {
    this.#taken -= 1
    this.#holdings.get(holder)!.own -= 1
    for (let next = this.#next(); next; next = this.#next()) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      // The slot is taken at once, so that nobody else takes it before the promise's callbacks run.
      this.#take(next.holder)
      next.admit()
    }
    this.#forget(holder)
  }

  /** Forgets when a holder was served if it neither has slots nor waits for any. */
  #forget(holder: Holder): void {
    if (this.#holdings.get(holder)?.own === 0 && !this.#waiting.some((one) => one.holder === holder))
      this.#holdings.delete(holder)
  }

  /** Who gets a free slot; undefined if nobody waits for whom there is one. */
  #next(): Waiting | undefined {
    let [best, least]: [Waiting?, Holding?] = []
    for (const one of this.#waiting) {
      if (!this.#hasRoom(one.holder)) continue
      const holding = this.#holdings.get(one.holder) ?? { own: 0, served: 0 }
      const isBetter =
        !least || holding.own < least.own || (holding.own === least.own && holding.served < least.served)
      if (isBetter) [best, least] = [one, holding]
    }
    return best
  }

  async #wait(holder: Holder, signal: AbortSignal | undefined): Promise<void> {
    const { queue = Number.POSITIVE_INFINITY, wait } = this.#options
    const before = this.#waiting.filter((one) => one.holder === holder).length
    if (this.#waiting.length >= queue || before >= Math.ceil(queue / 2)) throw this.#crowded(holder)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting: Waiting = { holder, admit: resolve, refuse: reject }
    const giveUp = (error: () => unknown) => {
      const index = this.#waiting.indexOf(waiting)
      if (index < 0) return
      this.#waiting.splice(index, 1)
      this.#forget(holder)
      reject(error())
    }
    this.#waiting.push(waiting)
    const timer = wait === undefined ? undefined : setTimeout(() => giveUp(() => this.#crowded(holder)), wait)
    const onAbort = () => giveUp(() => signal!.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      await promise
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  #crowded(holder: Holder): Error {
    const { crowded = () => new Error('There is no free slot.'), perHolder = this.#slots } = this.#options
    const own = holder === undefined ? 0 : (this.#holdings.get(holder)?.own ?? 0)
    return crowded({ taken: this.#taken, own, most: perHolder })
  }
}

/** The sentence about a slot that could not be had. @param work what runs in the slots, such as "downloads" */
export function crowdedMessage(work: string, { own, most }: Crowd): string {
  const ours = own === 1 ? work.slice(0, -1) : work
  if (own >= most)
    return `Your account is running ${own} ${ours}, the maximum at once. Try again when one has ended.`
  return `Too many ${work} are running${own > 0 ? `, ${own} of them yours` : ''}. Try again in a few seconds.`
}
