import { EngineError } from '../../errors.ts'
import { malformed } from '../text/errors.ts'
import { kindOf, TEXT_KIND } from '../text/text-kinds.ts'
import { hoursText, timestampText } from '../text/value-text.ts'
import {
  failedFormula,
  formulaWithoutValue,
  type MergedCell,
  MOST_MERGED,
  MOST_ROWS,
  PERCENT,
  type SheetCell,
} from '../workbook/book.ts'
import { numberCell } from '../xlsx/sheet.ts'
import { attribute, type XmlHandler } from '../xlsx/xml.ts'

const MOST_COLUMNS = 16_384
/** `document-content`, `body`, `spreadsheet`, `table`: tables further inside are no sheets. */
const SHEET_DEPTH = 4

/** How many cells may be made by repeating others, and how many more for each cell that is written. */
const [REPEATED, REPEATED_EACH] = [20_000_000, 200]

/** A row that has values, and how often it comes. */
export interface OdsRow {
  readonly row: number
  readonly count: number
  readonly cells: readonly SheetCell[]
}

/** Reads the sheets of an OpenDocument spreadsheet (ODF 1.3, part 3, 9): their names, and the rows of one of them. */
export class OdsContent implements XmlHandler {
  readonly sheets: { readonly name: string; readonly isHidden: boolean }[] = []
  /** Whether the sheet that is wanted has been read. */
  isRead = false
  /** Whether a whole number was found that no double is, so that the program writes these with all digits. */
  exactIntegers = false
  readonly merged: MergedCell[] = []
  readonly #wanted: number | undefined
  readonly #hiddenStyles = new Set<string>()
  #rows: OdsRow[] = []
  #depth = 0
  #inSpreadsheet = false
  #style = ''
  /** The number of the last row, from 1, and how often it comes. */
  #row = 0
  #rowCount = 1
  #column = 0
  #cells: SheetCell[] = []
  #written = 0
  #repeated = 0
  /** The attributes of the cell within which it is. */
  #cell: string | undefined
  #cellDepth = 0
  #text: string | undefined
  #inParagraph = false

  /** @param wanted the number of the sheet whose rows are read, from 0 */
  constructor(wanted?: number) {
    this.#wanted = wanted
  }

  /** The rows since the last call. */
  take(): OdsRow[] {
    const rows = this.#rows
    this.#rows = []
    return rows
  }

  open(name: string, attributes: string): void {
    this.#depth++
    if (name === 'spreadsheet' && this.#depth === SHEET_DEPTH - 1) this.#inSpreadsheet = true
    else if (name === 'table' && this.#depth === SHEET_DEPTH && this.#inSpreadsheet)
      this.#beginSheet(attributes)
    else if (name === 'style') this.#style = attribute(attributes, 'name') ?? ''
    else if (name === 'table-properties' && attribute(attributes, 'display') === 'false')
      this.#hiddenStyles.add(this.#style)
    else if (this.sheets.length - 1 === this.#wanted && !this.isRead) this.#openInSheet(name, attributes)
  }

  close(name: string): void {
    if (this.#cell !== undefined) this.#closeInCell()
    else if (name === 'table-row') this.#endRow()
    else if (this.#depth === SHEET_DEPTH && this.sheets.length - 1 === this.#wanted) this.isRead = true
    this.#depth--
  }

  text(piece: string): void {
    if (this.#inParagraph) this.#text += piece
  }

  #beginSheet(attributes: string): void {
    const isHidden = this.#hiddenStyles.has(attribute(attributes, 'style-name') ?? '')
    this.sheets.push({ name: attribute(attributes, 'name') ?? '', isHidden })
  }

  #openInSheet(name: string, attributes: string): void {
    if (this.#cell !== undefined) this.#openInCell(name, attributes)
    else if (name === 'table-row') {
      this.#row++
      this.#rowCount = count(attributes, 'number-rows-repeated')
      this.#column = 0
      this.#cells = []
    } else if (name === 'table-cell' || name === 'covered-table-cell') {
      this.#cell = attributes
      this.#cellDepth = this.#depth
      this.#text = undefined
    }
  }

  /** Of what is in a cell, only its paragraphs are its text: comments and pictures have paragraphs of their own. */
  #openInCell(name: string, attributes: string): void {
    if (this.#depth === this.#cellDepth + 1 && name === 'p') {
      this.#text = this.#text === undefined ? '' : `${this.#text}\n`
      this.#inParagraph = true
    } else if (!this.#inParagraph) return
    else if (name === 's') this.#text += ' '.repeat(Math.min(count(attributes, 'c'), 32_767))
    else if (name === 'tab') this.#text += '\t'
    else if (name === 'line-break') this.#text += '\n'
  }

  #closeInCell(): void {
    if (this.#depth === this.#cellDepth + 1) this.#inParagraph = false
    if (this.#depth !== this.#cellDepth) return
    const attributes = this.#cell!
    this.#cell = undefined
    const found = this.#read(attributes)
    const repeated = count(attributes, 'number-columns-repeated')
    const columns = count(attributes, 'number-columns-spanned')
    const rows = count(attributes, 'number-rows-spanned')
    if (columns * rows > 1 && this.merged.length < MOST_MERGED)
      this.merged.push({ row: this.#row, column: this.#column, columns, rows })
    if (found) {
      if (this.#column + repeated > MOST_COLUMNS) throw this.#bad('there are more than 16,384 columns')
      for (let at = 0; at < repeated; at++) this.#cells.push({ ...found, column: this.#column + at })
      this.#written++
    }
    this.#column += repeated
  }

  #endRow(): void {
    const [cells, row, times] = [this.#cells, this.#row, this.#rowCount]
    this.#row += times - 1
    if (cells.length === 0) return
    if (this.#row > MOST_ROWS) throw malformed(`The sheet has more than ${MOST_ROWS} rows.`)
    this.#repeated += cells.length * times
    if (this.#repeated > REPEATED + REPEATED_EACH * this.#written) {
      throw new EngineError(
        'upload_too_large',
        `The sheet repeats its cells too often: up to row ${this.#row} it makes ${this.#repeated} cells of ${this.#written}.`,
      )
    }
    this.#rows.push({ row, count: times, cells })
    this.#cells = []
  }

  #read(attributes: string): SheetCell | undefined {
    const type = attribute(attributes, 'value-type')
    const formula = attribute(attributes, 'formula')
    const text = this.#text
    const isError = attribute(attributes, 'calcext:value-type') === 'error' || type === 'error'
    if (isError || (formula !== undefined && ERROR.test(text ?? ''))) {
      if (text === NOT_AVAILABLE) return undefined
      return failedFormula(this.#column, text || 'an error')
    }
    switch (type) {
      case 'float':
        return this.#number(attribute(attributes, 'value') ?? '')
      case 'currency':
        return this.#number(attribute(attributes, 'value') ?? '', attribute(attributes, 'currency'))
      case 'percentage':
        return this.#number(attribute(attributes, 'value') ?? '', PERCENT)
      case 'boolean':
        return this.#cellOf(attribute(attributes, 'boolean-value') ?? '', TEXT_KIND.boolean, /^(true|false)$/)
      case 'date':
        return this.#moment(attribute(attributes, 'date-value') ?? '')
      case 'time':
        return this.#time(attribute(attributes, 'time-value') ?? '')
      default: {
        const value = attribute(attributes, 'string-value') ?? text
        if (value !== undefined) return this.#textCell(value)
        if (formula === undefined || type !== undefined) return undefined
        return formulaWithoutValue(this.#column)
      }
    }
  }

  #textCell(text: string): SheetCell {
    return { column: this.#column, text, kind: kindOf(text), isText: true }
  }

  #cellOf(text: string, kind: number, form: RegExp): SheetCell {
    if (!form.test(text)) throw this.#bad(`${JSON.stringify(text.slice(0, 40))} is not a value of its type`)
    return { column: this.#column, text, kind, isText: false }
  }

  #number(digits: string, unit?: string): SheetCell {
    if (digits.trim() === '' || !Number.isFinite(Number(digits)))
      throw this.#bad(`${JSON.stringify(digits.slice(0, 40))} is not a number`)
    const cell = numberCell(this.#column, digits.trim(), { style: 'number', unit }, false)
    if (cell.isExact) this.exactIntegers = true
    return cell
  }

  /** A day or a timestamp. Programs write more digits than they know, so that times are rounded to the microsecond. */
  #moment(text: string): SheetCell {
    const [, until, fraction] = /^([-\d]+T[\d:]+)(\.\d{7,})$/.exec(text) ?? []
    const seconds = until === undefined ? Number.NaN : Date.parse(`${until}Z`)
    const micros = Math.round(Number(fraction) * 1e6)
    const rounded = Number.isNaN(seconds)
      ? text
      : timestampText(BigInt(seconds) * 1000n + BigInt(micros), false)
    return this.#cellOf(rounded, kindOf(rounded), /^-?\d{4,}-\d\d-\d\d/)
  }

  /** A time of day. A duration of a day or more is text: no type of columns has these. */
  #time(text: string): SheetCell {
    const [, sign, hours = '0', minutes = '0', seconds = '0'] = DURATION.exec(text) ?? []
    if (sign === undefined) throw this.#bad(`${JSON.stringify(text.slice(0, 40))} is not a time`)
    const micros = Math.round((Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1e6)
    const written = hoursText(BigInt(sign === '-' ? -micros : micros))
    return { column: this.#column, text: written, kind: kindOf(written), isText: false }
  }

  #bad(what: string): EngineError {
    return malformed(`Sheet row ${this.#row}, column ${this.#column + 1}: ${what}.`, {
      sheetRow: this.#row,
      sheetColumn: this.#column + 1,
    })
  }
}

const DURATION = /^(-?)PT(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d+)?)S)?$/
/** What programs show for a formula that failed. */
const ERROR = /^(?:#(?:N\/A|DIV\/0!|NAME\?|NULL!|NUM!|REF!|VALUE!)|Err:\d+)$/
const NOT_AVAILABLE = '#N/A'

/** How often something is repeated, at least once. */
function count(attributes: string, name: string): number {
  const text = attribute(attributes, name)
  const value = text === undefined ? 1 : Number(text)
  if (!Number.isSafeInteger(value) || value < 1)
    throw malformed(`The workbook is damaged: ${name} is ${JSON.stringify(text)}.`)
  return value
}
