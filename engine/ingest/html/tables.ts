import type { Handler } from 'htmlparser2'
import { LONGEST_RECORD, malformed, TOO_LONG } from '../text/errors.ts'
import { type MergedCell, MOST_MERGED } from '../workbook/book.ts'

/** A table of a page, as far as its markup says what it is. */
export interface PageTable {
  caption: string
  readonly id: string
  rows: number
  /** How many columns its widest row has. */
  width: number
  /** Whether all of its rows have as many. */
  isEven: boolean
  /** Whether it has header cells. */
  hasHeader: boolean
  /** How many rows at its beginning name the columns: those of `thead`, or those of header cells alone. */
  headerRows: number
  /** Whether it arranges the page: there are tables or a password in it, or it is only for presentation. */
  isLayout: boolean
  /** How many characters its cells have. */
  length: number
  /** The first row of its foot, and the first text that the page hides, both of which are left out. */
  foot?: string
  hidden?: string
  /** The cells below the header that have a text and cover others. */
  readonly merged: MergedCell[]
}

interface Cell {
  text: string
  readonly isHeader: boolean
  readonly columns: number
  readonly rows: number
}

/** A table that has not ended, and the row and the cell in it. */
interface OpenTable {
  readonly table: PageTable
  readonly number: number
  section: string
  hasHead: boolean
  inCaption: boolean
  cell: Cell | undefined
  cells: string[] | undefined
  /** Whether the row has header cells alone, and how many cells. */
  areHeaders: boolean
  count: number
  /** For each column, how many rows are still covered by a cell above; and by those of the row. */
  covered: number[]
  covering: number[]
}

/** Elements whose text is not shown as text, and those that begin a line. */
const UNSHOWN = /^(?:script|style|title|template|noscript|select|textarea|datalist|svg|xml)$/
const BLOCK = /^(?:br|p|div|li|ul|ol|dl|dt|dd|pre|blockquote|h[1-6]|hr)$/
const SECTION = /^(?:thead|tbody|tfoot)$/

const MOST_DEPTH = 10_000
const MOST_COLUMNS = 16_384
/** The most of HTML (4.9.11). */
const [MOST_COVERED_COLUMNS, MOST_COVERED_ROWS] = [1_000, 65_534]

/** Follows the tables of a page, in the order in which they begin. */
export class PageTables implements Partial<Handler> {
  readonly tables: PageTable[] = []
  /** How many characters of text are outside of tables. */
  outside = 0
  /** Whether the file has ended. */
  isEnd = false
  /** The row in which the file ended, from 1 without the header, and the number of its table. */
  cut: { readonly number: number; readonly row: number } | undefined
  readonly #onRow: ((number: number, cells: readonly string[], isFoot: boolean) => void) | undefined
  readonly #open: OpenTable[] = []
  #depth = 0
  /** Where what is left out began. */
  #skipped: { readonly depth: number; readonly table: PageTable | undefined } | undefined

  /** @param onRow is called with the rows of all tables, by their numbers from 0 */
  constructor(onRow?: (number: number, cells: readonly string[], isFoot: boolean) => void) {
    this.#onRow = onRow
  }

  onopentag(name: string, attributes: Readonly<Record<string, string>>): void {
    if (++this.#depth > MOST_DEPTH)
      throw malformed(`The page has elements within more than ${MOST_DEPTH} others that do not end.`)
    if (this.#skipped) return
    const open = this.#open.at(-1)
    const isHidden = open !== undefined && name !== 'table' && isNotShown(attributes)
    if (isHidden || UNSHOWN.test(name)) {
      this.#skipped = { depth: this.#depth, table: isHidden ? open.table : undefined }
    } else if (name === 'table') this.#beginTable(attributes)
    else if (open) this.#openIn(open, name, attributes)
  }

  onclosetag(name: string): void {
    this.#depth--
    if (this.#skipped) {
      if (this.#depth < this.#skipped.depth) this.#skipped = undefined
      return
    }
    const open = this.#open.at(-1)
    if (!open) return
    if (name === 'table') this.#endTable(open)
    else if (name === 'caption') open.inCaption = false
    else if (name === 'td' || name === 'th') this.#endCell(open)
    else if (name === 'tr') this.#endRow(open)
    else if (SECTION.test(name)) this.#beginSection(open, '')
    else if (open.cell && BLOCK.test(name)) open.cell.text += '\n'
  }

  ontext(text: string): void {
    const open = this.#open.at(-1)
    if (this.#skipped) {
      const { table } = this.#skipped
      if (table && table.hidden === undefined && text.trim() !== '') table.hidden = text.trim()
    } else if (open?.cell) {
      open.cell.text += text.replace(/[ \t\n\f\r]+/g, ' ')
      if (open.cell.text.length > LONGEST_RECORD) throw malformed(`A cell${TOO_LONG}`)
    } else if (open?.inCaption) open.table.caption += text
    else this.outside += text.trim().length
  }

  #beginTable({ id = '', role = '' }: Readonly<Record<string, string>>): void {
    for (const { table } of this.#open) table.isLayout = true
    const table: PageTable = {
      ...{ caption: '', id, rows: 0, width: 0, isEven: true, hasHeader: false, headerRows: 0, length: 0 },
      ...{ isLayout: /^(?:none|presentation)$/.test(role), merged: [] },
    }
    this.#open.push({
      ...{ table, number: this.tables.length, section: '', hasHead: false, inCaption: false },
      ...{ cell: undefined, cells: undefined, areHeaders: true, count: 0, covered: [], covering: [] },
    })
    this.tables.push(table)
  }

  #endTable(open: OpenTable): void {
    this.#endRow(open)
    open.table.caption = shown(open.table.caption, ' ')
    if (this.isEnd) this.cut ??= { number: open.number, row: open.table.rows - (open.table.headerRows || 1) }
    this.#open.pop()
  }

  #openIn(open: OpenTable, name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'caption') open.inCaption = true
    else if (SECTION.test(name)) this.#beginSection(open, name)
    else if (name === 'tr') this.#beginRow(open)
    else if (name === 'td' || name === 'th') {
      if (!open.cells) this.#beginRow(open)
      this.#endCell(open)
      const isHeader = name === 'th'
      const columns = covers(attributes['colspan'], MOST_COVERED_COLUMNS)
      const rows = covers(attributes['rowspan'], MOST_COVERED_ROWS)
      open.cell = { text: '', isHeader, columns: columns || 1, rows: rows || MOST_COVERED_ROWS }
    } else if (open.cell && BLOCK.test(name)) open.cell.text += '\n'
    else if (name === 'input' && attributes['type']?.toLowerCase() === 'password') open.table.isLayout = true
  }

  /** Cells cover no rows of another section. */
  #beginSection(open: OpenTable, name: string): void {
    this.#endRow(open)
    open.covered = []
    open.section = name
    if (name === 'thead') open.hasHead = true
  }

  #beginRow(open: OpenTable): void {
    this.#endRow(open)
    open.cells = []
    open.areHeaders = true
    open.count = 0
    open.covering = []
  }

  #endCell(open: OpenTable): void {
    const { cell, cells, covering, section, table } = open
    open.cell = undefined
    if (!cell || !cells) return
    skipCovered(open, cells)
    const text = shown(cell.text, cell.isHeader ? ' ' : '\n')
    const column = cells.length
    const isMerged = cell.columns * cell.rows > 1 && text !== '' && section !== 'tfoot'
    if (isMerged && table.merged.length < MOST_MERGED)
      table.merged.push({ row: table.rows + 1, column, columns: cell.columns, rows: cell.rows })
    for (let at = 0; at < cell.columns; at++) {
      covering[cells.length] = cell.rows - 1
      cells.push(at === 0 ? text : '')
    }
    if (cells.length > MOST_COLUMNS)
      throw malformed(`The table has more than ${MOST_COLUMNS} columns in row ${table.rows + 1}.`)
    open.count++
    open.areHeaders &&= cell.isHeader
    table.hasHeader ||= cell.isHeader
    table.length += text.length
  }

  #endRow(open: OpenTable): void {
    this.#endCell(open)
    const { cells, table, section, covering, count } = open
    open.cells = undefined
    if (!cells) return
    skipCovered(open, cells)
    covering.forEach((rows, column) => {
      if (rows > 0) open.covered[column] = rows
    })
    const isEmpty = cells.every((text) => text === '')
    if (cells.length === 0 || (isEmpty && section === 'thead')) return
    const isFoot = section === 'tfoot'
    if (isFoot) table.foot ??= cells.filter((text) => text !== '').join('; ')
    else {
      table.isEven &&= table.rows === 0 || cells.length === table.width
      table.width = Math.max(table.width, cells.length)
      const isHeader = section === 'thead' || (!open.hasHead && open.areHeaders && !isEmpty)
      // One cell over all columns is a title.
      const isTitle = count === 1 && cells.length > 1
      if (isHeader && !isTitle && table.headerRows === table.rows) table.headerRows++
      table.rows++
    }
    this.#onRow?.(open.number, cells, isFoot)
  }
}

/** Adds the cells that are covered by those above. */
function skipCovered({ covered }: OpenTable, cells: string[]): void {
  while ((covered[cells.length] ?? 0) > 0) {
    covered[cells.length]!--
    cells.push('')
  }
}

function covers(text: string | undefined, most: number): number {
  const value = Number.parseInt(text ?? '1', 10)
  return value >= 0 ? Math.min(value, most) : 1
}

function isNotShown({ hidden, style = '' }: Readonly<Record<string, string>>): boolean {
  return hidden !== undefined || /(?:^|;)\s*display\s*:\s*none\b/i.test(style)
}

/** A text as a browser shows it, without the spaces around its lines. */
function shown(text: string, newline: string): string {
  if (!/\s/.test(text)) return text
  return text
    .split('\n')
    .map((line) => line.trim().replace(/ {2,}/g, ' ').replaceAll('\u00a0', ' '))
    .filter((line) => line !== '')
    .join(newline)
}
