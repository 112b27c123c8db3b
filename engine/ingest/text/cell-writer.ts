import type { ColumnType } from '../../types/index.ts'
import { acceptedKinds, inferType, KIND, ZONED } from './text-kinds.ts'

/** The delimiter of csv that we write for DuckDB: no text holds it unless by an escape, so hardly any needs quotes. */
export const UNIT_SEPARATOR = 0x1f
const [QUOTE, LF, CR] = [0x22, 0x0a, 0x0d]

/** A csv record under way, for one reader: DuckDB. `append…` writes fields; `delimit` and `endRecord` part them. */
export class CellWriter {
  buffer: Buffer = Buffer.allocUnsafe(256 * 1024)
  length = 0
  quotes = false
  quotedNewlines = false
  longest = 0
  #recordStart = 0

  /** Text that holds neither the delimiter nor quotes nor line ends, and is not empty. */
  appendPlain(source: Uint8Array, from: number, to: number): void {
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

  /** Any text. @returns its bytes */
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

  /** What has been written so far; the writer starts over. Only between records. */
  take(): Buffer {
    const taken = this.buffer.subarray(0, this.length)
    this.length = 0
    this.#recordStart = 0
    return taken
  }

  /** Room for so many bytes behind `length`, in the buffer that it returns. */
  reserve(bytes: number): Buffer {
    if (this.length + bytes <= this.buffer.length) return this.buffer
    const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.length + bytes))
    this.buffer.copy(larger, 0, 0, this.length)
    this.buffer = larger
    return larger
  }
}

const TEXT_DATES = KIND.date | KIND.timestamp | ZONED | KIND.time

/**
 * The type of a column of a format that tells text from numbers: text never becomes a number, but for the spellings of
 * NaN and the infinities among numbers, which JSON has no other way to write.
 * @param scalars kinds of values that are not text
 * @param texts kinds of values that are
 */
export function inferTyped(scalars: number, texts: number, nested: boolean): ColumnType {
  if (nested) return 'json'
  if (texts === 0) return inferType(scalars)
  // Dates are text in JSON, and in workbooks where Excel's calendar does not go.
  if (((scalars | texts) & ~TEXT_DATES) === 0) return inferType(scalars | texts)
  if (scalars === 0) return 'string'
  const special = (texts & ~KIND.special) === 0 && inferType(scalars | KIND.special) === 'double'
  return special ? 'double' : 'string'
}

/** Whether a declared type takes a kind as it is, after a look, or not at all. */
export function acceptance(type: ColumnType, kind: number): 'yes' | 'look' | 'no' {
  const { certain, possible } = acceptedKinds(type)
  return kind & certain ? 'yes' : kind & possible ? 'look' : 'no'
}
