import { hint } from '../../errors.ts'
import { columnLetters } from '../../util/column-letters.ts'
import type { ReadRequest } from '../request.ts'
import { TEXT_KIND } from '../text/text-kinds.ts'

/** A cell that has a value. */
export interface SheetCell {
  /** The number of its column, from 0. */
  readonly column: number
  readonly text: string
  readonly kind: number
  readonly isText: boolean
  /** The number is a whole one that a program may have rounded to a double before it wrote it. */
  readonly rounded?: boolean
  /** What it is shown with: `PERCENT`, as a hundred times the number, or the symbol or code of a currency. */
  readonly unit?: string
  /** What is wrong with it as a value, which only counts if its row is not left out. */
  readonly fault?: string
  /** What to do about the fault, where that is not said of another one in the column. */
  readonly remedy?: string
}

export const PERCENT = '%'

/** A formula that a program stored without a value. */
export function formulaWithoutValue(column: number): SheetCell {
  const fault = 'the formula has no value, because no program has calculated it'
  const remedy = `; open the workbook in one and save it, or leave totals at the end out with ${hint('footer=')}`
  return { column, text: '=', kind: TEXT_KIND.text, isText: false, fault, remedy }
}

/** A formula that ended in an error, such as `#DIV/0!`. */
export function failedFormula(column: number, error: string): SheetCell {
  return { column, text: error, kind: TEXT_KIND.text, isText: false, fault: `the formula ended in ${error}` }
}

/** A cell that covers several columns or rows, from `column` and `row` on. */
export interface MergedCell {
  readonly row: number
  readonly column: number
  readonly columns: number
  readonly rows: number
}

/** The numbers of rows that have values, from 1, and of columns, from 0, each in order. */
export interface HiddenCells {
  readonly rows: readonly number[]
  readonly columns: readonly number[]
}

/** More are not kept. */
export const MOST_MERGED = 100_000

/** Our exports continue longer tables on the next sheet. */
export const MOST_ROWS = 1_048_576

/** Is called with each row that has values, numbered from 1. */
export type OnRow = (row: number, cells: readonly SheetCell[]) => void

/** A sheet of a workbook in any format. */
export interface Sheet {
  readonly name: string
  readonly isHidden: boolean
  /**
   * Reads it, and pauses after some rows with the bytes of the file that have been read.
   * @throws EngineError `invalid_upload`, `upload_too_large`
   */
  read(onRow: OnRow): AsyncIterable<number>
  /** Cells whose formula has the value 0, or in old formats an empty text, as before a program has calculated them. */
  readonly zeroFormulas: readonly string[]
  /** Whether a whole number was read that no double is, so that the program writes these with all digits. */
  readonly exactIntegers: boolean
  /** Cells that were read and cover others. */
  readonly merged: readonly MergedCell[]
  /** What was read although the program hides it, as a filter does, in formats of which that is known. */
  readonly hidden?: HiddenCells
  /** Cells with notes or comments, in formats of which that is known. */
  readonly notes?: readonly string[]
}

/** A workbook in any format. */
export interface Book extends AsyncDisposable {
  /** In the order of their tabs. */
  readonly sheets: readonly Sheet[]
}

/** @throws EngineError `invalid_upload` */
export type OpenBook = (request: ReadRequest) => Promise<Book>

/** How many cells a warning names. */
const MOST_NAMED = 10

export function listed(cells: readonly string[]): string {
  const [first, rest] = [cells.slice(0, MOST_NAMED).join(', '), cells.length - MOST_NAMED]
  return `${first}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** A warning for a column of which a cell is shown with a percent sign. @param text its number */
export function percentages(name: string, text: string): string {
  const shown = Number((Number(text) * 100).toPrecision(12))
  return `Column ${JSON.stringify(name)} has percentages as the fractions that the workbook holds: ${shown}% is ${text}.`
}

/** A warning for a column with amounts in several currencies. @param texts the first number of each, by its currency */
export function severalCurrencies(name: string, texts: Readonly<Record<string, string>>): string {
  const shown = listed(Object.entries(texts).map(([currency, text]) => `${text} in ${currency}`))
  return `Column ${JSON.stringify(name)} has amounts in several currencies, of which only the numbers are kept: ${shown}.`
}

/** A warning for merged cells below the header. */
export function covering(merged: readonly MergedCell[]): string {
  const cells = merged.map(({ row, column, columns, rows }) => {
    return `${columnLetters(column)}${row}:${columnLetters(column + columns - 1)}${row + rows - 1}`
  })
  return (
    `Of merged cells, the first has the value, and the others are null: ${listed(cells)}. If each of them should have ` +
    'it, unmerge and fill them in a spreadsheet program, and upload that.'
  )
}
