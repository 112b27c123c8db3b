/** Something that is opened when it is first needed. If opening fails, the next call of `get` tries again. */
export class Lazy<T> {
  readonly #open: () => Promise<T>
  #opening: Promise<T> | undefined

  constructor(open: () => Promise<T>) {
    this.#open = open
  }

  get(): Promise<T> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  /**
   * What is open or being opened, without opening it. Undefined if nothing is, and also if opening fails: callers of
   * `get` receive that error.
   */
  async present(): Promise<T | undefined> {
    return this.#opening?.catch(() => undefined)
  }
}

/** A function that runs at its first call only. */
export function once(run: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    run()
  }
}
