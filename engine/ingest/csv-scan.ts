import { isUtf8 } from 'node:buffer'
import type { ColumnType } from '../types.ts'
import { acceptedKinds, CHECK, checkedKind, classifier, KIND, RANGED, SAFE_LENGTH } from './kinds.ts'
import { acceptsValue, badValue, malformed, missingValue, quoteValue } from './values.ts'

export const QUOTE = 0x22
export const LF = 0x0a
export const CR = 0x0d

/** What one field of each record is to be. */
export interface FieldPlan {
  readonly name: string
  /** Undefined where the type is to be inferred. */
  readonly type: ColumnType | undefined
  readonly nullable: boolean
}

/** What a whole csv file was found to hold. */
export interface CsvFindings {
  readonly rows: number
  /** Per field: the mask of the kinds of its values. */
  readonly kinds: readonly number[]
  /** Per field: how many values are missing. */
  readonly nulls: readonly number[]
  /** Per field: bytes of its values' text. */
  readonly widths: readonly number[]
  /** Bytes of the longest record. */
  readonly longest: number
  readonly quotes: boolean
  readonly quotedNewlines: boolean
  /** Line ends of both kinds occur, which DuckDB's reader does not take. */
  readonly mixedNewlines: boolean
}

/** A record longer than this is refused: DuckDB holds whole records, several at a time. */
export const LONGEST_RECORD = 64 * 1024 * 1024

/** Classes beyond those of the automaton: bytes that end the inner loop. */
const SPECIAL = 32

/**
 * Reads the records behind a csv header byte by byte (RFC 4180), checks their shape and their values, and learns what
 * kinds of values each column holds. It is the authority on what the file says; DuckDB then only has to do as told.
 *
 * Leniences: blank lines are skipped in files with more than one column (with one, a blank line is a null), and quotes
 * inside of a field that doesn't begin with one are plain characters.
 */
export class CsvScan {
  rows = 0
  readonly #fields: readonly FieldPlan[]
  readonly #delimiter: number
  readonly #kinds: Int32Array
  readonly #nulls: Float64Array
  readonly #widths: Float64Array
  /** Per field: kinds that need no second look. */
  readonly #certain: Int32Array
  readonly #plain: Uint8Array
  readonly #quoted: Uint8Array
  /** Where the carriage returns of line ends stand in the buffer fed last; kept only if asked for. */
  readonly lineEndReturns: number[] = []
  readonly #keepReturns: boolean
  #field = 0
  /** Bytes of the record under way that were fed before the present buffer. */
  #recordBytes = 0
  #longest = 0
  #quotes = false
  #quotedNewlines = false
  #crlf: boolean
  #lf: boolean
  #checkUtf8 = false

  /**
   * @param newline the line end behind the header, where there is one
   */
  constructor(
    fields: readonly FieldPlan[],
    delimiter: number,
    newline: 'lf' | 'crlf' | 'none',
    options: { readonly keepReturns?: boolean } = {},
  ) {
    this.#fields = fields
    this.#delimiter = delimiter
    this.#keepReturns = options.keepReturns ?? false
    this.#crlf = newline === 'crlf'
    this.#lf = newline === 'lf'
    this.#kinds = new Int32Array(fields.length)
    this.#nulls = new Float64Array(fields.length)
    this.#widths = new Float64Array(fields.length)
    this.#certain = Int32Array.from(fields, ({ type, nullable }) =>
      type === undefined ? -1 : acceptedKinds(type).certain | (nullable ? KIND.null : 0),
    )
    fields.forEach(({ type, nullable }, index) => {
      if (type === undefined && !nullable) this.#certain[index] = ~KIND.null
    })
    const { classOf } = classifier()
    this.#plain = Uint8Array.from(classOf)
    this.#quoted = Uint8Array.from(classOf)
    for (const byte of [delimiter, LF, CR, QUOTE]) this.#plain[byte] = SPECIAL
    for (const byte of [LF, CR, QUOTE]) this.#quoted[byte] = SPECIAL
  }

  get findings(): CsvFindings {
    return {
      rows: this.rows,
      kinds: [...this.#kinds],
      nulls: [...this.#nulls],
      widths: [...this.#widths],
      longest: this.#longest,
      quotes: this.#quotes,
      quotedNewlines: this.#quotedNewlines,
      mixedNewlines: this.#crlf && this.#lf,
    }
  }

  /**
   * Takes `buffer[0..end)` and returns how many bytes of it are done with: the rest is to come again, at the start of
   * the next buffer. `buffer[end]` must exist and is overwritten.
   * @throws EngineError `invalid_upload`
   */
  feed(buffer: Buffer, end: number, final: boolean): number {
    this.lineEndReturns.length = 0
    this.#checkUtf8 = !isUtf8(buffer.subarray(0, final ? end : wholeCharacters(buffer, end)))
    const { next, start, kind: kindOfState } = classifier()
    const plain = this.#plain
    const inQuotes = this.#quoted
    const kinds = this.#kinds
    const nulls = this.#nulls
    const widths = this.#widths
    const certain = this.#certain
    const delimiter = this.#delimiter
    const last = this.#fields.length - 1
    let field = this.#field
    let record = -this.#recordBytes
    let at = 0
    let done = 0
    // So that the inner loop ends without comparing positions.
    buffer[end] = LF
    for (;;) {
      const from = at
      let state = start
      let kind: number
      let to: number
      let quoted = false
      if (buffer[at] !== QUOTE || at === end) {
        let symbol = 0
        for (;;) {
          while ((symbol = plain[buffer[at]!]!) < SPECIAL) {
            state = next[state + symbol]!
            at++
          }
          if (buffer[at] !== QUOTE) break
          this.#refuseLateQuote(buffer, from, at)
          state = 0
          at++
        }
        to = at
        kind = to === from ? KIND.null : kindOfState[state >> 5]!
      } else {
        quoted = true
        at++
        for (;;) {
          let symbol = 0
          while (at < end && (symbol = inQuotes[buffer[at]!]!) < SPECIAL) {
            state = next[state + symbol]!
            at++
          }
          if (at >= end) {
            if (final) throw this.#malformed('a quoted field is not closed')
            return this.#pause(field, done, done - record)
          }
          if (buffer[at] !== QUOTE) this.#quotedNewlines = true
          else if (at + 1 === end && !final) return this.#pause(field, done, done - record)
          else if (buffer[at + 1] !== QUOTE || at + 1 === end) break
          else at++
          state = 0
          at++
        }
        to = at++
        this.#quotes = true
        kind = kindOfState[state >> 5]!
      }
      // What ends the field: a delimiter, a line end, or the end of the file.
      let ending = buffer[at]
      if (at === end) {
        if (!final) return this.#pause(field, done, done - record)
        if (field === 0 && from === end) break
      } else if (ending === CR) {
        if (at + 1 === end && !final) return this.#pause(field, done, done - record)
        if (buffer[at + 1] !== LF || at + 1 === end) this.#refuseCarriageReturn()
        ending = LF
      } else if (quoted && ending !== delimiter && ending !== LF) {
        throw this.#malformed(
          `there is text behind the closing quote of field ${field + 1}; a quote inside of a quoted field is doubled`,
        )
      }
      const blank = ending === LF && field === 0 && from === at
      if (!(blank && last > 0)) {
        if (field > last) throw this.#ragged(buffer, from)
        const width = quoted ? to - from - 1 : to - from
        if (kind & CHECK || (width > SAFE_LENGTH && kind & RANGED)) {
          kind = checkedKind(kind, buffer.toString('latin1', quoted ? from + 1 : from, to))
        }
        if ((kind & certain[field]!) === 0 || (this.#checkUtf8 && kind === KIND.text)) {
          this.#examine(field, kind, buffer, quoted ? from + 1 : from, to, quoted)
        }
        kinds[field]! |= kind
        if (kind === KIND.null) nulls[field]!++
        else widths[field]! += width
      }
      if (at === end) {
        if (field < last) throw this.#short(field)
        this.#endRecord(at - record)
        done = end
        break
      }
      if (ending === delimiter) {
        field++
        done = ++at
        continue
      }
      const crlf = buffer[at] === CR
      if (crlf) {
        this.#crlf = true
        if (this.#keepReturns) this.lineEndReturns.push(at)
      } else this.#lf = true
      if (!(blank && last > 0)) {
        if (field < last) throw this.#short(field)
        this.#endRecord(at - record)
      }
      at += crlf ? 2 : 1
      field = 0
      done = at
      record = at
    }
    this.#field = 0
    return done
  }

  #pause(field: number, done: number, recordBytes: number): number {
    this.#field = field
    this.#recordBytes = recordBytes
    if (recordBytes > LONGEST_RECORD) throw this.#tooLong()
    return done
  }

  #endRecord(length: number): void {
    this.rows++
    if (length <= this.#longest) return
    this.#longest = length
    if (length > LONGEST_RECORD) throw this.#tooLong(this.rows)
  }

  /** A kind that isn't taken unseen: the value itself decides. */
  #examine(field: number, kind: number, buffer: Buffer, from: number, to: number, quoted: boolean): void {
    const row = this.rows + 1
    const { name, type, nullable } = this.#fields[field]!
    if (kind === KIND.null) throw missingValue(row, name)
    const bytes = buffer.subarray(from, to)
    if (kind === KIND.text && this.#checkUtf8 && !isUtf8(bytes)) {
      throw malformed(`Row ${row}, column ${JSON.stringify(name)}: the text is not valid UTF-8.`, {
        row,
        column: name,
      })
    }
    if (type === undefined || type === 'string') return
    const { certain, possible } = acceptedKinds(type)
    if (kind & (nullable ? certain | KIND.null : certain)) return
    const text = quoted ? bytes.toString().replaceAll('""', '"') : bytes.toString()
    if ((kind & possible) === 0 || !acceptsValue(type, text)) throw badValue(row, name, text, type)
  }

  /** `a, "b"`: DuckDB would drop the blank and open the quotes, others would not. */
  #refuseLateQuote(buffer: Buffer, from: number, at: number): void {
    for (let i = from; i < at; i++) if (buffer[i] !== 0x20 && buffer[i] !== 0x09) return
    throw this.#malformed(
      'there is a blank before an opening quote; the quote has to come first in its field',
    )
  }

  #refuseCarriageReturn(): void {
    throw this.#malformed(
      'there is a carriage return that no line feed follows; lines end with LF or CR LF, and fields that hold one are quoted',
    )
  }

  #ragged(buffer: Buffer, from: number): Error {
    const wanted = this.#fields.length
    const text = buffer
      .subarray(from, from + 40)
      .toString()
      .split(/[\r\n]/, 1)[0]!
    return this.#malformed(
      `it has more fields than the ${wanted} of the header; the first that is too many is ${quoteValue(text)}`,
    )
  }

  #short(field: number): Error {
    return this.#malformed(`it has ${field + 1} of the ${this.#fields.length} fields of the header`)
  }

  #tooLong(row = this.rows + 1): Error {
    return malformed(`Row ${row} is longer than ${LONGEST_RECORD >> 20} MiB.`, { row })
  }

  #malformed(what: string): Error {
    const row = this.rows + 1
    return malformed(`Row ${row}: ${what}.`, { row })
  }
}

/** `end` without the bytes of a character that the buffer cuts in two. */
export function wholeCharacters(buffer: Buffer, end: number): number {
  for (let back = 1; back <= 3 && back <= end; back++) {
    const byte = buffer[end - back]!
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return length > back ? end - back : end
    }
    if (byte < 0x80) return end
  }
  return end
}
