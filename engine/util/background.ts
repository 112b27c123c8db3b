/** Runs work that no caller waits for. Each piece of work starts soon after `later` was called. */
export class Background {
  readonly #possible: () => boolean
  readonly #run: (work: () => Promise<void>) => Promise<void>
  readonly #running = new Set<Promise<void>>()
  /** Whether work that is done once at a time was asked for again meanwhile. */
  readonly #again = new Map<() => unknown, boolean>()

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
  ): void {
    const run = this.#run(async () => {
      await new Promise(setImmediate)
      if (this.#possible()) await work()
    })
      .catch(failed)
      .finally(() => {
        this.#running.delete(run)
        ended()
      })
    this.#running.add(run)
  }

  /** Like `later`, but while the same function waits or runs, however often it is asked for, it runs once more. */
  laterOnce(work: () => void | Promise<void>, failed: (error: unknown) => void): void {
    if (this.#again.has(work)) {
      this.#again.set(work, true)
      return
    }
    this.#again.set(work, false)
    this.later(work, failed, () => {
      const again = this.#again.get(work)
      this.#again.delete(work)
      if (again) this.laterOnce(work, failed)
    })
  }

  /** Waits for all work under way, and for the work that it starts in turn. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}
