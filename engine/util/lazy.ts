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

/** Counts who uses something, and releases it when the last of them has left. */
export class Users {
  readonly #release: () => void
  #count = 0

  constructor(release: () => void) {
    this.#release = release
  }

  /** Counts one more user. The returned function removes that user; calling it again has no effect. */
  enter(): () => void {
    this.#count += 1
    return once(() => {
      this.#count -= 1
      if (this.#count === 0) this.#release()
    })
  }
}
