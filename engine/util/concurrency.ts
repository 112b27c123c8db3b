import { addAbortListener } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { EngineError } from '../errors.ts'

/** Work that is under way, so that closing can wait for it. */
export class InFlight {
  readonly #running = new Set<Promise<unknown>>()
  #ended = false

  /** @throws EngineError `cancelled` after `end` was called */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#ended) throw new EngineError('cancelled', 'The data directory is being closed.')
    const running = work()
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  /** Refuses new work from now on; resolves when all work under way is done. */
  async end(): Promise<void> {
    this.#ended = true
    await Promise.allSettled(this.#running)
  }
}

/** Gives the result of work, or throws an error if it is not there in time. The work itself goes on. */
export async function withTimeout<T>(milliseconds: number, work: Promise<T>, late: () => Error): Promise<T> {
  const ended = Promise.withResolvers<never>()
  const timer = setTimeout(() => ended.reject(late()), milliseconds)
  try {
    return await Promise.race([work, ended.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Settles with the work, but rejects at once when the signal is aborted. The work itself goes on. */
export async function orAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  error: () => unknown = () => signal?.reason,
): Promise<T> {
  if (!signal) return work
  const aborted = Promise.withResolvers<never>()
  if (signal.aborted) aborted.reject(error())
  using _ = addAbortListener(signal, () => aborted.reject(error()))
  return await Promise.race([aborted.promise, work])
}

/** How long work waits that is done once however often it is asked for, so that it is not done for each of many requests. */
const GATHERING_MS = 50

/** Runs work that no caller waits for. Each piece of work starts soon after `later` was called. */
export class Background {
  readonly #possible: () => boolean
  readonly #run: (work: () => Promise<void>) => Promise<void>
  readonly #running = new Set<Promise<void>>()
  /** Whether work that is done once at a time was asked for again meanwhile. */
  readonly #again = new Map<() => unknown, boolean>()
  /** Ends the waiting of work that waits for further requests. */
  readonly #waiting = new Set<() => void>()

  /**
   * @param possible whether work can still be done; asked before each piece of work, which is left out if not
   * @param run runs a piece of work
   */
  constructor(possible: () => boolean, run: (work: () => Promise<void>) => Promise<void>) {
    this.#possible = possible
    this.#run = run
  }

  /** @param failed called with the error if the work fails */
  later(
    work: () => void | Promise<void>,
    failed: (error: unknown) => void,
    ended: () => void = () => {},
    start: () => Promise<unknown> = nextTurn,
  ): void {
    const run = this.#run(async () => {
      await start()
      if (this.#possible()) await work()
    })
      .catch(failed)
      .finally(() => {
        this.#running.delete(run)
        ended()
      })
    this.#running.add(run)
  }

  /** Like `later`, but while the same function waits or runs, however often it is asked for, it runs once more. It waits a little. */
  laterOnce(work: () => void | Promise<void>, failed: (error: unknown) => void): void {
    if (this.#again.has(work)) {
      this.#again.set(work, true)
      return
    }
    this.#again.set(work, false)
    const ended = () => {
      const again = this.#again.get(work)
      this.#again.delete(work)
      if (again) this.laterOnce(work, failed)
    }
    this.later(work, failed, ended, () => this.#gather())
  }

  async #gather(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, GATHERING_MS)
    this.#waiting.add(resolve)
    await promise
    this.#waiting.delete(resolve)
    clearTimeout(timer)
  }

  /** Starts all work that waits, and waits for it and for the work that it starts in turn. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) {
      for (const start of this.#waiting) start()
      await Promise.all(this.#running)
    }
  }
}

/** If others take longer than this in one turn of the event loop, they are likely to have more to do. */
const BUSY_MS = 0.1
const MOST_TURNS = 20

/** Lets others go on that have something to do in this thread. Long work calls it every millisecond or so. */
export async function turn(): Promise<void> {
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    const before = performance.now()
    await nextTurn()
    if (performance.now() - before < BUSY_MS) return
  }
}

/** How many small writes of a group are read, or answered, in one turn of the event loop. */
const WRITES_A_TURN = 4

/**
 * The items of a group of small writes, some in each turn of the event loop: requests that are over in a millisecond need
 * not wait until all of a large group are read, or answered.
 */
export async function* paced<Item>(group: Iterable<Item>): AsyncGenerator<Item, void, undefined> {
  let count = 0
  for (const item of group) {
    if (++count % WRITES_A_TURN === 0) await nextTurn()
    yield item
  }
}

const INSIDE = 1
const FORBIDDEN = 2

/**
 * Keeps a thread from being ended while it is inside of native code. A thread that Node ends there can't throw the
 * exceptions of the native code any more, and Node answers that by aborting the process. So the thread runs such code
 * in `run`, and whoever wants to end the thread asks for `forbid` first.
 */
export class NativeSection {
  /** To be given to the other thread, which makes its own object of it. */
  readonly memory: SharedArrayBuffer
  readonly #state: Int32Array

  constructor(memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#state = new Int32Array(memory)
  }

  /** Throws, without running anything, once that is forbidden. */
  run<Result>(native: () => Result): Result {
    try {
      if (Atomics.or(this.#state, 0, INSIDE) & FORBIDDEN) throw new Error('The thread is being ended')
      return native()
    } finally {
      Atomics.and(this.#state, 0, ~INSIDE)
      Atomics.notify(this.#state, 0)
    }
  }

  /** Resolves when the thread is outside of native code, and stays there. */
  async forbid(): Promise<void> {
    Atomics.or(this.#state, 0, FORBIDDEN)
    while (Atomics.load(this.#state, 0) & INSIDE) {
      await Atomics.waitAsync(this.#state, 0, INSIDE | FORBIDDEN).value
    }
  }

  /** Like `forbid`, for where nothing can be awaited any more. Gives up after `milliseconds`. */
  forbidHere(milliseconds: number): void {
    Atomics.or(this.#state, 0, FORBIDDEN)
    Atomics.wait(this.#state, 0, INSIDE | FORBIDDEN, milliseconds)
  }
}
