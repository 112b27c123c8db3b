import { addAbortListener } from 'node:events'
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
export async function within<T>(milliseconds: number, work: Promise<T>, late: () => Error): Promise<T> {
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
