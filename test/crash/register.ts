/** A value that one client alone sets: what it may be after answers that came, and after one that was lost. */
export class Register<T> {
  readonly name: string
  #possible: readonly T[]

  constructor(name: string, value: T) {
    this.name = name
    this.#possible = [value]
  }

  /** What it is known to be. @throws where an answer was lost since it was last looked at */
  get value(): T {
    if (this.#possible.length > 1) throw new Error(`${this.name} is not known`)
    return this.#possible[0]!
  }

  /** The values that it may have. */
  get possible(): readonly T[] {
    return this.#possible
  }

  /** A change to `value` that was acknowledged, refused, or of which nobody was told. */
  set(value: T, outcome: Outcome): void {
    if (outcome === 'done') this.#possible = [value]
    else if (outcome === 'unknown') this.#possible = [...this.#possible, value]
  }

  /** Why it can't have been found to be `found`; undefined where it can, and from then on it is. */
  settle(found: T): string | undefined {
    if (!this.#possible.includes(found)) {
      return `${this.name} is ${JSON.stringify(found)}; possible is ${JSON.stringify(this.#possible)}`
    }
    this.#possible = [found]
    return undefined
  }
}

export type Outcome = 'done' | 'refused' | 'unknown'
