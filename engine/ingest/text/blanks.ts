import { EngineError } from '../../errors.ts'

const MOST_BLANK = 1_000_000
const MOST_BLANK_FOR_EACH = 200

/**
 * Counts the cells that rows have by their columns alone. A few bytes may leave out a value in each of 16,384 columns,
 * so what a table costs is bounded by the values that it holds.
 */
export class Blanks {
  #blank = 0
  #held = 0

  /**
   * Takes a row of so many cells, some of which hold a value.
   * @throws EngineError `upload_too_large`
   */
  add(row: number, cells: number, held: number): void {
    this.#blank += cells - held
    this.#held += held
    if (this.#blank <= MOST_BLANK + MOST_BLANK_FOR_EACH * this.#held) return
    throw new EngineError(
      'upload_too_large',
      `The table is too sparse: up to row ${row} it has ${this.#held} cells with a value and ${this.#blank} without.`,
      { details: { row } },
    )
  }
}
