import { orAborted } from './in-flight.ts'

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
