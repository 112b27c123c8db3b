/** Lets a number of holders in at once; the others wait in the order in which they came. */
export class Semaphore {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(places: number) {
    this.#free = places
  }

  /** Waits for a free place. Dispose the result to free the place again. */
  async enter(): Promise<Disposable> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    let inside = true
    return {
      [Symbol.dispose]: () => {
        if (!inside) return
        inside = false
        const next = this.#waiting.shift()
        if (next) next()
        else this.#free += 1
      },
    }
  }
}
