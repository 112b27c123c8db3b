import { EngineError } from '../../errors.ts'

const MOST_BLANK = 1_000_000
const MOST_BLANK_FOR_EACH = 200

/**
 * Counts the cells without a value, and limits them by the number of cells with one. A row of a few bytes may have
 * 16,384 columns without a value in almost all of them, so that otherwise a small file could make a huge table.
 */
export class Blanks {
  #blank = 0
  #held = 0

  /**
   * Counts a row with this many cells, of which `held` have a value.
   * @throws EngineError `upload_too_large`
   */
  add(row: number, cells: number, held: number): void {
    this.#blank += cells - held
    this.#held += held
    if (this.#blank <= MOST_BLANK + MOST_BLANK_FOR_EACH * this.#held) return
    throw new EngineError(
      'upload_too_large',
      `The table is too sparse: up to row ${row} it has ${this.#held} cells with a value and ${this.#blank} empty ` +
        'ones.',
      { details: { row } },
    )
  }
}
