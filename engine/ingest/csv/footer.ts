import { countedFooter, malformed } from '../text/errors.ts'

/** Holds back the last rows of a file, which are left out. */
export class Footer {
  readonly #rows: number
  readonly #held: Buffer[] = []
  #count = 0
  /** How many rows were above the last blank one. */
  #aboveBlank = 0

  /** @param rows how many are left out */
  constructor(rows: number) {
    this.#rows = rows
  }

  get isNone(): boolean {
    return this.#rows === 0
  }

  /** Notes a blank row, which does not count. */
  blank(): void {
    this.#aboveBlank = this.#count
  }

  /** Takes a row, and gives the one that is not among the last any more. */
  push(row: Buffer): Buffer | undefined {
    this.#count++
    this.#held.push(row)
    return this.#held.length > this.#rows ? this.#held.shift() : undefined
  }

  /** What there is to say at the end of the file. @throws EngineError `invalid_upload` if it has fewer rows */
  warnings(): readonly string[] {
    const [first] = this.#held
    if (this.#held.length < this.#rows)
      throw malformed(`The file has fewer rows than the ${this.#rows} of footer.`, { option: 'footer' })
    const isWithin = this.#aboveBlank > this.#count - this.#rows && this.#aboveBlank < this.#count
    return first && isWithin
      ? [countedFooter(this.#rows, first.toString('utf8', 0, first.length - 1).trim())]
      : []
  }
}
