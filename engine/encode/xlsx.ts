import { isNull, type Vector } from '../arrow/batch.ts'
import { EngineError } from '../errors.ts'
import { boundOf, fixedCell, KIND, plainText, type Shape, shapeOf, writeBase64 } from './cells.ts'
import type { EncodedColumn, EncodeOptions, Encoder } from './encoder.ts'
import { double, padded, unsigned } from './numbers.ts'
import { type Literal, literal, Output, writeLiteral } from './output.ts'
import { SHEET_BREAK, SHEET_ROWS, sheetPacking } from './sheets.ts'
import { STYLE } from './workbook.ts'
import { checkText, tooManyColumns, XLSX_CHARACTERS, XLSX_COLUMNS } from './xlsxlimits.ts'
import { escapeXml, isXmlText } from './xlsxtext.ts'

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
const PRESERVED = literal('" t="inlineStr"><is><t xml:space="preserve">')
const NUMBER = literal('"><v>')
const BOOLEAN = literal('" t="b"><v>')
const STYLED = Array.from({ length: 8 }, (_, style) => literal(`" s="${style}"><v>`))
const ROW = literal('<row r="')
const END_NAME = literal('">')
const END_ROW = literal('</row>')

/**
 * A workbook. Cells have types: numbers, booleans, and dates from 1900-03-01 to 9999-12-31 with a date format;
 * timestamps of a zone are in UTC and shown with a `Z`. Text stands in the cell and is never a formula. Written as
 * text, because a number would lose digits or meaning: integers and decimals of more than 15 digits, other dates,
 * `NaN` and infinities. Sheets are `sheetName`, `sheetName (2)` …, each with the header.
 *
 * @throws EngineError `not_representable` for more than 16,384 columns and, in `batch`, for a text that is too long
 */
export const xlsx = (columns: readonly EncodedColumn[], options: EncodeOptions): Encoder => {
  if (columns.length > XLSX_COLUMNS)
    throw new EngineError('not_representable', tooManyColumns(columns.length))
  const shape = shapeOf(columns.map((column) => column.type))
  const names = columns.map((_, index) => literal(`<c r="${columnLetters(index)}`))
  return {
    begin() {},
    batch(batch, first, out) {
      const plain = Uint8Array.from(batch.vectors, (vector, column) =>
        isPlain(vector, shape.kinds[column]!) ? 1 : 0,
      )
      out.reserve(boundOf(batch, shape, AROUND, (column) => (plain[column] === 1 ? 1 : 7)))
      let at = out.length
      for (let index = 0; index < batch.rows; index++) {
        const position = (first + index) % SHEET_ROWS
        if (position === 0 && first + index > 0) out.bytes[at++] = SHEET_BREAK
        // Rows count from one, and the header is the first.
        const row = position + 2
        const digits = writeLiteral(out.view, at, ROW)
        at = unsigned(out.view, digits, row)
        // The row's number, seven digits at most, stands in each of its cells.
        const length = at - digits
        const low = out.view.getInt32(digits, true)
        const high = out.view.getInt32(digits + 4, true)
        at = writeLiteral(out.view, at, END_NAME)
        for (let column = 0; column < columns.length; column++) {
          const vector = batch.vectors[column]!
          if (isNull(vector, index)) continue
          at = writeLiteral(out.view, at, names[column]!)
          out.view.setInt32(at, low, true)
          out.view.setInt32(at + 4, high, true)
          at += length
          if (shape.kinds[column]! < KIND.uuid) at = fixed(out.view, at, vector, index, shape, column)
          else at = text(out, at, vector, index, columns[column]!, plain[column] === 1)
        }
        at = writeLiteral(out.view, at, END_ROW)
      }
      out.length = at
    },
    end() {},
    packing: sheetPacking(columns, headerRow(columns), options),
  }
}

/** Beside a value: its reference and element, and its share of the row's. */
const AROUND = 112

/** Whether no text of a column needs an escape, or a look at its ends. */
function isPlain({ bytes, offsets }: Vector, kind: number): boolean {
  if (kind < KIND.string) return true
  return isXmlText(bytes, offsets.at(-1)!)
}

/** A cell behind its reference, from the quote on. */
function fixed(
  view: DataView,
  at: number,
  vector: Vector,
  index: number,
  shape: Shape,
  column: number,
): number {
  const { words } = vector
  const kind = shape.kinds[column]!
  switch (kind) {
    case KIND.boolean:
      return number(view, at, BOOLEAN, (vector.bytes[index >> 3]! >> (index & 7)) & 1)
    case KIND.double:
      if (Number.isFinite(vector.doubles[index]!)) return number(view, at, NUMBER, vector.doubles[index]!)
      break
    case KIND.date: {
      const days = words[index]!
      if (days >= FIRST_DAY && days <= LAST_DAY) return moment(view, at, STYLE.date, days + EPOCH, 0)
      break
    }
    case KIND.integer: {
      const value = words[2 * index + 1]! * 4_294_967_296 + (words[2 * index]! >>> 0)
      if (value <= MAX_EXACT && value >= -MAX_EXACT) return number(view, at, NUMBER, value)
      break
    }
    case KIND.decimal: {
      const start = writeLiteral(view, at, NUMBER)
      const end = fixedCell(view, start, vector, index, kind, shape.scales[column]!)
      if (end - start <= MAX_DIGITS || significantDigits(view, start, end) <= MAX_DIGITS) {
        return writeLiteral(view, end, END_NUMBER)
      }
      break
    }
    default: {
      const micros = words[2 * index + 1]! * 4_294_967_296 + (words[2 * index]! >>> 0)
      const days = Math.floor(micros / DAY_MICROS)
      const rest = micros - days * DAY_MICROS
      const fine = rest % 1_000_000 === 0 ? 0 : 1
      if (kind === KIND.time) return moment(view, at, STYLE.time + fine, days, rest)
      if (days < FIRST_DAY || days > LAST_DAY) break
      return moment(
        view,
        at,
        (kind === KIND.timestamptz ? STYLE.utc : STYLE.timestamp) + fine,
        days + EPOCH,
        rest,
      )
    }
  }
  at = fixedCell(view, writeLiteral(view, at, TEXT), vector, index, kind, shape.scales[column]!)
  return writeLiteral(view, at, END_TEXT)
}

function number(view: DataView, at: number, before: Literal, value: number): number {
  return writeLiteral(view, double(view, writeLiteral(view, at, before), value), END_NUMBER)
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

function text(
  out: Output,
  at: number,
  vector: Vector,
  index: number,
  column: EncodedColumn,
  plain: boolean,
): number {
  const { bytes } = vector
  const start = vector.offsets[index]!
  const end = vector.offsets[index + 1]!
  // A text has more characters than bytes only in base64.
  if ((end - start) * 2 > XLSX_CHARACTERS) checkText(column, bytes, start, end)
  const edge = end > start && (bytes[start]! <= 0x20 || bytes[end - 1]! <= 0x20)
  at = writeLiteral(out.view, at, edge ? PRESERVED : TEXT)
  if (column.type === 'binary') at = writeBase64(out.bytes, at, bytes, start, end)
  else if (plain) at = plainText(out.view, at, vector.view, start, end)
  else at = escapeXml(out.bytes, out.view, at, bytes, start, end)
  return writeLiteral(out.view, at, END_TEXT)
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
