import { malformed } from '../text/errors.ts'
import { kindOf, TEXT_KIND } from '../text/text-kinds.ts'
import { clockText, DAY_MICROS, dayText, durationText } from '../text/value-text.ts'
import {
  failedFormula,
  formulaWithoutValue,
  type MergedCell,
  MOST_MERGED,
  MOST_ROWS,
  type OnRow,
  type SheetCell,
} from '../workbook/book.ts'
import { type NumberFormat, type NumberStyle, TextRuns, type Workbook } from './book.ts'
import { attribute, type XmlHandler } from './xml.ts'

const MOST_COLUMNS = 16_384
/** The error value that Excel has for a missing value. */
const NOT_AVAILABLE = '#N/A'
/** Excel writes 1 and 0, other programs also the words. */
const BOOLEAN = /^(1|0|true|false)$/i
const TRUE = /^(1|true)$/i
const LONG_INTEGER = /^-?[1-9]\d{15,37}$/
/** The digits that every double keeps; Excel writes no more of what people type. */
const KEPT_DIGITS = 15

/** Reads the cells of a sheet (ISO 29500-1, 18.3.1) and passes on the rows that have values, numbered from 1. */
export class SheetParser implements XmlHandler {
  readonly #workbook: Workbook
  readonly #onRow: OnRow
  #row = 0
  #column = -1
  #reference: string | undefined
  #cells: SheetCell[] = []
  #type = ''
  #style = 0
  #value: string | undefined
  #inValue = false
  #hasFormula = false
  /** Whether a whole number was found that no double is, so that the program writes these with all digits. */
  exactIntegers = false
  /** Cells whose formula has the value 0, where the workbook asks for its values to be calculated. */
  readonly zeroFormulas: string[] = []
  readonly merged: MergedCell[] = []
  readonly hidden = { rows: [] as number[], columns: [] as number[] }
  #isHidden = false
  readonly #inline = new TextRuns()

  constructor(workbook: Workbook, onRow: OnRow) {
    this.#workbook = workbook
    this.#onRow = onRow
  }

  open(name: string, attributes: string): void {
    switch (name) {
      case 'c':
        this.#beginCell(attributes)
        break
      case 'v':
        this.#inValue = true
        this.#value = ''
        break
      case 'f':
        this.#hasFormula = true
        break
      case 'row':
        this.#beginRow(attribute(attributes, 'r'))
        this.#isHidden = isHidden(attributes)
        break
      case 'col':
        if (isHidden(attributes)) this.#hideColumns(attributes)
        break
      case 'mergeCell':
        this.#merge(attribute(attributes, 'ref') ?? '')
        break
      default:
        this.#inline.open(name)
    }
  }

  close(name: string): void {
    switch (name) {
      case 'c': {
        const cell = this.#read()
        if (cell) this.#cells.push(cell)
        break
      }
      case 'v':
        this.#inValue = false
        break
      case 'row':
        if (this.#cells.length === 0) break
        if (this.#isHidden) this.hidden.rows.push(this.#row)
        this.#onRow(this.#row, this.#cells)
        break
      default:
        this.#inline.close(name)
    }
  }

  text(piece: string): void {
    if (this.#inValue) this.#value += piece
    else this.#inline.add(piece)
  }

  #beginRow(reference: string | undefined): void {
    const row = reference === undefined ? this.#row + 1 : Number(reference)
    if (row > MOST_ROWS) throw malformed(`The sheet has more than ${MOST_ROWS} rows.`)
    if (!Number.isInteger(row) || row <= this.#row) {
      throw malformed(`The sheet has a row ${String(reference)} behind row ${this.#row}.`)
    }
    this.#row = row
    this.#column = -1
    this.#cells = []
  }

  #hideColumns(attributes: string): void {
    const [from, to] = ['min', 'max'].map((name) => Number(attribute(attributes, name))) as [number, number]
    // They are in order, each once.
    const next = (this.hidden.columns.at(-1) ?? -1) + 1
    for (let column = Math.max(from, next + 1); column <= Math.min(to, MOST_COLUMNS); column++)
      this.hidden.columns.push(column - 1)
  }

  #merge(range: string): void {
    const [from = '', to = ''] = range.split(':')
    const [row, last] = [from, to].map((cell) => Number(/\d+/.exec(cell)?.[0])) as [number, number]
    const column = columnOf(from)
    const [columns, rows] = [columnOf(to) - column + 1, last - row + 1]
    if (columns * rows > 1 && this.merged.length < MOST_MERGED)
      this.merged.push({ row, column, columns, rows })
  }

  #beginCell(attributes: string): void {
    if (this.#inValue) throw malformed(`Sheet row ${this.#row} has a cell within the value of another.`)
    const reference = attribute(attributes, 'r')
    this.#reference = reference
    this.#column = reference === undefined ? this.#column + 1 : columnOf(reference)
    if (this.#column < 0 || this.#column >= MOST_COLUMNS) {
      throw malformed(`Sheet row ${this.#row} has a cell ${JSON.stringify(reference ?? '')}.`)
    }
    this.#type = attribute(attributes, 't') ?? 'n'
    this.#style = Number(attribute(attributes, 's') ?? 0)
    this.#value = undefined
    this.#hasFormula = false
    this.#inline.clear()
  }

  #read(): SheetCell | undefined {
    const column = this.#column
    const value = this.#value
    const isEmpty = value === undefined || (this.#type !== 'str' && value.trim() === '')
    if (this.#hasFormula && isEmpty && !this.#inline.present) return formulaWithoutValue(column)
    switch (this.#type) {
      case 's': {
        if (value === undefined || value === '') return undefined
        const text = this.#workbook.sharedStrings[Number(value)]
        if (text === undefined) throw this.#bad(`there is no shared string ${value}`)
        return this.#text(column, text)
      }
      case 'inlineStr':
        // pandas writes a missing value as an inline string that has no text element.
        return this.#inline.present ? this.#text(column, this.#inline.value) : undefined
      case 'str':
        return value === undefined ? undefined : this.#text(column, value)
      case 'b':
        if (value === undefined || value === '') return undefined
        if (!BOOLEAN.test(value)) throw this.#bad(`${JSON.stringify(value.slice(0, 40))} is not a boolean`)
        return { column, text: TRUE.test(value) ? 'true' : 'false', kind: TEXT_KIND.boolean, isText: false }
      case 'e':
        if (value === NOT_AVAILABLE || value === undefined) return undefined
        return failedFormula(column, value)
      case 'd':
        if (value === undefined || value === '') return undefined
        return { column, text: value, kind: kindOf(value), isText: false }
      default:
        if (value !== undefined && value.trim() !== '') return this.#number(column, value.trim())
        return undefined
    }
  }

  #number(column: number, digits: string): SheetCell {
    const value = Number(digits)
    if (!Number.isFinite(value)) throw this.#bad(`${JSON.stringify(digits.slice(0, 40))} is not a number`)
    if (value === 0 && this.#hasFormula && this.#workbook.isUncalculated)
      this.zeroFormulas.push(this.#reference ?? `row ${this.#row}, column ${column + 1}`)
    const format = this.#workbook.formats[this.#style] ?? { style: 'number' }
    const cell = numberCell(column, digits, format, this.#workbook.date1904)
    if (cell.isExact) this.exactIntegers = true
    return cell
  }

  #text(column: number, text: string): SheetCell {
    if (!text.isWellFormed()) throw this.#bad('the text holds half a character')
    return { column, text, kind: kindOf(text), isText: true }
  }

  #bad(what: string): Error {
    return malformed(`Sheet row ${this.#row}, column ${this.#column + 1}: ${what}.`, {
      sheetRow: this.#row,
      sheetColumn: this.#column + 1,
    })
  }
}

/** Whether a row or columns are hidden. */
function isHidden(attributes: string): boolean {
  return attributes.includes('hidden') && TRUE.test(attribute(attributes, 'hidden') ?? '')
}

/**
 * The cell of a number.
 * @param digits the number as the workbook writes it
 */
export function numberCell(
  column: number,
  digits: string,
  { style, unit }: NumberFormat,
  date1904: boolean,
): SheetCell & { readonly isExact?: boolean } {
  const value = Number(digits)
  if (style === 'duration')
    return { column, text: serialDuration(digits), kind: TEXT_KIND.text, isText: true }
  const isMoment = style !== 'number'
  const moment = isMoment ? serialMoment(digits, style, date1904) : undefined
  if (moment) return { column, ...moment, isText: false }
  // Excel writes up to 17 digits. People typed the shortest number that stands for the same double.
  const text = Number.isInteger(value) && Math.abs(value) < 1e15 ? value.toFixed(0) : String(value)
  // Other programs write whole numbers with all digits, of which a double has only 15 to 17.
  const exact = LONG_INTEGER.test(digits) ? digits : text
  const long =
    !Number.isSafeInteger(value) && Number.isInteger(value) && significant(digits).length > KEPT_DIGITS
  const rounded = long && mayBeRounded(digits, value)
  return {
    ...{ column, text: exact, kind: kindOf(exact), isText: false },
    ...(rounded && { rounded }),
    ...(unit !== undefined && { unit }),
    ...(isMoment && { fault: noDay(digits, date1904) }),
    ...(long && !rounded && { isExact: true }),
  }
}

/** The digits of a number from the first to the last that is not 0. */
function significant(number: string): string {
  return number.replace(/[eE].*|\D/g, '').replace(/^0+|0+$/g, '')
}

/** Whether programs that hold numbers as doubles write these digits: 16 or 17 of them, or all of the double. */
function mayBeRounded(digits: string, value: number): boolean {
  const written = significant(digits)
  return [value.toPrecision(16), value.toPrecision(17), String(BigInt(value))].some(
    (text) => significant(text) === written,
  )
}

/** The column of a cell reference: 27 for `AB12`; -1 if it has no letters. */
function columnOf(reference: string): number {
  let column = 0
  for (let at = 0; at < reference.length; at++) {
    const letter = reference.charCodeAt(at) & ~0x20
    if (letter < 0x41 || letter > 0x5a) break
    column = column * 26 + letter - 0x40
    if (column > MOST_COLUMNS) break
  }
  return column - 1
}

/** A cell's text and kind, as they would be in the other text formats. */
type CellText = Pick<SheetCell, 'text' | 'kind'>

/** Days from 1899-12-30 to 1970-01-01. Excel counts from the former, except before its 29 February 1900. */
const EPOCH_1900 = 25_569
const EPOCH_1904 = 24_107
/** 9999-12-31. */
const LAST_SERIAL = 2_958_465
/** Excel's number for 29 February 1900. That day never existed, so Excel's days before it are off by one. */
const LEAP_DAY_1900 = 60

/**
 * Turns the number of a cell with a date format into ISO 8601; undefined where Excel itself would show no date.
 * @param digits the number as the workbook writes it
 */
export function serialMoment(digits: string, style: NumberStyle, date1904: boolean): CellText | undefined {
  const serial = Number(digits)
  if (style === 'number' || !(serial >= 0 && serial < LAST_SERIAL + 1)) return undefined
  const rounded = microsOfDay(serial, digits)
  const day = Math.floor(serial) + (rounded === DAY_MICROS ? 1 : 0)
  const micros = rounded % DAY_MICROS
  if (serial < 1 && style === 'time') return { text: clockText(micros), kind: TEXT_KIND.time }
  if (date1904) return moment(day - EPOCH_1904, micros, style)
  if (day < 1 || day === LEAP_DAY_1900) return undefined
  return moment(day - EPOCH_1900 + (day < LEAP_DAY_1900 ? 1 : 0), micros, style)
}

/** What is wrong with the number of a cell with a date format. Programs disagree by a day about those before 1900. */
function noDay(digits: string, date1904: boolean): string {
  const is =
    Number(digits) === LEAP_DAY_1900 && !date1904
      ? 'stands for 29 February 1900, a day that never existed'
      : `is not a day: those of this workbook go from ${date1904 ? '1904-01-01 (0)' : '1900-01-01 (1)'} to 9999-12-31`
  return `${digits} in a cell formatted as a date ${is}. Write other days as text, such as 1899-12-31, and clear cells that have none`
}

/** The number of a cell with a format such as `[h]:mm`, which are days, as ISO 8601. */
function serialDuration(digits: string): string {
  const days = Math.abs(Number(digits))
  const micros = BigInt(Math.floor(days)) * BigInt(DAY_MICROS) + BigInt(microsOfDay(days, digits))
  return durationText(digits.startsWith('-') ? -micros : micros)
}

function moment(day: number, micros: number, style: NumberStyle): CellText {
  const date = dayText(day)
  if (style === 'date' && micros === 0) return { text: date, kind: TEXT_KIND.date }
  return style === 'zoned'
    ? { text: `${date}T${clockText(micros)}Z`, kind: TEXT_KIND.timestamptz }
    : { text: `${date}T${clockText(micros)}`, kind: TEXT_KIND.timestamp }
}

/**
 * The time of day in microseconds. A double is exact to a microsecond for days of our time, but many programs write
 * only 15 or 16 digits, and days far in the future leave fewer bits for the time. If the time is as near to a whole
 * millisecond as the number is exact, that millisecond is meant.
 */
function microsOfDay(serial: number, digits: string): number {
  const exact = (serial - Math.floor(serial)) * DAY_MICROS
  const micros = Math.round(exact)
  const millis = Math.round(exact / 1000) * 1000
  if (micros === millis) return micros
  const decimals = /\.(\d+)$/.exec(digits)?.[1]?.length ?? 0
  const length = digits.replace(/\D/g, '').length
  const half = (places: number) => 0.5 * 10 ** -places * DAY_MICROS
  const resolution = 2 ** (Math.floor(Math.log2(Math.max(serial, 1))) - 52) * DAY_MICROS
  // Sixteen digits are a double that was rounded once more; zeros at their end are not written.
  const sixteen = half(decimals + 16 - length) + resolution
  const written = length > 16 ? 0 : length === 16 ? sixteen : Math.max(sixteen, Math.min(5, half(decimals)))
  return Math.abs(exact - millis) <= Math.max(written, resolution) ? millis : micros
}
