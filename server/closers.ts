/** Closes things in the opposite order of their opening. It replaces `AsyncDisposableStack`, which Node 22 lacks. */
export class Closers implements AsyncDisposable {
  #work: (() => unknown)[] = []

  /** Registers something to be closed, and returns it. */
  use<Opened extends AsyncDisposable>(opened: Opened): Opened {
    this.defer(() => opened[Symbol.asyncDispose]())
    return opened
  }

  /** Registers work to be done at closing. */
  defer(work: () => unknown): void {
    this.#work.push(work)
  }

  /** Moves everything into a new object; this one closes nothing any more. */
  move(): Closers {
    const moved = new Closers()
    moved.#work = this.#work
    this.#work = []
    return moved
  }

  /** Closes everything, even if closing one thing fails; then throws the first failure. */
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
