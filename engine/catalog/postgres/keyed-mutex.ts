import { EngineError } from '../../errors.ts'
import { within } from '../../util/in-flight.ts'

/** Runs work of the same name one after the other. */
export class KeyedMutex {
  /** By name, what ends when all work that came so far has ended. */
  readonly #last = new Map<string, Promise<void>>()

  /** @throws EngineError `locked` if the turn did not come within so many milliseconds */
  async run<T>(name: string, patience: number, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name)
    const ended = Promise.withResolvers<void>()
    const last = before ? before.then(() => ended.promise) : ended.promise
    this.#last.set(name, last)
    try {
      if (before) await within(patience, before, late)
      return await work()
    } finally {
      ended.resolve()
      if (this.#last.get(name) === last) this.#last.delete(name)
    }
  }
}

function late(): EngineError {
  return new EngineError('locked', 'Others are writing the same. Try again.')
}
