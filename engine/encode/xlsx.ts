import { type Batch, isNull, type Vector } from '../arrow/batch.ts'
import { EngineError } from '../errors.ts'
import { base64, copyBytes, fixedCell, KIND, MAX_CELL, shapeOf } from './cells.ts'
import type { EncodedColumn, EncodeOptions, Encoder } from './encoder.ts'
import { double, int64, unsigned } from './numbers.ts'
import { type Literal, literal, Output, writeLiteral } from './output.ts'
import { SHEET_BREAK, SHEET_ROWS, sheetPacking } from './sheets.ts'
import { STYLE } from './workbook.ts'
import { checkText, tooManyColumns, XLSX_CHARACTERS, XLSX_COLUMNS } from './xlsxlimits.ts'
import { copyUnlessSpecial, escapeXml } from './xlsxtext.ts'

/** Excel keeps 15 digits of a number; what has more is written as text. */
const MAX_EXACT = 999_999_999_999_999
/** Days from 1970 to where Excel's calendar agrees with the world's (1900-03-01), and to where it ends (9999-12-31). */
const FIRST_DAY = -25_508
const LAST_DAY = 2_932_896
/** Excel's number of 1970-01-01. */
const EPOCH = 25_569
const DAY_MICROS = 86_400_000_000

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
  const { kinds, scales } = shapeOf(columns.map((column) => column.type))
  const names = columns.map((_, index) => literal(`<c r="${columnLetters(index)}`))
  const spare = columns.length * (MAX_CELL + 64) + 64

  /** The reference of a cell, up to its number; what follows begins with a quote. */
  const begin = (out: Output, column: number, row: number): number =>
    unsigned(out.view, writeLiteral(out.view, out.length, names[column]!), row)

  const number = (out: Output, column: number, row: number, before: Literal, value: number): void => {
    const at = double(out.view, writeLiteral(out.view, begin(out, column, row), before), value)
    out.length = writeLiteral(out.view, at, END_NUMBER)
  }

  /** A value of fixed width as text. */
  const asText = (out: Output, column: number, row: number, vector: Vector, index: number): void => {
    const { view } = out
    let at = writeLiteral(view, begin(out, column, row), TEXT)
    at = fixedCell(view, at, vector, index, kinds[column]!, scales[column]!)
    out.length = writeLiteral(view, at, END_TEXT)
  }

  const text = (out: Output, column: number, row: number, vector: Vector, index: number): void => {
    const start = vector.offsets[index]!
    const end = vector.offsets[index + 1]!
    const { bytes } = vector
    out.reserve(end - start + spare)
    const edge = end > start && (bytes[start]! <= 0x20 || bytes[end - 1]! <= 0x20)
    out.length = writeLiteral(out.view, begin(out, column, row), edge ? PRESERVED : TEXT)
    const kind = kinds[column]!
    if (kind === KIND.binary) base64(out, bytes, start, end, spare)
    else if (kind === KIND.uuid) copyBytes(out, vector.view, start, end)
    else if (!copyUnlessSpecial(out, vector.view, start, end)) {
      out.reserve(7 * (end - start) + spare)
      escapeXml(out, bytes, start, end)
    }
    // The text has more characters than bytes only in base64.
    if ((end - start) * 2 > XLSX_CHARACTERS) checkText(columns[column]!, bytes, start, end)
    out.length = writeLiteral(out.view, out.length, END_TEXT)
  }

  /** Excel's number of a moment; undefined outside its calendar. */
  const moment = (out: Output, column: number, row: number, vector: Vector, index: number): void => {
    const { words } = vector
    const kind = kinds[column]!
    if (kind === KIND.date) {
      const days = words[index]!
      if (days < FIRST_DAY || days > LAST_DAY) asText(out, column, row, vector, index)
      else number(out, column, row, STYLED[STYLE.date]!, days + EPOCH)
      return
    }
    const micros = words[2 * index + 1]! * 4_294_967_296 + (words[2 * index]! >>> 0)
    const fine = micros % 1_000_000 === 0 ? 0 : 1
    if (kind === KIND.time) {
      number(out, column, row, STYLED[STYLE.time + fine]!, micros / DAY_MICROS)
      return
    }
    const days = Math.floor(micros / DAY_MICROS)
    if (days < FIRST_DAY || days > LAST_DAY) asText(out, column, row, vector, index)
    else {
      const style = (kind === KIND.timestamptz ? STYLE.utc : STYLE.timestamp) + fine
      number(out, column, row, STYLED[style]!, (micros + EPOCH * DAY_MICROS) / DAY_MICROS)
    }
  }

  const cell = (out: Output, column: number, row: number, vector: Vector, index: number): void => {
    const { words } = vector
    switch (kinds[column]) {
      case KIND.integer: {
        const low = words[2 * index]!
        const high = words[2 * index + 1]!
        const value = high * 4_294_967_296 + (low >>> 0)
        if (value > MAX_EXACT || value < -MAX_EXACT) asText(out, column, row, vector, index)
        else {
          const at = int64(out.view, writeLiteral(out.view, begin(out, column, row), NUMBER), low, high)
          out.length = writeLiteral(out.view, at, END_NUMBER)
        }
        break
      }
      case KIND.decimal: {
        const high = words[4 * index + 1]!
        const sign = high >> 31
        const near = high * 4_294_967_296 + (words[4 * index]! >>> 0)
        const small = words[4 * index + 2] === sign && words[4 * index + 3] === sign
        if (!small || near > MAX_EXACT || near < -MAX_EXACT) asText(out, column, row, vector, index)
        else {
          const { view } = out
          let at = writeLiteral(view, begin(out, column, row), NUMBER)
          at = fixedCell(view, at, vector, index, KIND.decimal, scales[column]!)
          out.length = writeLiteral(view, at, END_NUMBER)
        }
        break
      }
      case KIND.double:
        if (!Number.isFinite(vector.doubles[index]!)) asText(out, column, row, vector, index)
        else number(out, column, row, NUMBER, vector.doubles[index]!)
        break
      case KIND.boolean:
        number(out, column, row, BOOLEAN, (vector.bytes[index >> 3]! >> (index & 7)) & 1)
        break
      case KIND.date:
      case KIND.time:
      case KIND.timestamp:
      case KIND.timestamptz:
        moment(out, column, row, vector, index)
        break
      default:
        text(out, column, row, vector, index)
    }
  }

  return {
    begin() {},
    batch({ rows, vectors }: Batch, first, out) {
      for (let index = 0; index < rows; index++) {
        const position = (first + index) % SHEET_ROWS
        out.reserve(spare)
        if (position === 0 && first + index > 0) out.bytes[out.length++] = SHEET_BREAK
        // Rows count from one, and the header is the first.
        const row = position + 2
        out.length = writeLiteral(out.view, out.length, ROW)
        out.length = writeLiteral(out.view, unsigned(out.view, out.length, row), END_NAME)
        for (let column = 0; column < vectors.length; column++) {
          const vector = vectors[column]!
          if (!isNull(vector, index)) cell(out, column, row, vector, index)
        }
        out.length = writeLiteral(out.view, out.length, END_ROW)
      }
    },
    end() {},
    packing: sheetPacking(columns, headerRow(columns), options),
  }
}

function headerRow(columns: readonly EncodedColumn[]): Uint8Array {
  const out = new Output(1024)
  out.append(Buffer.from('<row r="1">'))
  for (const [column, { name }] of columns.entries()) {
    const text = Buffer.from(name)
    out.append(Buffer.from(`<c r="${columnLetters(column)}1" t="inlineStr"><is><t xml:space="preserve">`))
    out.reserve(7 * text.length)
    escapeXml(out, text, 0, text.length)
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
