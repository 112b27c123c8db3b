import { hint } from '../../errors.ts'
import {
  clearSink,
  feedFile,
  isUtf8Piece,
  openSink,
  type PieceReader,
  type SinkTarget,
  sinkFile,
} from '../file.ts'
import type { ColumnReading, ReadRequest, Sampled, UploadOptions } from '../request.ts'
import {
  fieldsOf,
  joinedHeader,
  type KnownColumns,
  layColumns,
  layHeader,
  namesOfColumns,
  shortHeader,
  type Target,
} from '../targets.ts'
import {
  badRow,
  Faults,
  LONGEST_RECORD,
  longRow,
  malformed,
  quoteValue,
  shortRow,
  type TextReason,
  TOO_LONG,
} from '../text/errors.ts'
import { type Rewritten, TypedRows } from '../text/rewritten.ts'
import { holdsEmpty, isNumeric, kindOf, TEXT_KIND } from '../text/text-kinds.ts'
import { asText, columnReader, ownReader, withTexts } from './column-readers.ts'
import { Footer } from './footer.ts'
import { KeptThousands } from './kept-thousands.ts'
import { ambiguousValue, leftOpen } from './open.ts'
import { Requoting } from './quoting.ts'
import { textReason } from './suggestions.ts'
import {
  BOM,
  EMPTY,
  type FieldReader,
  fieldReader,
  otherEncoding,
  refuseOtherDelimiters,
  refuseRowAsHeader,
} from './syntax.ts'
import { Tokenizer } from './tokenizer.ts'
import { inUtf8, notEncoded } from './transcoder.ts'

/** What a pass over the file has learned for the next one. */
interface Learned {
  /** The positions of columns of text, whose values stay as they are even if they look like numbers or dates. */
  readonly texts: Set<number>
  /** Columns at the end without a name are numbered like others, because there are values in them. */
  trailing: boolean
  /** Why columns are text, by the first pass: in a later one, other values of them are text as well. */
  reasons?: Rewritten['source']['reasons']
}

/** Is thrown where the file has to be read again with what was learned. */
const AGAIN = Symbol('again')

/**
 * Rewrites csv that DuckDB's reader would not read as we do: csv of another dialect, with line ends of both kinds, or cut
 * off. Whether a column has texts is known only at the end; if some of them looked like numbers or dates, the file is
 * read again without changing them.
 * @param target where the csv is to be written
 * @throws EngineError `invalid_upload`, `column_conflict`, `storage_full`
 */
export async function toCsv(
  request: ReadRequest,
  target: SinkTarget,
  known: KnownColumns,
): Promise<Rewritten> {
  const texts = (request.readings ?? []).flatMap(({ is }, at) =>
    is === 'text' || is === 'ambiguous' ? at : [],
  )
  const learned: Learned = { texts: new Set(texts), trailing: false }
  for (;;) {
    const records = new Records(request, known, learned)
    try {
      await using sink = await openSink(target)
      const reader = new Requoting(records, request, delimiterOf(request))
      await feedFile(request, 0, inUtf8(reader, request), sink)
      return records.result(sinkFile(target))
    } catch (error) {
      if (error !== AGAIN) throw error
      await clearSink(target)
    }
  }
}

const delimiterOf = ({ options, format }: ReadRequest) =>
  options?.delimiter ?? (format === 'tsv' ? '\t' : ',')

/** What is wrong with a number that has a point where decimal places have a comma. */
const pointed = ({ thousands }: UploadOptions) =>
  thousands === '.'
    ? `has a point that is not between thousands, but ${hint('decimal=,')} says that decimal places are behind a comma.`
    : `has a point, but ${hint('decimal=,')} says that numbers have a comma. If it is between thousands, add ${hint('thousands=.')} as well.`

/** So many values of a column are looked at for evidence. */
const MOST_NEW = 1000

/** Takes csv in UTF-8 in pieces, and writes each whole record as a row. */
class Records implements PieceReader {
  readonly #request: ReadRequest
  readonly #options: UploadOptions
  readonly #beginning: boolean
  readonly #known: KnownColumns
  readonly #learned: Learned
  readonly #delimiter: string
  readonly #tokenizer: Tokenizer
  readonly #reader: FieldReader
  readonly #readings: readonly ColumnReading[]
  /** For each column, how its values are read. */
  #readers: readonly FieldReader[] = []
  /** For each column, how its values are read by its own evidence. */
  #own: readonly (FieldReader | undefined)[] = []
  /** By the positions of columns: values that were read by what other columns show. */
  readonly #new = new Map<number, Sampled[]>()
  /** The columns, before their types are inferred. */
  #targets: readonly Target[] = []
  /** Whether words for nothing stay as they are in columns of text. */
  readonly #keepsWords: boolean
  readonly #footer: Footer
  readonly #thousands: KeptThousands
  /** The columns in which values were written as our own csv has them. */
  readonly #changed = new Set<number>()
  /** The lines above the header that are still to be left out. */
  #skip: number
  /** The names as the file has them, and the rows that they are in. */
  #heading: readonly string[] | undefined
  readonly #headerRows: string[][] = []
  /** Begun with the first row, which settles how many columns there are. */
  #table: TypedRows | undefined
  /** For each column, whether it is known to have numbers. */
  #numbers: readonly boolean[] = []
  #begun = false
  readonly #faults = new Faults()

  constructor(request: ReadRequest, known: KnownColumns, learned: Learned) {
    const { options = {}, beginning = false, readings = [] } = request
    this.#request = request
    this.#options = options
    this.#readings = readings
    this.#keepsWords = options.textNulls === 'keep' || (options.nulls ?? []).length === 0
    this.#footer = new Footer(beginning ? 0 : (options.footer ?? 0))
    this.#thousands = new KeptThousands(request)
    this.#beginning = beginning
    this.#known = known
    this.#learned = learned
    this.#delimiter = delimiterOf(request)
    this.#tokenizer = new Tokenizer(this.#delimiter, (what) => this.#malformed(what))
    this.#skip = options.skip ?? 0
    this.#reader = fieldReader(options)
  }

  get rows(): number {
    return this.#table?.rows ?? 0
  }

  /** @throws EngineError `invalid_upload` */
  feed(buffer: Buffer, end: number, isEnd: boolean): number {
    // What follows the last whole record of a beginning is left out.
    const final = isEnd && !this.#beginning
    if (!isUtf8Piece(buffer, end, final)) throw notEncoded('utf-8', otherEncoding(buffer.subarray(0, end)))
    return this.#faults.during(() => this.#feed(buffer, end, final))
  }

  /** What has been written since the last call. */
  take(): Uint8Array {
    return this.#table?.out.take() ?? Buffer.alloc(0)
  }

  /**
   * The columns, once all rows have been written to `file`.
   * @throws EngineError `invalid_upload` that lists what is wrong with the file, `column_conflict`
   */
  result(file: string): Rewritten {
    if (!this.#table && !this.#heading)
      throw this.#headerRows.length > 0 ? shortHeader(this.#options) : malformed(EMPTY)
    const footer = this.#footer.warnings()
    const table = this.#table ?? this.#begin(this.#heading!.length)
    const { targets: settled, source } = table.result(file)
    const open = new Map([...leftOpen(this.#targets, source, this.#request), ...this.#withoutEvidence()])
    const targets = asText(settled, open)
    this.#learned.reasons ??= source.reasons.map((reason, at) => open.get(at) ?? reason)
    const misread = targets.filter((target) => target.type === 'string' && this.#changed.has(target.source!))
    if (misread.length === 0) {
      const { reasons } = this.#learned
      const warnings = [...footer, ...this.#thousands.warnings(targets, source.kinds)]
      return { targets, source: { ...source, reasons }, ...(warnings.length > 0 && { warnings }) }
    }
    for (const target of misread) this.#learned.texts.add(target.source!)
    throw AGAIN
  }

  /** Why columns are text that have values which they would need evidence of their own for. */
  #withoutEvidence(): Map<number, TextReason> {
    const open = new Map<number, TextReason>()
    for (const [at, values] of this.#new) {
      const reading = this.#readings[at]!.withMore!(values)
      const own = fieldReader(reading.options)
      const isSame = ({ text }: Sampled) => own.value(text, false) === this.#readers[at]!.value(text, false)
      if (reading.is === 'typed' && values.every(isSame)) continue
      const because = reading.because ?? textReason(values[0]!.row, values[0]!.text)
      const declared = this.#targets.find(({ type, source }) => source === at && type !== undefined)
      if (declared) throw ambiguousValue(declared.name, because, this.#options)
      open.set(at, because)
    }
    return open
  }

  #feed(buffer: Buffer, end: number, final: boolean): number {
    if (!this.#begun && end < BOM.length && !final) return 0
    let at = !this.#begun && end >= BOM.length && buffer.indexOf(BOM) === 0 ? BOM.length : 0
    this.#begun = true
    for (; this.#skip > 0; this.#skip--) {
      const line = buffer.subarray(0, end).indexOf('\n', at)
      if (line < 0 && final) {
        throw malformed(`The file has fewer lines than the ${this.#options.skip} of skip.`)
      }
      if (line < 0) break
      at = line + 1
    }
    while (this.#skip === 0) {
      const next = this.#tokenizer.read(buffer, at, end, final)
      if (next === at) break
      this.#record(buffer, at, next)
      at = next
    }
    if (end - at > LONGEST_RECORD) throw badRow(this.rows + 1, TOO_LONG)
    return at
  }

  #record(buffer: Buffer, from: number, next: number): void {
    const { isBlank } = this.#tokenizer
    if (!this.#heading && this.#options.header !== 'absent') {
      const { headerRows: count = 1 } = this.#options
      if (!isBlank || count === 1)
        this.#headerRows.push(this.#tokenizer.fields(buffer).map(({ text }) => text))
      if (this.#headerRows.length === count) this.#heading = joinedHeader(this.#headerRows)
      return
    }
    if (isBlank && (this.#table?.width ?? this.#heading?.length ?? 0) > 1) {
      this.#footer.blank()
      return
    }
    if (this.#footer.isNone) return void this.#row(buffer, from)
    const row = this.#footer.push(Buffer.concat([buffer.subarray(from, next), Buffer.of(0)]))
    if (!row) return
    this.#tokenizer.read(row, 0, row.length - 1, true)
    this.#row(row, 0)
  }

  #row(buffer: Buffer, from: number): void {
    const { count, end } = this.#tokenizer
    const table = this.#table ?? this.#begin(count)
    const { width } = table
    const fields = this.#options.names === 'number' ? this.#withoutTrailing(count, width) : count
    if (fields < width) {
      table.fault(shortRow(table.rows + 1, fields, width, buffer.toString('utf8', from, end)))
    } else if (fields > width) {
      table.fault(longRow(table.rows + 1, width, this.#tokenizer.text(buffer, width)))
    } else {
      for (let field = 0; field < width; field++) this.#field(table, buffer, field)
      table.endRow()
    }
  }

  /** How many of the fields count: those at the end without a name and a value do not. */
  #withoutTrailing(count: number, width: number): number {
    const { starts, ends } = this.#tokenizer
    let filled = count
    while (filled > width && starts[filled - 1] === ends[filled - 1]) filled--
    if (filled <= width) return Math.min(count, width)
    if (count > (this.#heading?.length ?? 0)) return count
    this.#learned.trailing = true
    throw AGAIN
  }

  #field(table: TypedRows, buffer: Buffer, index: number): void {
    const { kinds, starts, ends } = this.#tokenizer
    const kind = kinds[index]!
    const reader = this.#readers[index]!
    const isText = table.isText || this.#learned.texts.has(index)
    const quoted = this.#tokenizer.quoted[index] === 1
    const isRead = (kind & reader.kinds) !== 0
    if (!quoted && kind !== TEXT_KIND.null && (!isRead || (isText && this.#keepsWords))) {
      table.line(buffer, starts[index]!, ends[index]!, isRead ? TEXT_KIND.text : kind)
      return
    }
    const text = kind === TEXT_KIND.null ? '' : this.#tokenizer.text(buffer, index)
    // In quotes, too, words for nothing are text only in columns of text.
    const isWord = (quoted || this.#keepsWords) && text !== ''
    const isMissing = reader.isMissing({ text, quoted: quoted && !isWord })
    if (isMissing && !(isText && isWord)) {
      if (isWord) this.#changed.add(index)
      table.null()
      return
    }
    const isNumber = this.#numbers[index]!
    const own = this.#own[index]
    const shown = isText ? undefined : own?.value(text, isNumber)
    const value = isText ? undefined : (shown ?? reader.value(text, isNumber))
    if (value !== undefined) {
      this.#changed.add(index)
      this.#thousands.note(index, table.rows + 1, text)
      if (own && shown === undefined) this.#note(index, { row: table.rows + 1, text, quoted })
      table.value(value, kindOf(value))
    } else if (!reader.isPointed(text)) table.value(text, kind)
    else if (isNumber) throw table.bad(`${quoteValue(text)} ${pointed(this.#options)}`)
    else table.value(text, TEXT_KIND.text)
  }

  #note(index: number, value: Sampled): void {
    const values = this.#new.get(index) ?? []
    if (values.length < MOST_NEW) values.push(value)
    this.#new.set(index, values)
  }

  /** Settles the names by the header and the number of fields of the first row. */
  #begin(count: number): TypedRows {
    const header = this.#heading && this.#headerFor(this.#heading, count)
    const names = header ? namesOfColumns(header, this.#options) : this.#namesFor(count)
    if (this.#request.format !== 'html') refuseOtherDelimiters(names, this.#known, this.#delimiter)
    refuseRowAsHeader(names, this.#known)
    const targets = header ? layHeader(this.#known, header, this.#options) : layColumns(this.#known, names)
    const fields = fieldsOf(targets)
    this.#numbers = fields.map(({ type }) => isNumeric(type))
    this.#readers = fields.map(({ type }, at) =>
      type === undefined ? columnReader(this.#readings, at, this.#reader, this.#options) : this.#reader,
    )
    for (const [at, { type }] of fields.entries()) {
      if (type !== undefined && holdsEmpty(type)) this.#learned.texts.add(at)
    }
    this.#targets = withTexts(targets, this.#readings)
    this.#own = fields.map((_, at) => ownReader(this.#readings, at, this.#options))
    this.#table = new TypedRows(this.#targets, this.#options, this.#faults)
    return this.#table
  }

  /** Names for the columns of a file without a header: those that are known, if the file has as many columns. */
  #namesFor(count: number): readonly string[] {
    const { columns } = this.#known
    if (columns.length === count) return columns.map(({ name }) => name)
    return Array.from({ length: count }, (_, index) => `column${index + 1}`)
  }

  #headerFor(heading: readonly string[], count: number): readonly string[] {
    const { names } = this.#options
    // R's write.table leaves out the name of the first column.
    const whole = names === 'index' && count === heading.length + 1 ? ['', ...heading] : heading
    const width =
      names === 'number' && !this.#learned.trailing ? whole.findLastIndex((name) => name !== '') + 1 : 0
    return width > 0 ? whole.slice(0, width) : whole
  }

  #malformed(what: string): Error {
    if (!this.#heading && this.#options.header !== 'absent') return malformed(`Header: ${what}.`)
    return badRow(this.rows + 1, `: ${what}.`)
  }
}
