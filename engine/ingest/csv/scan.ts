import { isUtf8 } from 'node:buffer'
import { isUtf8Piece } from '../file.ts'
import type { UploadOptions } from '../request.ts'
import type { Target } from '../targets.ts'
import {
  badCell,
  badRow,
  badValue,
  Faults,
  LONGEST_RECORD,
  longRow,
  missingValue,
  plainReason,
  shortRow,
  type TextReason,
  TOO_LONG,
} from '../text/errors.ts'
import { accepts, certainKinds, DOUBTFUL, holdsEmpty, inferType, TEXT_KIND } from '../text/text-kinds.ts'
import { lookAt, type TextFindings, textReason, withOptions } from './suggestions.ts'
import { otherEncoding } from './syntax.ts'
import { Tokenizer } from './tokenizer.ts'

/** The column that one field of each record belongs to. */
type FieldTarget = Pick<Target, 'name' | 'type' | 'nullable'>

/** What the scan of a csv file found in it. */
export interface CsvFindings {
  readonly rows: number
  /** Per field: the mask of the kinds of its values. */
  readonly kinds: readonly number[]
  /** Per field: how many values are missing. */
  readonly nulls: readonly number[]
  /** Per field: how many other values are the empty text, which is null unless the column is text or binary. */
  readonly empties: readonly number[]
  /** Per field: bytes of its values' text. */
  readonly widths: readonly number[]
  /** Per field: why its type, where it is inferred, is text; undefined if it isn't. */
  readonly reasons: readonly (TextReason | undefined)[]
  /** Per field: the first value that may mean something else, such as 2.500. */
  readonly doubtful: readonly (TextReason | undefined)[]
  /** Per field: the first number with more digits than a double keeps. */
  readonly rounded: readonly (TextReason | undefined)[]
  /** Bytes of the longest record. */
  readonly longest: number
  readonly quotes: boolean
  readonly quotedNewlines: boolean
}

/**
 * Checks the records of plain csv after its header, their shape and their values, and learns what kinds of values each
 * column holds. Its findings decide what the file contains; DuckDB is then told to read the same.
 *
 * Blank lines are skipped in files with more than one column; in files with one column, a blank line is a null.
 */
export class CsvScan {
  rows = 0
  readonly #fields: readonly FieldTarget[]
  readonly #tokenizer: Tokenizer
  readonly #kinds: Int32Array
  readonly #nulls: Float64Array
  readonly #empties: Float64Array
  readonly #widths: Float64Array
  /** Per field: the kinds that have been seen and are accepted without a look at the value itself. */
  readonly #certain: Int32Array
  readonly #texts: TextFindings[]
  readonly #doubtful: (TextReason | undefined)[]
  readonly #rounded: (TextReason | undefined)[]
  readonly #options: UploadOptions | undefined
  readonly #faults = new Faults()
  #longest = 0
  #crlf: boolean
  #lf: boolean
  /** The piece that is read, if it is not UTF-8. */
  #invalid: Buffer | undefined

  /** @param newline the line end after the header; `none` if the file ends there */
  constructor(
    fields: readonly FieldTarget[],
    delimiter: string,
    newline: 'lf' | 'crlf' | 'none',
    options?: UploadOptions,
  ) {
    this.#options = options
    this.#fields = fields
    this.#tokenizer = new Tokenizer(delimiter, (what) => badRow(this.rows + 1, `: ${what}.`))
    this.#crlf = newline === 'crlf'
    this.#lf = newline === 'lf'
    this.#kinds = new Int32Array(fields.length)
    this.#nulls = new Float64Array(fields.length)
    this.#empties = new Float64Array(fields.length)
    this.#widths = new Float64Array(fields.length)
    this.#certain = new Int32Array(fields.length)
    this.#texts = fields.map(() => ({ reason: undefined, looked: [] }))
    this.#doubtful = fields.map(() => undefined)
    this.#rounded = fields.map(() => undefined)
  }

  /** Whether the file has line ends of both kinds, which DuckDB's reader does not accept. */
  get mixedNewlines(): boolean {
    return this.#crlf && this.#lf
  }

  /** @throws EngineError `invalid_upload` that lists the values that don't fit into their columns */
  get findings(): CsvFindings {
    this.#faults.check()
    const { quotes, quotedNewlines } = this.#tokenizer
    return {
      rows: this.rows,
      kinds: [...this.#kinds],
      nulls: [...this.#nulls],
      empties: [...this.#empties],
      widths: [...this.#widths],
      reasons: this.#texts.map(withOptions),
      doubtful: this.#doubtful,
      rounded: this.#rounded,
      longest: this.#longest,
      quotes,
      quotedNewlines,
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
    this.#invalid = isUtf8Piece(buffer, end, final) ? undefined : buffer.subarray(0, end)
    let at = 0
    for (;;) {
      const next = this.#tokenizer.read(buffer, at, end, final)
      if (next === at) break
      this.#record(buffer, at)
      at = next
    }
    if (end - at > LONGEST_RECORD) throw badRow(this.rows + 1, TOO_LONG)
    return at
  }

  #record(buffer: Buffer, from: number): void {
    const { count, end, newline, isBlank, starts, ends, kinds } = this.#tokenizer
    if (newline === 'crlf') this.#crlf = true
    else if (newline === 'lf') this.#lf = true
    const width = this.#fields.length
    if (isBlank && width > 1) return
    if (count !== width) this.#faults.add(this.#misshapen(buffer, from))
    else {
      const [certain, widths, invalid] = [this.#certain, this.#widths, this.#invalid]
      for (let field = 0; field < width; field++) {
        const kind = kinds[field]!
        if (kind & ~certain[field]! || invalid) this.#examine(field, kind, buffer)
        widths[field]! += ends[field]! - starts[field]!
      }
    }
    this.rows++
    if (end - from > this.#longest) this.#longest = end - from
    if (this.#longest > LONGEST_RECORD) throw badRow(this.rows, TOO_LONG)
  }

  /** Checks a value whose kind is new in its column, or does not say by itself that the column accepts it. */
  #examine(field: number, kind: number, buffer: Buffer): void {
    const { name, type, nullable } = this.#fields[field]!
    const found = this.#kinds[field]!
    this.#kinds[field] = found | kind
    if (kind === TEXT_KIND.null) this.#nulls[field]!++
    else if (kind === TEXT_KIND.empty) this.#empties[field]!++
    else {
      this.#examineText(field, kind, found, buffer)
      return
    }
    const isMissing = kind === TEXT_KIND.null || type === undefined || !holdsEmpty(type)
    if (isMissing && !nullable) this.#faults.add(missingValue(this.rows + 1, name))
  }

  /** @param found the kinds of the values above */
  #examineText(field: number, kind: number, found: number, buffer: Buffer): void {
    const row = this.rows + 1
    const { name, type } = this.#fields[field]!
    const { starts, ends } = this.#tokenizer
    const bytes = buffer.subarray(starts[field], ends[field])
    if (kind === TEXT_KIND.text && this.#invalid && !isUtf8(bytes)) {
      throw badCell(row, name, `the text is not valid UTF-8. ${otherEncoding(this.#invalid)}`)
    }
    if ((kind & ~this.#certain[field]!) === 0) return
    const text = this.#tokenizer.text(buffer, field)
    if (kind & DOUBTFUL) this.#doubtful[field] ??= textReason(row, text)
    if (kind & TEXT_KIND.rounded) this.#rounded[field] ??= plainReason(row, text)
    if (type === undefined) {
      const isText = inferType(found | kind) === 'string'
      const isOpen = isText && lookAt(this.#texts[field]!, row, text, inferType(found), kind)
      if (!isOpen) this.#certain[field]! |= kind
      return
    }
    if (!accepts(type, kind, true, () => text, this.#options))
      this.#faults.add(badValue(row, name, text, type))
    else this.#certain[field]! |= kind & certainKinds(type, this.#options)
  }

  /** The error for a record with too few or too many fields. */
  #misshapen(buffer: Buffer, from: number) {
    const { count, end } = this.#tokenizer
    const [row, width] = [this.rows + 1, this.#fields.length]
    if (count > width) return longRow(row, width, this.#tokenizer.text(buffer, width))
    return shortRow(row, count, width, buffer.toString('utf8', from, end))
  }
}
