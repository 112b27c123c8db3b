/** What has been opened, to be closed in the opposite order. An `AsyncDisposableStack`, which Node 22 has not. */
export class Closers implements AsyncDisposable {
  #work: (() => unknown)[] = []

  /** Has something closed; gives it back. */
  use<Opened extends AsyncDisposable>(opened: Opened): Opened {
    this.defer(() => opened[Symbol.asyncDispose]())
    return opened
  }

  /** Has something done. */
  defer(work: () => unknown): void {
    this.#work.push(work)
  }

  /** The same in new hands: this one closes nothing any more. */
  move(): Closers {
    const moved = new Closers()
    moved.#work = this.#work
    this.#work = []
    return moved
  }

  /** Closes all, also when closing one of them fails; throws the first failure. */
  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = []
    for (let work = this.#work.pop(); work; work = this.#work.pop()) {
      try {
        await work()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
