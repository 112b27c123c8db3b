import { isUtf8 } from 'node:buffer'
import type { EngineError } from '../../errors.ts'
import { isUtf8Piece } from '../file.ts'
import type { Target } from '../targets.ts'
import {
  badCell,
  badRow,
  badValue,
  Faults,
  LATE_QUOTE,
  LONE_RETURN,
  LONGEST_RECORD,
  longRow,
  missingValue,
  shortRow,
  type TextReason,
  TOO_LONG,
} from '../text/errors.ts'
import {
  accepts,
  certainKinds,
  checkedKind,
  classifier,
  inferType,
  isDoubtful,
  STOP,
  TEXT_KIND,
  transitions,
} from '../text/text-kinds.ts'
import { otherEncoding, textReason } from './syntax.ts'

const [QUOTE, LF, CR] = [0x22, 0x0a, 0x0d]

const TEXT_BEHIND_QUOTE = (field: number): string =>
  `there is text behind the closing quote of field ${field + 1}; a quote inside of a quoted field is doubled`

/** The column that one field of each record belongs to. */
type FieldTarget = Pick<Target, 'name' | 'type' | 'nullable'>

/** What the scan of a csv file found in it. */
export interface CsvFindings {
  readonly rows: number
  /** Per field: the mask of the kinds of its values. */
  readonly kinds: readonly number[]
  /** Per field: how many values are missing. */
  readonly nulls: readonly number[]
  /** Per field: bytes of its values' text. */
  readonly widths: readonly number[]
  /** Per field: why its type, where it is inferred, is text; undefined if it isn't. */
  readonly reasons: readonly (TextReason | undefined)[]
  /** Bytes of the longest record. */
  readonly longest: number
  readonly quotes: boolean
  readonly quotedNewlines: boolean
}

/**
 * Reads the records behind a csv header byte by byte (RFC 4180), checks their shape and their values, and learns what
 * kinds of values each column holds. Its findings decide what the file contains; DuckDB is then told to read the same.
 *
 * It is lenient in two points: blank lines are skipped in files with more than one column (in files with one column, a
 * blank line is a null), and quotes within a field that doesn't begin with a quote are plain characters.
 */
export class CsvScan {
  rows = 0
  readonly #fields: readonly FieldTarget[]
  readonly #delimiter: number
  readonly #kinds: Int32Array
  readonly #nulls: Float64Array
  readonly #widths: Float64Array
  /**
   * Per field: the kinds of values that are accepted without a look at the value itself. Where the type is inferred,
   * these are the kinds that have been seen.
   */
  readonly #certain: Int32Array
  readonly #reasons: (TextReason | undefined)[]
  readonly #faults = new Faults()
  /** The transition tables for fields without quotes and for those in quotes. */
  readonly #plain: Uint16Array
  readonly #quoted: Uint16Array
  /** The index of the field that comes next. */
  #field = 0
  /** Where in the buffer the record under way begins; below 0 if it began in an earlier buffer. */
  #recordStart = 0
  #longest = 0
  #quotes = false
  #quotedNewlines = false
  #crlf: boolean
  #lf: boolean
  /** Some bytes of the buffer are not valid UTF-8. */
  #invalid = false

  /** @param newline the line end behind the header; `none` if the file ends there */
  constructor(fields: readonly FieldTarget[], delimiter: number, newline: 'lf' | 'crlf' | 'none') {
    this.#fields = fields
    this.#delimiter = delimiter
    this.#crlf = newline === 'crlf'
    this.#lf = newline === 'lf'
    this.#kinds = new Int32Array(fields.length)
    this.#nulls = new Float64Array(fields.length)
    this.#widths = new Float64Array(fields.length)
    this.#certain = Int32Array.from(fields, ({ type, nullable }) => {
      const certain = type === undefined ? 0 : certainKinds(type)
      return nullable ? certain | TEXT_KIND.null : certain
    })
    this.#reasons = fields.map(() => undefined)
    this.#plain = transitions([delimiter, LF, CR, QUOTE])
    this.#quoted = transitions([LF, CR, QUOTE])
  }

  /** Whether the file has line ends of both kinds, which DuckDB's reader does not accept. */
  get mixedNewlines(): boolean {
    return this.#crlf && this.#lf
  }

  /** @throws EngineError `invalid_upload` that lists the values that don't fit into their columns */
  get findings(): CsvFindings {
    this.#faults.check()
    return {
      rows: this.rows,
      kinds: [...this.#kinds],
      nulls: [...this.#nulls],
      widths: [...this.#widths],
      reasons: this.#reasons,
      longest: this.#longest,
      quotes: this.#quotes,
      quotedNewlines: this.#quotedNewlines,
    }
  }

  /**
   * Takes `buffer[0..end)` and returns how many of its bytes have been used. The others have to be passed again, at the
   * start of the next buffer. `buffer[end]` must exist and is overwritten.
   * @throws EngineError `invalid_upload`
   */
  feed(buffer: Buffer, end: number, final: boolean): number {
    return this.#faults.during(() => this.#feed(buffer, end, final))
  }

  #feed(buffer: Buffer, end: number, final: boolean): number {
    this.#invalid = !isUtf8Piece(buffer, end, final)
    // A byte at which the inner loops stop, so that they need not compare positions.
    buffer[end] = CR
    let at = 0
    for (;;) {
      const next = this.#readField(buffer, at, end, final)
      if (next === at) break
      at = next
    }
    if (end - this.#recordStart > LONGEST_RECORD) throw badRow(this.rows + 1, TOO_LONG)
    this.#recordStart -= at
    return at
  }

  /** Reads any field. Returns where the next one begins, or `from` if the buffer does not hold all of this one. */
  #readField(buffer: Buffer, from: number, end: number, final: boolean): number {
    const { start, kind: kindOf } = classifier()
    const last = this.#fields.length - 1
    const field = this.#field
    const quoted = buffer[from] === QUOTE
    let at = quoted ? from + 1 : from
    let state = start
    const table = quoted ? this.#quoted : this.#plain
    for (;;) {
      let next = 0
      while ((next = table[state + buffer[at]!]!) !== STOP) {
        state = next
        at++
      }
      if (at >= end) break
      if (!quoted) {
        if (buffer[at] !== QUOTE) break
        this.#refuseLateQuote(buffer, from, at)
      } else if (buffer[at] === QUOTE) {
        if (at + 1 === end && !final) return from
        if (buffer[at + 1] !== QUOTE || at + 1 === end) break
        at++
      } else this.#quotedNewlines = true
      state = 0
      at++
    }
    if (at >= end) {
      if (!final) return from
      if (quoted) throw this.#malformed('a quoted field is not closed')
      if (field === 0 && from === end) return from
    }
    const to = at
    if (quoted) {
      this.#quotes = true
      at++
    }
    const ending = at >= end ? undefined : buffer[at]
    const isCut = ending === undefined || (ending === CR && at + 1 === end)
    if (isCut && !final) return from
    if (ending === CR && (isCut || buffer[at + 1] !== LF)) throw this.#malformed(LONE_RETURN)
    if (quoted && !(ending === undefined || ending === CR || ending === LF || ending === this.#delimiter)) {
      throw this.#malformed(TEXT_BEHIND_QUOTE(field))
    }
    const blankLine = field === 0 && last > 0 && at === from && ending !== this.#delimiter
    if (!blankLine) {
      if (field > last) throw this.#long(buffer, from)
      const kind = !quoted && at === from ? TEXT_KIND.null : kindOf[state >> 8]!
      this.#take(field, kind, buffer, quoted ? from + 1 : from, to, quoted)
    }
    if (ending === this.#delimiter) {
      this.#field++
      return at + 1
    }
    if (!blankLine) {
      if (field < last) this.#faults.add(this.#short(field, buffer, at))
      this.#endRecord(at - this.#recordStart)
    }
    return this.#endLine(at, ending)
  }

  #endLine(at: number, ending: number | undefined): number {
    if (ending === CR) this.#crlf = true
    else if (ending === LF) this.#lf = true
    this.#field = 0
    this.#recordStart = ending === undefined ? at : ending === CR ? at + 2 : at + 1
    return this.#recordStart
  }

  #endRecord(length: number): void {
    this.rows++
    if (length <= this.#longest) return
    this.#longest = length
    if (length > LONGEST_RECORD) throw badRow(this.rows, TOO_LONG)
  }

  /** Checks and counts a value. */
  #take(field: number, found: number, buffer: Buffer, from: number, to: number, quoted: boolean): void {
    const kind = isDoubtful(found, to - from)
      ? checkedKind(found, buffer.toString('latin1', from, to))
      : found
    if (kind & ~this.#certain[field]! || this.#invalid)
      this.#examine(field, kind, buffer.subarray(from, to), quoted)
    this.#kinds[field]! |= kind
    if (kind === TEXT_KIND.null) this.#nulls[field]!++
    else this.#widths[field]! += to - from
  }

  /** Checks the value itself, because its kind alone does not say that the column accepts it. */
  #examine(field: number, kind: number, bytes: Buffer, quoted: boolean): void {
    const row = this.rows + 1
    const { name, type, nullable } = this.#fields[field]!
    if (kind === TEXT_KIND.null && !nullable) this.#faults.add(missingValue(row, name))
    if (kind === TEXT_KIND.text && this.#invalid && !isUtf8(bytes)) {
      throw badCell(row, name, `the text is not valid UTF-8. ${otherEncoding(bytes)}`)
    }
    if ((kind & ~this.#certain[field]!) === 0 || kind === TEXT_KIND.null) return
    const text = quoted ? bytes.toString().replaceAll('""', '"') : bytes.toString()
    if (type === undefined) {
      this.#certain[field]! |= kind
      const kinds = this.#kinds[field]!
      if (inferType(kinds | kind) === 'string')
        this.#reasons[field] ??= textReason(row, text, inferType(kinds))
      return
    }
    if (!accepts(type, kind, true, () => text)) this.#faults.add(badValue(row, name, text, type))
  }

  /** Refuses fields such as the second of `a, "b"`: DuckDB would drop the blank and read quotes, others would not. */
  #refuseLateQuote(buffer: Buffer, from: number, at: number): void {
    for (let i = from; i < at; i++) if (buffer[i] !== 0x20 && buffer[i] !== 0x09) return
    throw this.#malformed(LATE_QUOTE)
  }

  #long(buffer: Buffer, from: number): EngineError {
    const text = buffer.subarray(from, from + 40).toString()
    return longRow(this.rows + 1, this.#fields.length, text.split(/[\r\n]/, 1)[0]!)
  }

  #short(field: number, buffer: Buffer, end: number): EngineError {
    // What came in an earlier buffer is gone.
    const line = buffer.subarray(Math.max(this.#recordStart, 0), end).toString()
    return shortRow(this.rows + 1, field + 1, this.#fields.length, line)
  }

  #malformed(what: string): EngineError {
    return badRow(this.rows + 1, `: ${what}.`)
  }
}
