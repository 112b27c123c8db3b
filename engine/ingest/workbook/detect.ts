import { findTable, type TableSample } from '../csv/detect.ts'
import { isUsualNull } from '../csv/words.ts'
import type { Detected } from '../dialect.ts'
import type { Choice, UploadOptions } from '../request.ts'
import type { KnownColumns } from '../targets.ts'
import { type MergedCell, MOST_ROWS, type SheetCell } from './book.ts'

const SAMPLE_ROWS = 1000
/** So many rows at the end are looked at for notes and totals. */
const END_ROWS = 40
const MOST_CELLS = 200_000

/** A row that has values, with its number in the sheet. */
export interface SheetRow {
  readonly row: number
  readonly cells: readonly SheetCell[]
}

/** The first and last rows of a sheet, by which `dialect=auto` finds the table in it. */
export class SheetSample {
  readonly #start: SheetRow[] = []
  #end: SheetRow[] = []

  add(row: SheetRow): void {
    if (this.#start.length < SAMPLE_ROWS) this.#start.push(row)
    this.#end.push(row)
    if (this.#end.length > 2 * END_ROWS) this.#end = this.#end.slice(-END_ROWS)
  }

  /**
   * Titles above the header, names that are missing, notes and totals below the table, by the rules for csv. Cells have
   * types, so that their values need no options, except for words for nothing.
   */
  detect(
    { dialect: _, ...given }: UploadOptions,
    known: KnownColumns,
    merged: readonly MergedCell[] = [],
  ): Detected {
    const sheet = { delimiter: ',', decimal: '.', quotes: '"' } as const
    const find = (more?: UploadOptions) =>
      findTable(this.#csv(), 'csv', { ...given, ...sheet, ...more }, { ...known, columns: [] })
    const plain = find()
    const { skip = 0, headerRows = given.headerRows } = plain.options
    const isMerged = headerRows === undefined && this.#hasMergedHeader(given.skip ?? skip, merged)
    const { options, why: shown, header } = isMerged ? find({ headerRows: 2 }) : plain
    const why = isMerged ? [...shown, { option: 'headerRows', ...header }] : shown
    const { header: _header, ...found } = options
    const words = given.nulls ? [] : this.#words({ ...given, ...found })
    const nulls = [...new Set(words.map(({ value }) => value))]
    return {
      options: { ...given, ...found, ...(nulls.length > 0 && { nulls, textNulls: 'keep' }) },
      why: [...why.filter(({ option }) => option in found), ...words.slice(0, 1)],
      columns: [],
    }
  }

  /** Whether the first row of the table has cells over several columns, each of which the row below it names. */
  #hasMergedHeader(skip: number, merged: readonly MergedCell[]): boolean {
    const [upper, lower] = this.#start.filter(({ row }) => row > skip)
    const over = merged.filter(({ row, columns }) => row === upper?.row && columns > 1)
    if (!upper || upper.cells.length < 2 || over.length === 0 || lower?.row !== upper.row + 1) return false
    const named = new Set(lower.cells.map(({ column }) => column))
    const columns = over.flatMap((cell) => Array.from({ length: cell.columns }, (_, at) => cell.column + at))
    return lower.cells.every(({ isText }) => isText) && columns.every((column) => named.has(column))
  }

  /** Words for nothing in columns whose other cells are not text. */
  #words({ skip = 0, headerRows = 1, footer = 0 }: UploadOptions): readonly Choice[] {
    const [header, ...below] = this.#start.filter(({ row }) => row > skip).slice(headerRows - 1)
    const isWhole = this.#start.at(-1) === this.#end.at(-1)
    const rows = isWhole ? below.slice(0, below.length - footer) : below
    const words = new Map<number, Choice[]>()
    const [values, texts] = [new Set<number>(), new Set<number>()]
    for (const { row, cells } of rows) {
      for (const { column, text, isText } of cells) {
        if (!isText) values.add(column)
        else if (!isUsualNull(text)) texts.add(column)
        else {
          const choice = { option: 'nulls', row: row - header!.row, value: text }
          words.set(column, [...(words.get(column) ?? []), choice])
        }
      }
    }
    return [...words].flatMap(([column, found]) => (values.has(column) && !texts.has(column) ? found : []))
  }

  #csv(): TableSample {
    const width = Math.max(1, ...this.#start.map(widthOf))
    const start = this.#start.slice(0, Math.max(END_ROWS, MOST_CELLS / width))
    const end = this.#end.slice(-END_ROWS)
    const last = end.at(-1)
    const isWhole = last === start.at(-1)
    const text = csvOf(start, 1, width)
    // The table goes on in the next sheet.
    if (last?.row === MOST_ROWS) return { text, end: '', isWhole: false }
    return { text, end: isWhole ? text : csvOf(end, end[0]!.row, width), isWhole }
  }
}

const widthOf = ({ cells }: SheetRow) => cells.at(-1)!.column + 1
/** More rows without values are no part of titles and notes. */
const MOST_BLANK = 100

/** Rows as csv with one line for each row of the sheet. Single cells at both ends are lines of their own, as titles are. */
function csvOf(rows: readonly SheetRow[], from: number, width: number): string {
  const isLong = (row: SheetRow) => row.cells.length > 1
  const [first, last] = [rows.findIndex(isLong), rows.findLastIndex(isLong)]
  let next = from
  let text = ''
  rows.forEach((row, at) => {
    const fields: string[] = Array.from({ length: at < first || at > last ? widthOf(row) : width }, () => '')
    for (const { column, text, isText } of row.cells)
      if (column < fields.length) fields[column] = quoted(text, isText)
    text += `${'\n'.repeat(Math.min(row.row - next, MOST_BLANK))}${fields.join()}\n`
    next = row.row + 1
  })
  return text
}

const LONGEST = 200
const quoted = (text: string, isText: boolean) =>
  isText
    ? `"${text
        .slice(0, LONGEST)
        .replaceAll('"', '""')
        .replace(/[\r\n]+/g, ' ')}"`
    : text
