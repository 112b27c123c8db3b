import type { Vector } from '../../../duckdb/batch.ts'
import { EngineError } from '../../../errors.ts'
import { decimalParts } from '../../../types/index.ts'
import type { EncodedColumn, EncodeOptions, Encoder } from '../encoder.ts'
import { type Literal, literal, Output, writeLiteral } from '../output.ts'
import { boundOf, fixedCell, plainText, shapeOf, textsOf, writeBase64 } from '../text/cells.ts'
import { compileRows, of, write } from '../text/compile.ts'
import { KIND, kindOf } from '../text/kinds.ts'
import { decimal, double, padded, unsigned } from '../text/numbers.ts'
import { checkText, tooManyColumns, XLSX_CHARACTERS, XLSX_COLUMNS } from './limits.ts'
import { SHEET_BREAK, SHEET_ROWS, sheetPacking } from './sheets.ts'
import { escapeXml, isXmlText } from './text.ts'
import { STYLE } from './workbook.ts'

/** Excel keeps 15 digits of a number; what has more is written as text. */
const MAX_DIGITS = 15
const MAX_EXACT = 999_999_999_999_999
/** Days from 1970 to where Excel's calendar agrees with the world's (1900-03-01), and to where it ends (9999-12-31). */
const FIRST_DAY = -25_508
const LAST_DAY = 2_932_896
/** Excel's number of 1970-01-01. */
const EPOCH = 25_569
const DAY_MICROS = 86_400_000_000
const POINT = 0x2e

const END_NUMBER = literal('</v></c>')
const END_TEXT = literal('</t></is></c>')
const TEXT = literal('" t="inlineStr"><is><t>')
/** With blanks at an end, which readers would drop. */
const PRESERVED = literal('" t="inlineStr"><is><t xml:space="preserve">')
const NUMBER = literal('"><v>')
const BOOLEAN = literal('" t="b"><v>')
const STYLED = Array.from({ length: 8 }, (_, style) => literal(`" s="${style}"><v>`))

/**
 * A workbook. Cells have types: numbers, booleans, and dates from 1900-03-01 to 9999-12-31 with a date format;
 * timestamps of a zone are in UTC and shown with a `Z`. Text stands in the cell and is never a formula. Written as
 * text, because a number would lose digits or meaning: integers and decimals of more than 15 digits, other dates,
 * `NaN` and infinities. Sheets are `sheetName`, `sheetName (2)` …, each with the header.
 *
 * @throws EngineError `not_representable` for more than 16,384 columns and, in `batch`, for a text that is too long
 */
export const xlsx = (columns: readonly EncodedColumn[], options: EncodeOptions): Encoder => {
  if (columns.length > XLSX_COLUMNS) {
    throw new EngineError('not_representable', tooManyColumns(columns.length))
  }
  const shape = shapeOf(columns.map((column) => column.type))
  const writeRows = compileRows({
    // The row's number, seven digits at most, stands in each of its cells: `x` and `y` are its bytes, `z` their count.
    before: `
      const position = (first + row) % ${SHEET_ROWS}
      if (position === 0 && first + row > 0) bytes[at++] = ${SHEET_BREAK}
      ${write('<row r="')}
      z = at
      at = unsigned(view, at, position + 2)
      x = view.getInt32(z, true); y = view.getInt32(z + 4, true); z = at - z
      ${write('">')}`,
    cells: columns.map(({ type }, index) => ({
      value:
        `${write(`<c r="${columnLetters(index)}`)} ` +
        'view.setInt32(at, x, true); view.setInt32(at + 4, y, true); at += z; ' +
        `at = ${CELLS[kindOf(type)]}(view, at, ${of('vector', index)}, row, ${decimalParts(type)?.scale ?? 0}, ` +
        `columns[${index}], ${of('mark', index)}, bytes)`,
    })),
    after: write('</row>'),
    helpers: { ...WRITERS, unsigned, columns },
  })
  return {
    begin() {},
    batch(batch, first, out) {
      const plain = Uint8Array.from(batch.vectors, (vector, column) =>
        isPlain(vector, batch.rows, shape.kinds[column]!) ? 1 : 0,
      )
      out.reserve(boundOf(batch, shape, AROUND, (column) => (plain[column] === 1 ? 1 : 7)))
      out.length = writeRows(out.bytes, out.view, out.length, batch.vectors, plain, batch.rows, first)
    },
    end() {},
    packing: sheetPacking(columns, headerRow(columns), options),
  }
}

/** Beside a value: its reference and element, and its share of the row's. */
const AROUND = 112

/** Whether no text of a column needs an escape. */
function isPlain(vector: Vector, rows: number, kind: number): boolean {
  return kind < KIND.string || isXmlText(textsOf(vector, rows))
}

/** Writes what follows the reference of a cell, from the quote on. Returns the position behind it. */
type CellWriter = (
  view: DataView,
  at: number,
  vector: Vector,
  row: number,
  scale: number,
  column: EncodedColumn,
  plain: number,
  bytes: Uint8Array,
) => number

const booleanCell: CellWriter = (view, at, { bytes }, row) =>
  number(view, at, BOOLEAN, (bytes[row >> 3]! >> (row & 7)) & 1)

const integerCell: CellWriter = (view, at, vector, row) => {
  const value = int53(vector, row)
  if (value <= MAX_EXACT && value >= -MAX_EXACT) return number(view, at, NUMBER, value)
  return asText(view, at, vector, row, KIND.integer)
}

const realCell: CellWriter = (view, at, vector, row) => {
  const value = vector.doubles[row]!
  return Number.isFinite(value) ? number(view, at, NUMBER, value) : asText(view, at, vector, row, KIND.double)
}

const decimalCell: CellWriter = (view, at, vector, row, scale) => {
  const start = writeLiteral(view, at, NUMBER)
  const end = decimal(view, start, vector.words, 4 * row, scale)
  if (end - start > MAX_DIGITS && significantDigits(view, start, end) > MAX_DIGITS) {
    return asText(view, at, vector, row, KIND.decimal, scale)
  }
  return writeLiteral(view, end, END_NUMBER)
}

const dateCell: CellWriter = (view, at, vector, row) => {
  const days = vector.words[row]!
  if (days < FIRST_DAY || days > LAST_DAY) return asText(view, at, vector, row, KIND.date)
  return moment(view, at, STYLE.date, days + EPOCH, 0)
}

const timeCell: CellWriter = (view, at, vector, row) => {
  const micros = int53(vector, row)
  const days = Math.floor(micros / DAY_MICROS)
  return moment(view, at, STYLE.time + fine(micros), days, micros - days * DAY_MICROS)
}

const timestampCell: CellWriter = (view, at, vector, row) =>
  zonedCell(view, at, vector, row, STYLE.timestamp, KIND.timestamp)

const timestamptzCell: CellWriter = (view, at, vector, row) =>
  zonedCell(view, at, vector, row, STYLE.utc, KIND.timestamptz)

function zonedCell(
  view: DataView,
  at: number,
  vector: Vector,
  row: number,
  style: number,
  kind: number,
): number {
  const micros = int53(vector, row)
  const days = Math.floor(micros / DAY_MICROS)
  if (days < FIRST_DAY || days > LAST_DAY) return asText(view, at, vector, row, kind)
  return moment(view, at, style + fine(micros), days + EPOCH, micros - days * DAY_MICROS)
}

const textCell: CellWriter = (view, at, vector, row, _scale, column, plain, target) => {
  const { bytes } = vector
  const start = vector.offsets[row]!
  const end = vector.offsets[row + 1]!
  // A text has more characters than bytes only in base64.
  if ((end - start) * 2 > XLSX_CHARACTERS) checkText(column, bytes, start, end)
  const edge = end > start && (bytes[start]! <= 0x20 || bytes[end - 1]! <= 0x20)
  at = writeLiteral(view, at, edge ? PRESERVED : TEXT)
  if (plain === 1) at = plainText(view, at, vector.view, start, end)
  else at = escapeXml(target, view, at, bytes, start, end)
  return writeLiteral(view, at, END_TEXT)
}

const binaryCell: CellWriter = (view, at, vector, row, _scale, column, _plain, target) => {
  const start = vector.offsets[row]!
  const end = vector.offsets[row + 1]!
  if ((end - start) * 2 > XLSX_CHARACTERS) checkText(column, vector.bytes, start, end)
  at = writeBase64(target, writeLiteral(view, at, TEXT), vector.bytes, start, end)
  return writeLiteral(view, at, END_TEXT)
}

const WRITERS = {
  booleanCell,
  integerCell,
  realCell,
  decimalCell,
  dateCell,
  timeCell,
  timestampCell,
  timestamptzCell,
  binaryCell,
  textCell,
}

/** The writers' names, by kind. */
const CELLS: readonly (keyof typeof WRITERS)[] = (() => {
  const names: (keyof typeof WRITERS)[] = []
  names[KIND.boolean] = 'booleanCell'
  names[KIND.integer] = 'integerCell'
  names[KIND.double] = 'realCell'
  names[KIND.decimal] = 'decimalCell'
  names[KIND.date] = 'dateCell'
  names[KIND.time] = 'timeCell'
  names[KIND.timestamp] = 'timestampCell'
  names[KIND.timestamptz] = 'timestamptzCell'
  names[KIND.binary] = 'binaryCell'
  for (const kind of [KIND.uuid, KIND.string, KIND.json]) names[kind] = 'textCell'
  return names
})()

/** A 64-bit integer as a double, which is exact as far as it matters here. */
function int53({ words }: Vector, row: number): number {
  return words[2 * row + 1]! * 4_294_967_296 + (words[2 * row]! >>> 0)
}

/** One where a time has a part of a second: the next style shows it. */
function fine(micros: number): number {
  return micros % 1_000_000 === 0 ? 0 : 1
}

function number(view: DataView, at: number, before: Literal, value: number): number {
  return writeLiteral(view, double(view, writeLiteral(view, at, before), value), END_NUMBER)
}

function asText(view: DataView, at: number, vector: Vector, row: number, kind: number, scale = 0): number {
  at = fixedCell(view, writeLiteral(view, at, TEXT), vector, row, kind, scale)
  return writeLiteral(view, at, END_TEXT)
}

/** Days and a part of a day, as Excel counts time; twelve decimals are finer than a microsecond. */
function moment(view: DataView, at: number, style: number, days: number, micros: number): number {
  at = unsigned(view, writeLiteral(view, at, STYLED[style]!), days)
  if (micros > 0) {
    view.setUint8(at, POINT)
    at = padded(view, at + 1, Math.round(micros * (1e12 / DAY_MICROS)), 12)
  }
  return writeLiteral(view, at, END_NUMBER)
}

/** Digits of a decimal's text without zeros at both ends. */
function significantDigits(view: DataView, start: number, end: number): number {
  let digits = 0
  let significant = 0
  for (let at = start; at < end; at++) {
    const digit = view.getUint8(at) - 0x30
    // The point and the minus come before the digits in ASCII.
    if (digit < 0 || (digit === 0 && digits === 0)) continue
    digits++
    if (digit > 0) significant = digits
  }
  return significant
}

function headerRow(columns: readonly EncodedColumn[]): Uint8Array {
  const out = new Output(1024)
  out.append(Buffer.from('<row r="1">'))
  for (const [column, { name }] of columns.entries()) {
    const text = Buffer.from(name)
    out.append(Buffer.from(`<c r="${columnLetters(column)}1" t="inlineStr"><is><t xml:space="preserve">`))
    out.reserve(7 * text.length)
    out.length = escapeXml(out.bytes, out.view, out.length, text, 0, text.length)
    out.append(Buffer.from('</t></is></c>'))
  }
  out.append(Buffer.from('</row>'))
  return out.written()
}

/** `A` to `Z`, `AA` … */
function columnLetters(index: number): string {
  const before = Math.floor(index / 26)
  return (before > 0 ? columnLetters(before - 1) : '') + String.fromCharCode(65 + (index % 26))
}
