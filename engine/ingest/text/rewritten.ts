import type { EngineError } from '../../errors.ts'
import type { FileMetadata } from '../../types/file-metadata.ts'
import type { ColumnType } from '../../types/index.ts'
import type { Contents } from '../contents.ts'
import type { CsvFindings } from '../csv/scan.ts'
import { isLooking, lookAt, type TextFindings, textReason, withOptions } from '../csv/suggestions.ts'
import type { UnnamedColumns, UploadOptions } from '../request.ts'
import { fieldsOf, type Target } from '../targets.ts'
import {
  badCell,
  badValue,
  Faults,
  missingValue,
  plainReason,
  quoteValue,
  type TextReason,
} from './errors.ts'
import {
  accepts,
  certainKinds,
  DOUBTFUL,
  holdsEmpty,
  inferType,
  isNumeric,
  TEXT_KIND,
  ZONED,
} from './text-kinds.ts'

/** Csv that has been checked, with all that DuckDB has to know to read it in the same way as the check did. */
export interface CsvSource extends CsvFindings {
  readonly file: string
  readonly delimiter: string
  /** What ends its records. In quotes there may be others. */
  readonly newline: 'lf' | 'crlf'
  /** Whether its first record is a header. */
  readonly header: boolean
}

/** An upload rewritten as csv that DuckDB reads, and the columns of the part that it becomes. */
export interface Rewritten extends Contents {
  readonly targets: readonly Target[]
  readonly source: CsvSource
  /** Where rows differ in the columns that they name. */
  readonly unnamed?: UnnamedColumns
  /** What may be wrong with values that could be read, as sentences. */
  readonly warnings?: readonly string[]
  readonly metadata?: FileMetadata['dataset']
}

/** What has been found in a field of a format that tells text from numbers. */
export interface FieldFindings extends TextFindings {
  /** The kinds of the values that are not text. */
  scalars: number
  /** The kinds of the values that are text. */
  texts: number
  /** How many values are not null. */
  values: number
  /** How many of them are the empty text. */
  empties: number
  /** Bytes of their texts. */
  width: number
  /** The first value that may mean something else, such as 2.500. */
  doubtful: TextReason | undefined
  /** The first number with more digits than a double keeps. */
  rounded: TextReason | undefined
}

/** The delimiter of csv that we write for DuckDB. Texts hardly ever hold it, so few of them need quotes. */
const UNIT_SEPARATOR = 0x1f
const [QUOTE, LF, CR] = [0x22, 0x0a, 0x0d]
/** Texts of printable ASCII up to this length are written without another buffer. */
const SHORT = 64
/** The first byte of a byte order mark in UTF-8. */
const BOM = 0xef

/** The first size of the buffer, which grows. One of a small upload is hardly larger than the upload. */
const FIRST_BYTES = 4 * 1024

/** Writes csv for DuckDB into a buffer: `append…` writes fields, `delimit` and `endRecord` what stands between them. */
export class CellWriter {
  buffer: Buffer = Buffer.allocUnsafe(FIRST_BYTES)
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

  /** Writes text that holds no line ends. */
  appendLine(source: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to; at++) {
      if (source[at] === QUOTE || source[at] === UNIT_SEPARATOR)
        return void this.appendQuoted(source, from, to)
    }
    this.appendPlain(source, from, to)
  }

  /** Writes any text. @returns the number of its bytes in UTF-8 */
  appendText(text: string): number {
    const { length } = text
    const buffer = this.reserve(length)
    let done = 0
    for (; done < length && done < SHORT; done++) {
      const code = text.charCodeAt(done)
      if (code < 0x20 || code > 0x7e || code === QUOTE) break
      buffer[this.length + done] = code
    }
    if (done === length && length > 0) {
      this.length += length
      return length
    }
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

  /** The rows that were written to a file, as csv that DuckDB reads. */
  csv(file: string, rows: number, fields: readonly FieldFindings[]): CsvSource {
    const { longest, quotes, quotedNewlines } = this
    return {
      file,
      delimiter: String.fromCharCode(UNIT_SEPARATOR),
      newline: 'lf',
      header: false,
      rows,
      kinds: fields.map(({ scalars, texts }) => scalars | texts),
      nulls: fields.map(({ values }) => rows - values),
      empties: fields.map(({ empties }) => empties),
      widths: fields.map(({ width }) => width),
      reasons: fields.map(withOptions),
      doubtful: fields.map(({ doubtful }) => doubtful),
      rounded: fields.map(({ rounded }) => rounded),
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
 * The type of such a field. Text never becomes a number, with one exception: the spellings of NaN and the infinities do
 * if they are among numbers, since JSON has no other way to write these.
 */
export function inferTyped({ scalars, ...found }: Pick<FieldFindings, 'scalars' | 'texts'>): ColumnType {
  const texts = found.texts & ~TEXT_KIND.empty
  if (texts === 0) return inferType(scalars)
  // JSON writes all dates as text, and workbooks those that Excel's calendar does not have.
  if (((scalars | texts) & ~TEXT_DATES) === 0) return inferType(scalars | texts)
  if (scalars === 0) return 'string'
  const special = (texts & ~TEXT_KIND.special) === 0 && inferType(scalars | TEXT_KIND.special) === 'double'
  return special ? 'double' : 'string'
}

/** What is wrong with a text such as 2.500 in a column of numbers. */
const AS_TEXT = 'is text, whose point may be between thousands or before decimal places. Send it as a number.'

/** The kind as which the empty text counts. */
export function kindOfEmpty({ empty }: UploadOptions = {}): number {
  return empty === 'text' ? TEXT_KIND.text : TEXT_KIND.empty
}

export function nothingFound(): FieldFindings {
  return {
    scalars: 0,
    texts: 0,
    values: 0,
    empties: 0,
    width: 0,
    reason: undefined,
    looked: [],
    doubtful: undefined,
    rounded: undefined,
  }
}

/**
 * Writes rows as csv, cell by cell, and checks each cell against its column. It is for formats that name the columns
 * before the rows: the cells of each row come in the order of these names.
 */
export class TypedRows {
  readonly out = new CellWriter()
  rows = 0
  readonly #targets: readonly Target[]
  /** With the kinds of which every value is accepted. */
  readonly #fields: readonly (Target & FieldFindings & { readonly certain: number })[]
  readonly #faults: Faults
  readonly #options: UploadOptions
  /** The kind as which an empty text counts. */
  readonly #empty: number
  #field = 0

  constructor(targets: readonly Target[], options: UploadOptions = {}, faults = new Faults()) {
    this.#faults = faults
    this.#options = options
    this.#empty = kindOfEmpty(options)
    this.#targets = targets
    this.#fields = fieldsOf(targets).map((target) => {
      const certain = target.type === undefined ? ~0 : certainKinds(target.type, options)
      return { ...target, ...nothingFound(), certain }
    })
  }

  get width(): number {
    return this.#fields.length
  }

  /** The error for the value that comes next. */
  bad(what: string): EngineError {
    const { name, type } = this.#fields[this.#field]!
    return badCell(this.rows + 1, name, what, { type })
  }

  /** Notes what is wrong with the value that comes next, which is left out. */
  refuse(what: string): void {
    this.#faults.add(this.bad(what))
    this.#begin()
  }

  /** Notes what is wrong with a row, which is not written. */
  fault(fault: EngineError): void {
    this.#faults.add(fault)
    this.rows++
  }

  null(): void {
    this.#missing(this.#begin())
  }

  /**
   * Writes a value.
   * @param isText whether the upload's format says that it is text, which never becomes a number; undefined if the format
   * does not tell
   */
  value(text: string, kind: number, isText?: boolean): void {
    const field = this.#begin()
    const { name, type } = field
    if (kind === TEXT_KIND.empty) {
      kind = this.#empty
      if (type !== undefined && kind === TEXT_KIND.empty && !holdsEmpty(type))
        return void this.#missing(field)
    }
    // Many programs write a day as a timestamp at midnight.
    if (isText !== undefined && type === 'date' && kind & TEXT_KIND.timestamp && text.endsWith('T00:00:00')) {
      text = text.slice(0, 10)
      kind = TEXT_KIND.date
    }
    const isOpen = isText === true && kind === TEXT_KIND.grouped && isNumeric(type)
    if (isOpen)
      this.#faults.add(badCell(this.rows + 1, name, `${quoteValue(text)} ${AS_TEXT}`, { type, value: text }))
    else if (type !== undefined && !accepts(type, kind, isText ?? true, () => text, this.#options)) {
      this.#faults.add(badValue(this.rows + 1, name, text, type, isText))
    }
    const { scalars, texts } = field
    if (isText) field.texts |= kind
    else field.scalars |= kind
    if (kind === TEXT_KIND.empty) field.empties++
    if (kind & DOUBTFUL) field.doubtful ??= textReason(this.rows + 1, text)
    if (kind & TEXT_KIND.rounded) field.rounded ??= plainReason(this.rows + 1, text)
    const isNew = field.scalars !== scalars || field.texts !== texts
    // The value by which a column becomes text is noted.
    const isShown = type === undefined && (isNew || isLooking(field)) && kind !== TEXT_KIND.empty
    if (isShown && inferTyped(field) === 'string') {
      const above = inferTyped({ scalars, texts })
      // The options that read texts as numbers are for formats that do not tell these apart.
      if (isText === undefined) lookAt(field, this.rows + 1, text, above, kind)
      else field.reason ??= plainReason(this.rows + 1, text, above)
    }
    this.#write(field, text)
  }

  /** Writes a value as it stands in a buffer, in a line; its text is looked at only if its kind is a new one. */
  line(buffer: Buffer, from: number, to: number, kind: number): void {
    const next = this.#fields[this.#field]!
    if ((kind & ~(next.scalars & next.certain)) !== 0 || isLooking(next))
      return void this.value(buffer.toString('utf8', from, to), kind)
    const field = this.#begin()
    field.values++
    field.width += to - from
    this.out.appendLine(buffer, from, to)
  }

  /** Whether the column of the value that comes next is text by the values above it. */
  get isText(): boolean {
    return this.#fields[this.#field]!.reason !== undefined
  }

  /** Writes a value that is known to be of its column's type, without a check. */
  trusted(text: string, kind: number): void {
    const field = this.#begin()
    field.scalars |= kind
    this.#write(field, text)
  }

  endRow(): void {
    while (this.#field < this.#fields.length) this.null()
    this.out.endRecord()
    this.rows++
    this.#field = 0
  }

  /**
   * The columns and the csv's description, once all rows have been written to `file`.
   * @throws EngineError `invalid_upload` that lists the values that don't fit into their columns
   */
  result(file: string): Rewritten {
    this.#faults.check()
    const targets = this.#targets.flatMap(({ spare, ...target }) => {
      const field = this.#fields[target.source!]
      if (spare && field?.values === 0) return []
      if (spare?.conflict) throw spare.conflict
      return { ...target, type: target.type ?? inferTyped(field!) }
    })
    // A text such as NaN makes a column text only until numbers follow.
    for (const { type, source } of targets) {
      if (source !== undefined && type !== 'string') this.#fields[source]!.reason = undefined
    }
    return { targets, source: this.out.csv(file, this.rows, this.#fields) }
  }

  #begin(): Target & FieldFindings {
    if (this.#field > 0) this.out.delimit()
    return this.#fields[this.#field++]!
  }

  #missing({ name, nullable }: Target): void {
    if (!nullable) this.#faults.add(missingValue(this.rows + 1, name))
  }

  #write(field: FieldFindings, text: string): void {
    field.values++
    field.width += this.out.appendText(text)
  }
}
