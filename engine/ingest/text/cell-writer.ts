import { EngineError } from '../../errors.ts'
import type { ColumnType } from '../../types/index.ts'
import type { CsvSource } from '../csv/ingest.ts'
import { acceptedKinds } from './accepted.ts'
import { inferType, TEXT_KIND, ZONED } from './text-kinds.ts'

/** The delimiter of csv that we write for DuckDB. Texts hardly ever hold it, so few of them need quotes. */
const UNIT_SEPARATOR = 0x1f
const [QUOTE, LF, CR] = [0x22, 0x0a, 0x0d]
/** The first byte of a byte order mark in UTF-8. */
const BOM = 0xef

/** Writes csv for DuckDB into a buffer: `append…` writes fields, `delimit` and `endRecord` what stands between them. */
export class CellWriter {
  buffer: Buffer = Buffer.allocUnsafe(256 * 1024)
  length = 0
  quotes = false
  quotedNewlines = false
  longest = 0
  #recordStart = 0

  /** Writes text that is not empty and holds neither the delimiter nor quotes nor line ends. */
  appendPlain(source: Uint8Array, from: number, to: number): void {
    // DuckDB drops a byte order mark at the beginning of a file, unless it is in quotes.
    if (this.length === 0 && source[from] === BOM) return void this.appendQuoted(source, from, to)
    this.reserve(to - from + 2)
    const { buffer } = this
    let at = this.length
    if (to - from < 48) for (let i = from; i < to; i++) buffer[at++] = source[i]!
    else {
      buffer.set(source.subarray(from, to), at)
      at += to - from
    }
    this.length = at
  }

  /** Writes any text. @returns the number of its bytes in UTF-8 */
  appendText(text: string): number {
    const bytes = Buffer.from(text)
    if (text !== '' && !/["\x1f\r\n]/.test(text)) this.appendPlain(bytes, 0, bytes.length)
    else this.appendQuoted(bytes, 0, bytes.length)
    return bytes.length
  }

  appendQuoted(source: Uint8Array, from: number, to: number): void {
    this.reserve(2 * (to - from) + 4)
    const { buffer } = this
    let at = this.length
    buffer[at++] = QUOTE
    for (let i = from; i < to; i++) {
      const byte = source[i]!
      if (byte === QUOTE) buffer[at++] = QUOTE
      else if (byte === LF || byte === CR) this.quotedNewlines = true
      buffer[at++] = byte
    }
    buffer[at++] = QUOTE
    this.length = at
    this.quotes = true
  }

  delimit(count = 1): void {
    this.reserve(count)
    if (count === 1) this.buffer[this.length] = UNIT_SEPARATOR
    else this.buffer.fill(UNIT_SEPARATOR, this.length, this.length + count)
    this.length += count
  }

  endRecord(): void {
    this.reserve(1)
    this.buffer[this.length++] = LF
    const bytes = this.length - this.#recordStart
    if (bytes > this.longest) this.longest = bytes
    this.#recordStart = this.length
  }

  /** Returns all that has been written since the last call, and starts over. Only to be called between records. */
  take(): Buffer {
    const taken = this.buffer.subarray(0, this.length)
    this.length = 0
    this.#recordStart = 0
    return taken
  }

  /** What was written to a file, as csv that DuckDB reads. */
  csv(file: string, found: Pick<CsvSource, 'rows' | 'kinds' | 'nulls' | 'widths' | 'reasons'>): CsvSource {
    const { longest, quotes, quotedNewlines } = this
    const delimiter = String.fromCharCode(UNIT_SEPARATOR)
    const fields = found.kinds.length
    return {
      ...found,
      file,
      delimiter,
      newline: 'lf',
      header: false,
      fields,
      longest,
      quotes,
      quotedNewlines,
    }
  }

  /** Makes room for this many bytes behind `length`, and returns the buffer, which may be a new one. */
  reserve(bytes: number): Buffer {
    if (this.length + bytes <= this.buffer.length) return this.buffer
    const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.length + bytes))
    this.buffer.copy(larger, 0, 0, this.length)
    this.buffer = larger
    return larger
  }
}

const TEXT_DATES = TEXT_KIND.date | TEXT_KIND.timestamp | ZONED | TEXT_KIND.time

/**
 * The type of a column of a format that tells text from numbers. Text never becomes a number, with one exception: the
 * spellings of NaN and the infinities do if they are among numbers, since JSON has no other way to write these.
 * @param scalars kinds of the values that are not text
 * @param texts kinds of the values that are text
 */
export function inferTyped(scalars: number, texts: number, nested: boolean): ColumnType {
  if (nested) return 'json'
  if (texts === 0) return inferType(scalars)
  // JSON writes all dates as text, and workbooks those that Excel's calendar does not have.
  if (((scalars | texts) & ~TEXT_DATES) === 0) return inferType(scalars | texts)
  if (scalars === 0) return 'string'
  const special = (texts & ~TEXT_KIND.special) === 0 && inferType(scalars | TEXT_KIND.special) === 'double'
  return special ? 'double' : 'string'
}

/**
 * Whether a declared type accepts all values of a kind, only some of them (`look` at the value), or none.
 * @param isText whether the value is text, in formats that tell text from numbers and booleans
 */
export function acceptance(type: ColumnType, kind: number, isText: boolean): 'yes' | 'look' | 'no' {
  // The digits of a number, and even the word `true`, can be base64 by chance, or those of a UUID.
  if (!isText && (type === 'binary' || type === 'uuid')) return 'no'
  const { certain, possible } = acceptedKinds(type)
  return kind & certain ? 'yes' : kind & possible ? 'look' : 'no'
}

const MOST_BLANK = 1_000_000
const MOST_BLANK_FOR_EACH = 200

/**
 * Counts the cells without a value, and limits them by the number of cells with one. A row of a few bytes may have
 * 16,384 columns without a value in almost all of them, so that otherwise a small file could make a huge table.
 */
export class Blanks {
  #blank = 0
  #held = 0

  /**
   * Counts a row with this many cells, of which `held` have a value.
   * @throws EngineError `upload_too_large`
   */
  add(row: number, cells: number, held: number): void {
    this.#blank += cells - held
    this.#held += held
    if (this.#blank <= MOST_BLANK + MOST_BLANK_FOR_EACH * this.#held) return
    throw new EngineError(
      'upload_too_large',
      `The table is too sparse: up to row ${row} it has ${this.#held} cells with a value and ${this.#blank} empty ` +
        'ones.',
      { details: { row } },
    )
  }
}
