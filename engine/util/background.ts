/** Runs work that no caller waits for. Each piece of work starts soon after `later` was called. */
export class Background {
  readonly #possible: () => boolean
  readonly #run: (work: () => Promise<void>) => Promise<void>
  readonly #running = new Set<Promise<void>>()

  /**
   * @param possible whether work can still be done; asked before each piece of work, which is left out if not
   * @param run runs a piece of work
   */
  constructor(possible: () => boolean, run: (work: () => Promise<void>) => Promise<void>) {
    this.#possible = possible
    this.#run = run
  }

  /** @param failed called with the error if the work fails */
  later(work: () => void | Promise<void>, failed: (error: unknown) => void): void {
    const run = this.#run(async () => {
      await new Promise(setImmediate)
      if (this.#possible()) await work()
    })
      .catch(failed)
      .finally(() => this.#running.delete(run))
    this.#running.add(run)
  }

  /** Waits for all work under way, and for the work that it starts in turn. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}
