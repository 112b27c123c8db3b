import { EngineError } from '../../errors.ts'

const MOST_BLANK = 1_000_000
const MOST_BLANK_FOR_EACH = 200

/** How many cells have no value, and how many have one. */
export interface CountedCells {
  readonly blank: number
  readonly held: number
}

export function tooSparse(blank: number, held: number): boolean {
  return blank > MOST_BLANK + MOST_BLANK_FOR_EACH * held
}

/**
 * Counts the cells without a value, and limits them by the number of cells with one. A row of a few bytes may have
 * 16,384 columns without a value in almost all of them, so that otherwise a small file could make a huge table.
 */
export class Blanks {
  #blank = 0
  #held = 0

  /** The cells counted so far. */
  get counts(): CountedCells {
    return { blank: this.#blank, held: this.#held }
  }

  /**
   * Counts a row with this many cells, of which `held` have a value.
   * @throws EngineError `upload_too_large`
   */
  add(row: number, cells: number, held: number): void {
    this.#blank += cells - held
    this.#held += held
    if (!tooSparse(this.#blank, this.#held)) return
    throw new EngineError(
      'upload_too_large',
      `The table is too sparse: up to row ${row} it has ${this.#held} cells with a value and ${this.#blank} empty ` +
        'ones.',
      { details: { row } },
    )
  }
}
