import { EngineError } from '../errors.ts'

/** Writes under way, so that closing can wait for them. */
export class Writes {
  readonly #running = new Set<Promise<unknown>>()
  #ended = false

  /** @throws EngineError `cancelled` after the end */
  async run<T>(write: () => Promise<T>): Promise<T> {
    if (this.#ended) throw new EngineError('cancelled', 'The data directory is being closed.')
    const running = write()
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  /** Refuses others from here on; resolves when those under way are done. */
  async end(): Promise<void> {
    this.#ended = true
    await Promise.allSettled(this.#running)
  }
}
