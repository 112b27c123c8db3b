/** Something that is opened when it is first wanted. Where that fails, whoever comes next tries again. */
export class Opened<T> {
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

  /** What is open or being opened; undefined where nothing is, or where it fails, which those hear who wanted it. */
  async present(): Promise<T | undefined> {
    return this.#opening?.catch(() => undefined)
  }
}
