/** Runs work that no caller waits for, one piece after another. */
export class Background {
  readonly #possible: () => boolean
  readonly #running = new Set<Promise<void>>()

  /** @param possible whether there still is something to work on; asked before each piece */
  constructor(possible: () => boolean) {
    this.#possible = possible
  }

  /** @param failed is told why, where the work fails */
  later(work: () => void | Promise<void>, failed: (error: unknown) => void): void {
    const run = (async () => {
      await new Promise(setImmediate)
      if (this.#possible()) await work()
    })()
      .catch(failed)
      .finally(() => this.#running.delete(run))
    this.#running.add(run)
  }

  /** Waits for what is under way, and for what that brings about. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}
