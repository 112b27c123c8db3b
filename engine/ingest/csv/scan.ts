import { isUtf8 } from 'node:buffer'
import type { ColumnType } from '../../types/index.ts'
import { acceptedKinds, acceptsValue } from '../text/accepted.ts'
import { ALL_KINDS, CHECK, checkedKind, classifier, KIND, RANGED, SAFE_LENGTH } from '../text/text-kinds.ts'
import {
  badValue,
  LATE_QUOTE,
  LONE_RETURN,
  malformed,
  missingValue,
  OTHER_ENCODING,
  quoteValue,
} from '../text/value-errors.ts'
import { CR, LF, LONGEST_RECORD, QUOTE, STOP, transitions, wholeCharacters } from './bytes.ts'

/** The column that one field of each record belongs to. */
export interface FieldPlan {
  readonly name: string
  /** Undefined where the type is to be inferred. */
  readonly type: ColumnType | undefined
  readonly nullable: boolean
}

/** What the scan of a csv file found in it. */
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
  /** The file has line ends of both kinds, which DuckDB's reader does not accept. */
  readonly mixedNewlines: boolean
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
  readonly #fields: readonly FieldPlan[]
  readonly #delimiter: number
  readonly #kinds: Int32Array
  readonly #nulls: Float64Array
  readonly #widths: Float64Array
  /** Per field: the kinds of values that are accepted without a look at the value itself. */
  readonly #certain: Int32Array
  /** The transition tables for fields without quotes and for those in quotes. */
  readonly #plain: Uint16Array
  readonly #quoted: Uint16Array
  /** The positions of the carriage returns of line ends in the last buffer; kept only if `keepReturns` is set. */
  readonly lineEndReturns: number[] = []
  readonly #keepReturns: boolean
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

  /**
   * @param newline the line end behind the header; `none` if the file ends there
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
    this.#certain = Int32Array.from(fields, ({ type, nullable }) => {
      const certain = type === undefined ? ALL_KINDS : acceptedKinds(type).certain
      return (nullable ? certain | KIND.null : certain & ~KIND.null) & ~CHECK
    })
    this.#plain = transitions([delimiter, LF, CR, QUOTE])
    this.#quoted = transitions([LF, CR, QUOTE])
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
   * Takes `buffer[0..end)` and returns how many of its bytes have been used. The others have to be passed again, at the
   * start of the next buffer. `buffer[end]` must exist and is overwritten.
   * @throws EngineError `invalid_upload`
   */
  feed(buffer: Buffer, end: number, final: boolean): number {
    this.lineEndReturns.length = 0
    this.#invalid = !isUtf8(buffer.subarray(0, final ? end : wholeCharacters(buffer, end)))
    // A byte at which the inner loops stop, so that they need not compare positions.
    buffer[end] = CR
    let at = 0
    for (;;) {
      // If some bytes of the buffer are not UTF-8, all of it is read field by field, to find the row and the column.
      if (!this.#invalid) at = this.#skim(buffer, at)
      const next = this.#readField(buffer, at, end, final)
      if (next === at) break
      at = next
    }
    if (end - this.#recordStart > LONGEST_RECORD) throw this.#tooLong()
    this.#recordStart -= at
    return at
  }

  /**
   * Quickly reads fields as long as they are simple: their kinds are accepted without a look at the values, and they
   * end with a delimiter or LF. Returns where the first other field begins.
   */
  #skim(buffer: Uint8Array, start: number): number {
    const { start: startState, kind: kindOf, stride } = classifier()
    const first = (startState / stride) * 256
    const plain = this.#plain
    const kinds = this.#kinds
    const nulls = this.#nulls
    const widths = this.#widths
    const certain = this.#certain
    const delimiter = this.#delimiter
    const last = this.#fields.length - 1
    let field = this.#field
    let rows = this.rows
    let record = this.#recordStart
    let longest = this.#longest
    let at = start
    let from = start
    for (;;) {
      let state = first
      let next = 0
      while ((next = plain[state + buffer[at]!]!) !== STOP) {
        state = next
        at++
      }
      const byte = buffer[at]
      const width = at - from
      const kind = width === 0 ? KIND.null : kindOf[state >> 8]!
      if (kind & ~certain[field]! || (width > SAFE_LENGTH && kind & RANGED)) break
      if (byte === delimiter) {
        if (field >= last) break
        kinds[field]! |= kind
        if (width === 0) nulls[field]!++
        else widths[field]! += width
        field++
        from = ++at
      } else if (byte === LF) {
        // An empty line may be a blank line or a null: `#readField` decides.
        if (field !== last || (width === 0 && field === 0)) break
        kinds[field]! |= kind
        if (width === 0) nulls[field]!++
        else widths[field]! += width
        if (at - record > longest) longest = at - record
        rows++
        field = 0
        record = from = ++at
      } else if (byte === QUOTE && width === 0) {
        at = this.#skimQuoted(buffer, from, field)
        if (at === from) break
        if (field < last) field++
        else {
          if (at - record > longest) longest = at - record
          rows++
          field = 0
          record = at + 1
        }
        from = ++at
      } else break
    }
    if (rows > this.rows) this.#lf = true
    if (longest > LONGEST_RECORD) throw this.#tooLong(rows)
    this.rows = rows
    this.#field = field
    this.#recordStart = record
    this.#longest = longest
    return from
  }

  /**
   * Reads a simple field in quotes, and returns the position of the delimiter or line end behind it. Returns `from` if
   * the field is not a simple one.
   */
  #skimQuoted(buffer: Uint8Array, from: number, field: number): number {
    const { start, kind: kindOf, stride } = classifier()
    const quoted = this.#quoted
    const last = field === this.#fields.length - 1
    let state = (start / stride) * 256
    let at = from + 1
    for (;;) {
      let next = 0
      while ((next = quoted[state + buffer[at]!]!) !== STOP) {
        state = next
        at++
      }
      if (buffer[at] !== QUOTE) return from
      at++
      if (buffer[at] !== QUOTE) break
      // A doubled quote stands for one quote, and only text has quotes: state 0 is that of text.
      state = 0
      at++
    }
    if (buffer[at] !== (last ? LF : this.#delimiter)) return from
    const width = at - from - 2
    const kind = kindOf[state >> 8]!
    if (kind & ~this.#certain[field]! || (width > SAFE_LENGTH && kind & RANGED)) return from
    this.#quotes = true
    this.#kinds[field]! |= kind
    this.#widths[field]! += width
    return at
  }

  /** Reads any field. Returns where the next one begins, or `from` if the buffer does not hold all of this one. */
  #readField(buffer: Buffer, from: number, end: number, final: boolean): number {
    const { start, kind: kindOf, stride } = classifier()
    const last = this.#fields.length - 1
    const field = this.#field
    const quoted = buffer[from] === QUOTE
    let at = quoted ? from + 1 : from
    let state = (start / stride) * 256
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
    if (ending === undefined && !final) return from
    if (ending === CR) {
      if (at + 1 === end && !final) return from
      if (at + 1 === end || buffer[at + 1] !== LF) throw this.#loneReturn()
    } else if (quoted && ending !== undefined && ending !== this.#delimiter && ending !== LF) {
      throw this.#malformed(
        `there is text behind the closing quote of field ${field + 1}; a quote inside of a quoted field is doubled`,
      )
    }
    const blankLine = field === 0 && last > 0 && at === from && ending !== this.#delimiter
    if (!blankLine) {
      if (field > last) throw this.#ragged(buffer, from)
      const kind = !quoted && at === from ? KIND.null : kindOf[state >> 8]!
      this.#take(field, kind, buffer, quoted ? from + 1 : from, to, quoted)
    }
    if (ending === this.#delimiter) {
      this.#field++
      return at + 1
    }
    if (!blankLine) {
      if (field < last) throw this.#short(field)
      this.#endRecord(at - this.#recordStart)
    }
    return this.#endLine(at, ending)
  }

  #endLine(at: number, ending: number | undefined): number {
    if (ending === CR) {
      this.#crlf = true
      if (this.#keepReturns) this.lineEndReturns.push(at)
    } else if (ending === LF) this.#lf = true
    this.#field = 0
    this.#recordStart = ending === undefined ? at : ending === CR ? at + 2 : at + 1
    return this.#recordStart
  }

  #endRecord(length: number): void {
    this.rows++
    if (length <= this.#longest) return
    this.#longest = length
    if (length > LONGEST_RECORD) throw this.#tooLong(this.rows)
  }

  /** Checks and counts a value. */
  #take(field: number, found: number, buffer: Buffer, from: number, to: number, quoted: boolean): void {
    const doubtful = found & CHECK || (to - from > SAFE_LENGTH && found & RANGED)
    const kind = doubtful ? checkedKind(found, buffer.toString('latin1', from, to)) : found
    if (kind & ~this.#certain[field]! || this.#invalid)
      this.#examine(field, kind, buffer.subarray(from, to), quoted)
    this.#kinds[field]! |= kind
    if (kind === KIND.null) this.#nulls[field]!++
    else this.#widths[field]! += to - from
  }

  /** Checks the value itself, because its kind alone does not say that the column accepts it. */
  #examine(field: number, kind: number, bytes: Buffer, quoted: boolean): void {
    const row = this.rows + 1
    const { name, type, nullable } = this.#fields[field]!
    if (kind === KIND.null && !nullable) throw missingValue(row, name)
    if (kind === KIND.text && this.#invalid && !isUtf8(bytes)) {
      throw malformed(
        `Row ${row}, column ${JSON.stringify(name)}: the text is not valid UTF-8. ${OTHER_ENCODING}`,
        {
          row,
          column: name,
        },
      )
    }
    if ((kind & ~this.#certain[field]!) === 0 || type === undefined) return
    const { possible } = acceptedKinds(type)
    const text = quoted ? bytes.toString().replaceAll('""', '"') : bytes.toString()
    if ((kind & possible) === 0 || !acceptsValue(type, text)) throw badValue(row, name, text, type)
  }

  /** Refuses fields such as the second of `a, "b"`: DuckDB would drop the blank and read quotes, others would not. */
  #refuseLateQuote(buffer: Buffer, from: number, at: number): void {
    for (let i = from; i < at; i++) if (buffer[i] !== 0x20 && buffer[i] !== 0x09) return
    throw this.#malformed(LATE_QUOTE)
  }

  #loneReturn(): Error {
    return this.#malformed(LONE_RETURN)
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
