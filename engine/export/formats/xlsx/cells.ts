import type { Vector } from '../../../duckdb/batch.ts'
import type { TypeName } from '../../../types/index.ts'
import type { EncodedColumn } from '../encoder.ts'
import { type Literal, literal, writeLiteral } from '../encoder.ts'
import { fixedCell, hasControls, KIND, plainText, writeBase64 } from '../text/cells.ts'
import { decimal, double, padded, unsigned } from '../text/digits.ts'
import { checkText, cutText, FIRST_DAY, LAST_DAY, MAX_DIGITS, MAX_EXACT, XLSX_CHARACTERS } from './limits.ts'
import { MOST_PLACES, STYLE, STYLE_COUNT } from './workbook.ts'

/** Excel's number of 1970-01-01. */
const EPOCH = 25_569

const END_NUMBER = literal('</v></c>')
const END_TEXT = literal('</t></is></c>')
const TEXT = literal('" t="inlineStr"><is><t>')
/** For texts that begin or end with blanks, which readers would drop. */
const PRESERVED = literal('" t="inlineStr"><is><t xml:space="preserve">')
const NUMBER = literal('"><v>')
const BOOLEAN = literal('" t="b"><v>')
const STYLED = Array.from({ length: STYLE_COUNT }, (_, style) => literal(`" s="${style}"><v>`))
/** In Excel's default format, larger whole numbers are shown in powers of ten. */
const MAX_GENERAL = 9_999_999_999

/** Writes the rest of a cell, from the quote after its reference on. Returns the position after it. */
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
  if (value <= MAX_GENERAL && value >= -MAX_GENERAL) return number(view, at, NUMBER, value)
  if (value <= MAX_EXACT && value >= -MAX_EXACT) return number(view, at, STYLED[STYLE.places]!, value)
  return asText(view, at, vector, row, KIND.integer)
}

const doubleCell: CellWriter = (view, at, vector, row) => {
  const value = vector.doubles[row]!
  return Number.isFinite(value) ? number(view, at, NUMBER, value) : asText(view, at, vector, row, KIND.double)
}

const decimalCell: CellWriter = (view, at, vector, row, scale) => {
  const start = writeLiteral(view, at, scale <= MOST_PLACES ? STYLED[STYLE.places + scale]! : NUMBER)
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

function timestampCell(style: number, kind: number): CellWriter {
  return (view, at, vector, row) => {
    const micros = int53(vector, row)
    const days = Math.floor(micros / DAY_MICROS)
    if (days < FIRST_DAY || days > LAST_DAY) return asText(view, at, vector, row, kind)
    return moment(view, at, style + fine(micros), days + EPOCH, micros - days * DAY_MICROS)
  }
}

const textCell: CellWriter = (view, at, vector, row, _scale, column, plain, target) => {
  const { bytes } = vector
  const start = vector.offsets[row]!
  const end = vector.offsets[row + 1]!
  if (end - start > XLSX_CHARACTERS) checkText(column, bytes, start, end)
  const edge = end > start && (bytes[start]! <= 0x20 || bytes[end - 1]! <= 0x20)
  at = writeLiteral(view, at, edge ? PRESERVED : TEXT)
  if (plain === 1) at = plainText(view, at, vector.view, start, end)
  else at = escapeXml(target, view, at, bytes, start, end)
  return writeLiteral(view, at, END_TEXT)
}

const binaryCell: CellWriter = (view, at, vector, row, _scale, column, _plain, target) => {
  const start = vector.offsets[row]!
  const end = vector.offsets[row + 1]!
  // Base64 has more characters than there are bytes, but fewer than twice as many in a text of this length.
  if ((end - start) * 2 > XLSX_CHARACTERS) checkText(column, vector.bytes, start, end)
  at = writeBase64(target, writeLiteral(view, at, TEXT), vector.bytes, start, end)
  return writeLiteral(view, at, END_TEXT)
}

/** A writer like `write` that cuts texts that are too long. */
function cutting(write: CellWriter): CellWriter {
  return (view, at, vector, row, scale, column, plain, target) => {
    const start = vector.offsets[row]!
    const end = vector.offsets[row + 1]!
    const cut = (end - start) * 2 > XLSX_CHARACTERS ? cutText(column, vector.bytes, start, end) : undefined
    if (cut === undefined) return write(view, at, vector, row, scale, column, plain, target)
    at = escapeXml(target, view, writeLiteral(view, at, PRESERVED), cut, 0, cut.length)
    return writeLiteral(view, at, END_TEXT)
  }
}

/** The writers of all types by the names under which the generated code calls them, which begin with the type's. */
export function cellWriters(overlong: 'cut' | undefined): Record<`${TypeName}Cell`, CellWriter> {
  const text = overlong ? cutting(textCell) : textCell
  return {
    booleanCell,
    integerCell,
    doubleCell,
    decimalCell,
    dateCell,
    timeCell,
    timestampCell: timestampCell(STYLE.timestamp, KIND.timestamp),
    timestamptzCell: timestampCell(STYLE.utc, KIND.timestamptz),
    uuidCell: text,
    binaryCell: overlong ? cutting(binaryCell) : binaryCell,
    stringCell: text,
    jsonCell: text,
  }
}

/**
 * A 64-bit integer as a double. Beyond 2^53 it may be inexact, which does no harm: such an integer is written as text,
 * and Excel stores such a time no more exactly.
 */
function int53({ words }: Vector, row: number): number {
  return words[2 * row + 1]! * 4_294_967_296 + (words[2 * row]! >>> 0)
}

/** 1 if a time has a fraction of a second, which the next style shows; else 0. */
function fine(micros: number): number {
  return micros % 1_000_000 === 0 ? 0 : 1
}

function number(view: DataView, at: number, before: Literal, value: number): number {
  return writeLiteral(view, double(view, writeLiteral(view, at, before), value), END_NUMBER)
}

/** Writes a value as text. At its side may still be numbers, where rows change between two readings, as with random(). */
export function asText(
  view: DataView,
  at: number,
  vector: Vector,
  row: number,
  kind: number,
  scale = 0,
): number {
  at = fixedCell(view, writeLiteral(view, at, TEXT), vector, row, kind, scale)
  return writeLiteral(view, at, END_TEXT)
}

/** From here on programs that round times to milliseconds would show the next day. */
const ALMOST_MIDNIGHT = 86_400_000_000 - 500
const LAST_MILLISECOND = 86_400_000_000 - 1000

/**
 * Writes a time as Excel counts it: days and a fraction of a day. A timestamp in the last half millisecond of
 * a day is cut to milliseconds, because the right day counts for more than the rest.
 */
function moment(view: DataView, at: number, style: number, days: number, exact: number): number {
  const micros = days === 0 || exact < ALMOST_MIDNIGHT ? exact : LAST_MILLISECOND
  at = unsigned(view, writeLiteral(view, at, STYLED[style]!), days)
  if (micros > 0) at = days > 0 ? shortFraction(view, at, micros) : fraction(view, at, micros, GROUPS.long)
  return writeLiteral(view, at, END_NUMBER)
}

/** The number of digits in a decimal's text, without the zeros at both ends. */
function significantDigits(view: DataView, start: number, end: number): number {
  let digits = 0
  let significant = 0
  for (let at = start; at < end; at++) {
    const digit = view.getUint8(at) - 0x30
    // The point and the minus come before the digits in ASCII, so they give a negative number here.
    if (digit < 0 || (digit === 0 && digits === 0)) continue
    digits++
    if (digit > 0) significant = digits
  }
  return significant
}

/**
 * Fractions of a day as decimal places. With fewer places, the double nearest to the digits could differ from the
 * double nearest to the time, and programs that cut off fractions of a second would then show the second before.
 */

const DAY_MICROS = 86_400_000_000
const SECOND_MICROS = 1_000_000
const POINT = 0x2e
const ZERO = 0x30

/** Groups of five places: three after the number of a day, whose digits add to the precision, and five without it. */
const GROUPS = { short: 3, long: 5 } as const

/** The texts of whole seconds, four words each, and their lengths. Each is made when it is first needed. */
const WORDS = 4
let texts: Uint32Array | undefined
const lengths = new Uint8Array(86_400)
const scratch = new DataView(new ArrayBuffer(40))

/** Writes a fraction after the number of a day. At least sixteen bytes must have been reserved. */
function shortFraction(view: DataView, at: number, micros: number): number {
  const second = micros / SECOND_MICROS
  if (!Number.isInteger(second)) return fraction(view, at, micros, GROUPS.short)
  texts ??= new Uint32Array(86_400 * WORDS)
  const first = second * WORDS
  if (lengths[second] === 0) {
    lengths[second] = fraction(scratch, 0, micros, GROUPS.short)
    for (let word = 0; word < WORDS; word++) texts[first + word] = scratch.getUint32(4 * word, true)
  }
  view.setUint32(at, texts[first]!, true)
  view.setUint32(at + 4, texts[first + 1]!, true)
  view.setUint32(at + 8, texts[first + 2]!, true)
  view.setUint32(at + 12, texts[first + 3]!, true)
  return at + lengths[second]!
}

/** Writes the point and the places, without zeros at the end. */
function fraction(view: DataView, at: number, micros: number, groups: number): number {
  view.setUint8(at++, POINT)
  for (let rest = micros; rest > 0 && groups > 0; groups--) {
    // All these numbers are below 2^53 and exact, but the quotient may have been rounded up to a whole number.
    const more = rest * 100_000
    const quotient = Math.floor(more / DAY_MICROS)
    const digits = quotient * DAY_MICROS > more ? quotient - 1 : quotient
    rest = more - digits * DAY_MICROS
    at = padded(view, at, digits, 5)
  }
  while (view.getUint8(at - 1) === ZERO) at--
  return at
}

const UNDERSCORE = 0x5f
const HEX = Buffer.from('0123456789ABCDEF')
const ENTITIES: readonly (Literal | undefined)[] = Array.from({ length: 64 }, (_, byte) => {
  const text = { 38: '&amp;', 60: '&lt;', 62: '&gt;' }[byte]
  return text === undefined ? undefined : literal(text)
})

const SUSPICIOUS = [0x26, 0x3c, 0x3e, UNDERSCORE, 0xef]

/** Whether texts can stand in XML as they are; false also for some that can, such as every underscore. */
export function isXmlText(texts: Buffer): boolean {
  return !SUSPICIOUS.some((byte) => texts.includes(byte)) && !hasControls(texts)
}

/**
 * Writes a text as XML content. Characters that XML can't hold (control characters, U+FFFE, U+FFFF, and carriage
 * returns, which parsers turn into line feeds) are written like `_x0001_`, as in Office Open XML (ISO 29500-1,
 * 22.9.2.19, ST_Xstring). In a text that looks like such an escape, the underscore is escaped. A byte becomes at most
 * seven bytes.
 */
export function escapeXml(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  from: Uint8Array,
  start: number,
  end: number,
): number {
  const escapeCode = (code: number): void => {
    bytes[at++] = UNDERSCORE
    bytes[at++] = 0x78
    for (let shift = 12; shift >= 0; shift -= 4) bytes[at++] = HEX[(code >> shift) & 15]!
    bytes[at++] = UNDERSCORE
  }
  for (let i = start; i < end; i++) {
    const byte = from[i]!
    const entity = byte < 64 ? ENTITIES[byte] : undefined
    if (entity) {
      at = writeLiteral(view, at, entity)
    } else if (isControl(byte) || (byte === UNDERSCORE && isEscape(from, i, end))) {
      escapeCode(byte)
    } else if (isNoncharacter(from, i)) {
      escapeCode(0xff40 + from[i + 2]!)
      i += 2
    } else {
      bytes[at++] = byte
    }
  }
  return at
}

function isControl(byte: number): boolean {
  return byte < 0x20 && byte !== 0x09 && byte !== 0x0a
}

/** Whether U+FFFE or U+FFFF is at `at`. */
function isNoncharacter(from: Uint8Array, at: number): boolean {
  return from[at] === 0xef && from[at + 1] === 0xbf && from[at + 2]! >= 0xbe
}

/** Whether an escape such as `_x005F_` begins at `at`; it may end with the underscore of another escape. */
function isEscape(from: Uint8Array, at: number, end: number): boolean {
  if (at + 7 > end || from[at + 1] !== 0x78) return false
  const closing = from[at + 6]!
  if (closing !== UNDERSCORE && !isControl(closing) && !isNoncharacter(from, at + 6)) return false
  for (let i = at + 2; i < at + 6; i++) {
    const byte = from[i]!
    const lower = byte | 0x20
    if (!(byte >= 0x30 && byte <= 0x39) && !(lower >= 0x61 && lower <= 0x66)) return false
  }
  return true
}
