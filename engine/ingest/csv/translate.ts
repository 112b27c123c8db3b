import { type EngineError, invalidOption } from '../../errors.ts'
import { FileSink, feedFile } from '../file.ts'
import type { Hooks, UploadOptions } from '../request.ts'
import { namesOfColumns } from '../targets.ts'
import { isBigEndian, otherEncoding } from '../text/encoding.ts'
import {
  badRow,
  Faults,
  LATE_QUOTE,
  LONE_RETURN,
  LONGEST_RECORD,
  longRow,
  malformed,
  shortRow,
  TOO_LONG,
} from '../text/errors.ts'

export interface TranslateCsv {
  readonly file: string
  readonly delimiter: string
  readonly options: UploadOptions
  /** Names for the columns of a file without a header, used if the file has as many columns. */
  readonly columns?: readonly string[] | undefined
  /** The positions of columns of text, whose values stay as they are even if they look like numbers or dates. */
  readonly texts?: ReadonlySet<number>
  /** Names of columns of numbers. Their values are never days, though with `dates=YYYYMMDD` they may look like some. */
  readonly numbers?: ReadonlySet<string>
  /** Columns at the end without a name are numbered like others, because there are values in them. */
  readonly trailing?: boolean
  /** Where the csv is to be written. */
  readonly target: string
}

/** A column in which values were rewritten as numbers or moments, or would be misread as numbers. */
export interface TranslatedColumn {
  readonly name: string
  readonly index: number
  readonly rewritten: boolean
  /** The first value with a point, where `decimal` says that numbers have a comma: it may separate thousands. */
  readonly pointed?: { readonly row: number; readonly text: string } | undefined
}

/** Whether csv with these options differs from what we read (UTF-8, commas, a header, ISO dates): it is rewritten. */
export function isForeign({ dialect: _, ...options }: UploadOptions = {}): boolean {
  return Object.values(options).some((value) => value !== undefined)
}

/**
 * Rewrites csv of another dialect as ours, record for record, so that the row numbers in errors fit both files.
 * @throws EngineError `invalid_upload`, `storage_full`
 */
export async function translateCsv(
  task: TranslateCsv,
  { signal, onProgress }: Hooks,
): Promise<TranslatedColumn[]> {
  await using sink = await FileSink.create(task.target)
  const records = new Records(task)
  let decoder: TextDecoder | undefined
  await feedFile(
    task.file,
    0,
    async (buffer, end, final) => {
      decoder ??= decoderOf(task.options, buffer)
      await sink.write(Buffer.from(records.push(decoded(decoder, buffer.subarray(0, end), final), final)))
      return end
    },
    signal,
    (bytes) => onProgress?.({ bytes, rows: records.rows }),
  )
  return records.translated
}

export function decoderOf(
  { encoding = 'utf-8' }: UploadOptions,
  start: Buffer,
  { fatal = encoding !== 'latin1' && encoding !== 'windows-1252' } = {},
): TextDecoder {
  return new TextDecoder(encoding === 'utf-16' && isBigEndian(start) ? 'utf-16be' : encoding, { fatal })
}

function decoded(decoder: TextDecoder, bytes: Uint8Array, final: boolean): string {
  try {
    return decoder.decode(bytes, { stream: !final })
  } catch {
    throw malformed(`The file is not ${decoder.encoding.toUpperCase()}. ${otherEncoding(Buffer.from(bytes))}`)
  }
}

/** Takes the text of another dialect in pieces and returns whole records in our own dialect. */
class Records {
  rows = 0
  /** Rows with more or fewer fields than the header: they are found here, where they are as the file has them. */
  readonly #faults = new Faults()
  readonly #task: TranslateCsv
  readonly #options: UploadOptions
  readonly #reader: FieldReader
  readonly #translated = new Set<number>()
  readonly #pointed = new Map<number, { row: number; text: string }>()
  /** The lines above the header that are still to be left out. */
  #skip: number
  /** The names as the file has them. */
  #heading: readonly string[] | undefined
  #names: readonly string[] | undefined
  #rest = ''

  constructor(task: TranslateCsv) {
    this.#task = task
    this.#options = task.options
    this.#skip = task.options.skip ?? 0
    this.#reader = fieldReader(task.options)
  }

  /** @throws EngineError `invalid_upload` that lists the rows with more or fewer fields than the header */
  get translated(): TranslatedColumn[] {
    this.#faults.check()
    return (this.#names ?? []).flatMap((name, index) => {
      const [rewritten, pointed] = [this.#translated.has(index), this.#pointed.get(index)]
      return rewritten || pointed ? [{ name, index, rewritten, pointed }] : []
    })
  }

  /** @throws EngineError `invalid_upload` */
  push(text: string, final: boolean): string {
    try {
      const out = this.#push(text, final)
      this.#faults.read(text.length)
      return out
    } catch (error) {
      throw this.#faults.before(error)
    }
  }

  #push(text: string, final: boolean): string {
    const all = this.#rest + text
    const delimiter = this.#options.delimiter ?? this.#task.delimiter
    let out = ''
    let at = 0
    for (; this.#skip > 0; this.#skip--) {
      const end = all.indexOf('\n', at)
      if (end < 0 && !final) break
      if (end < 0) throw malformed(`The file has fewer lines than the ${this.#options.skip} of skip.`)
      at = end + 1
    }
    while (at < all.length && this.#skip === 0) {
      const record = readRecord(all, at, delimiter, final, (what) => this.#malformed(what))
      if (!record) break
      out += this.#line(record.fields, all.slice(at, record.end))
      at = record.end
    }
    this.#rest = all.slice(at)
    if (final && this.#heading && !this.#names) out += this.#header(this.#heading.length)
    if (this.#rest.length > LONGEST_RECORD) {
      throw badRow(this.rows + 1, TOO_LONG)
    }
    return out
  }

  #line(given: readonly Field[], text: string): string {
    if (!this.#heading && this.#options.header !== 'absent') {
      this.#heading = given.map(({ text }) => text)
      return ''
    }
    const isBlank = given.length === 1 && given[0]!.text === '' && !given[0]!.quoted
    if (isBlank && (this.#names ?? this.#heading ?? []).length > 1) return ''
    const first = this.#names ? '' : this.#header(given.length)
    const names = this.#names!
    this.rows++
    const fields = this.#options.names === 'number' ? this.#withoutTrailing(given, names.length) : given
    if (fields.length < names.length) {
      const line = text.replace(/\r?\n$/, '')
      this.#faults.add(shortRow(this.rows, fields.length, names.length, line))
    }
    if (fields.length > names.length) {
      this.#faults.add(longRow(this.rows, names.length, fields[names.length]!.text))
    }
    return `${first}${fields.map((field, index) => this.#field(field, index, names)).join(',')}\n`
  }

  /** The fields that have names. @throws EngineError with `trailing` if one of the others has a value */
  #withoutTrailing(fields: readonly Field[], width: number): readonly Field[] {
    const others = fields.slice(width)
    if (others.every(({ text }) => text === '')) return fields.slice(0, width)
    if (fields.length > (this.#heading?.length ?? 0)) return fields
    throw badRow(this.rows, ' has a value in a column without a name.', { trailing: true })
  }

  #field(field: Field, index: number, names: readonly string[]): string {
    if (this.#reader.isMissing(field)) return ''
    const isNumber = this.#task.numbers?.has(names[index] ?? '') ?? false
    const value = this.#task.texts?.has(index) ? undefined : this.#reader.value(field.text, isNumber)
    if (value === undefined) {
      if (!this.#pointed.has(index) && this.#reader.isPointed(field.text)) {
        this.#pointed.set(index, { row: this.rows, text: field.text })
      }
      return textField(field)
    }
    this.#translated.add(index)
    return value
  }

  /** Settles the names by the header and the number of fields of the first row. */
  #header(count: number): string {
    this.#names = this.#heading ? this.#namesIn(this.#heading, count) : this.#namesFor(count)
    return `${this.#names.map((name) => `"${name.replaceAll('"', '""')}"`).join(',')}\n`
  }

  #namesFor(count: number): readonly string[] {
    const { columns } = this.#task
    if (columns?.length === count) return columns
    return Array.from({ length: count }, (_, index) => `column${index + 1}`)
  }

  #namesIn(heading: readonly string[], count: number): readonly string[] {
    const { names } = this.#options
    // R's write.table leaves out the name of the first column.
    const whole = names === 'index' && count === heading.length + 1 ? ['', ...heading] : heading
    const width =
      names === 'number' && !this.#task.trailing ? whole.findLastIndex((name) => name !== '') + 1 : 0
    return namesOfColumns(width > 0 ? whole.slice(0, width) : whole, this.#options)
  }

  #malformed(what: string): EngineError {
    if (!this.#heading && this.#options.header !== 'absent') return malformed(`Header: ${what}.`)
    return badRow(this.rows + 1, `: ${what}.`)
  }
}

/**
 * Reads the record that begins at `from`; undefined if it may go on behind the text. Refuses what our own csv refuses,
 * so that no file is read in two ways.
 * @param malformed makes the error for what is wrong with a field, which is counted from 1
 */
export function readRecord(
  text: string,
  from: number,
  delimiter: string,
  final: boolean,
  malformed: (what: string, field: number) => Error,
): { fields: Field[]; end: number } | undefined {
  const fields: Field[] = []
  for (let at = from; ; at++) {
    const quoted = text[at] === '"'
    let end = quoted ? closingQuote(text, at + 1) : at
    if (end < 0) {
      if (final) throw malformed('a quoted field is not closed', fields.length + 1)
      return undefined
    }
    const closing = end
    const value = quoted ? text.slice(at + 1, end++).replaceAll('""', '"') : undefined
    while (end < text.length && text[end] !== delimiter && text[end] !== '\n') end++
    // The next piece of text may begin with the rest of a line end, or with the second of two quotes.
    if (end >= text.length && !final) return undefined
    const ends = text[end] !== delimiter
    const to = ends && text[end - 1] === '\r' && end - 1 >= at ? end - 1 : end
    const plain = text.slice(at, to)
    if (value !== undefined && to !== closing + 1) {
      throw malformed('there is text behind the closing quote of a field', fields.length + 1)
    }
    if (value === undefined && plain.includes('\r')) throw malformed(LONE_RETURN, fields.length + 1)
    if (value === undefined && /^[ \t]+"/.test(plain)) throw malformed(LATE_QUOTE, fields.length + 1)
    fields.push({ text: value ?? plain, quoted })
    at = end
    if (ends) return { fields, end: end + 1 }
  }
}

/** The position of the quote that ends a field; -1 if the text does not hold it yet. */
function closingQuote(text: string, from: number): number {
  for (let at = from; ; at += 2) {
    at = text.indexOf('"', at)
    if (at < 0 || text[at + 1] !== '"') return at
  }
}

export interface Field {
  /** The text of the field without its quotes. */
  readonly text: string
  readonly quoted: boolean
}

/** How fields of another dialect are read. */
export interface FieldReader {
  readonly isMissing: (field: Field) => boolean
  /**
   * The number that a text is in the other dialect, as our own csv has it; the same for days, moments, true and false
   * unless only numbers are wanted. Undefined for all other texts.
   */
  readonly value: (text: string, onlyNumbers: boolean) => string | undefined
  /** Whether a text is no number in the other dialect, but would be one in our own csv. */
  readonly isPointed: (text: string) => boolean
}

/** @throws EngineError `invalid_option` */
export function fieldReader(options: UploadOptions): FieldReader {
  const { nulls = [], decimal = '.', thousands, dates, booleans } = options
  if (booleans && booleans.length !== 2) {
    throw invalidOption('booleans must be two texts, for true and for false, such as t,f.')
  }
  const missing = new Set(nulls)
  const number = numberReader(options)
  const date = dates === undefined ? undefined : dateReader(dates)
  const boolean = (text: string) => (booleans?.includes(text) ? String(text === booleans[0]) : undefined)
  return {
    isMissing: ({ text, quoted }) => !quoted && (text === '' || missing.has(text)),
    value: (text, onlyNumbers) => number(text) ?? (onlyNumbers ? undefined : (boolean(text) ?? date?.(text))),
    isPointed: (text) => decimal === ',' && POINTED.test(text) && !(thousands === '.' && GROUPED.test(text)),
  }
}

/** A field as a text in our own csv. */
function textField({ text, quoted }: Field): string {
  return quoted || /["\r\n,]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * Makes a function that reads numbers with a comma before their decimal places, with a character between thousands or
 * with symbols around them, and returns them as our own csv has them; undefined for all other texts.
 */
function numberReader({
  decimal = '.',
  thousands,
  symbols = [],
}: UploadOptions): (text: string) => string | undefined {
  if (decimal === '.' && thousands === undefined && symbols.length === 0) return () => undefined
  // A blank between thousands is often one that does not break.
  const between = thousands === ' ' ? '[ \u00a0\u202f]' : `\\${thousands}`
  const grouped = thousands === undefined ? '' : `|\\d{1,3}(?:${between}\\d{3})+`
  const places = `\\${decimal}\\d+`
  const any = symbols.map((symbol) => symbol.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|')
  // Without symbols, whole numbers are as our own csv has them. Blanks next to blanks would take quadratic time.
  const [before, behind, whole] =
    any === '' ? ['', '', ''] : [`(?:(?:${any})\\s*)?`, `(?:\\s*(?:${any}))?`, '|\\d+']
  const digits = `(?:(?:\\d*${grouped})${places}${grouped}${whole})(?:[eE][-+]?\\d+)?`
  const number = new RegExp(`^\\s*([-+]?)${before}([-+]?${digits})${behind}\\s*$`)
  const separators = thousands === undefined ? undefined : new RegExp(between, 'g')
  return (text) => {
    const [, sign, digits] = number.exec(text) ?? []
    if (digits === undefined || (sign && /^[-+]/.test(digits))) return undefined
    const plain = sign + (separators ? digits.replace(separators, '') : digits).replace(decimal, '.')
    return plain === text ? undefined : plain
  }
}

/** A number of which all points may be between thousands. */
const GROUPED = /^\s*[-+]?\d{1,3}(\.\d{3})+\s*$/

/** A number with a point, and no other text: in `1.234` it may separate thousands. */
const POINTED = /^[-+]?(\d+\.\d*|\.\d+)([eE][-+]?\d+)?$/

const PARTS = {
  YYYY: '(?<y>\\d{4})',
  YY: '(?<y>\\d{2})',
  MMM: '(?<m>[A-Za-z]{3,9})\\.?',
  MM: '(?<m>\\d{2})',
  DD: '(?<d>\\d{2})',
  M: '(?<m>\\d{1,2})',
  D: '(?<d>\\d{1,2})',
}
const CLOCK = '(?:[ T](?<clock>\\d{1,2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?))?'

const MONTHS = Array.from({ length: 12 }, (_, month) =>
  new Date(Date.UTC(2000, month)).toLocaleString('en', { month: 'long', timeZone: 'UTC' }).toLowerCase(),
)

/**
 * Makes a function that reads days in the form of a pattern (YYYY or YY, MMM, MM or M, DD or D, and characters between
 * them), and returns them as ISO 8601; undefined for texts of any other form.
 * @throws EngineError `invalid_option` if the pattern does not have a year, a month and a day exactly once each
 */
export function dateReader(pattern: string): (text: string) => string | undefined {
  const source = pattern.replace(/YYYY|YY|MMM|MM|DD|M|D|./g, (part) => {
    return Object.hasOwn(PARTS, part) ? PARTS[part as keyof typeof PARTS] : part.replace(/[^\w\s]/, '\\$&')
  })
  const parts = pattern
    .match(/Y+|M+|D+/g)
    ?.sort()
    .join()
  if (!/^DD?,M{1,3},YY(YY)?$/.test(parts ?? '') || /[^YMD.,/年月日 -]/.test(pattern)) {
    throw invalidOption(
      'dates must be a pattern of YYYY or YY, MMM, MM or M, and DD or D, with points, commas, slashes, hyphens, blanks ' +
        'or 年月日 between them, for example DD.MM.YYYY.',
    )
  }
  const expression = new RegExp(`^${source}${CLOCK}$`)
  return (text) => {
    const { y, m, d, clock } = expression.exec(text)?.groups ?? {}
    if (y === undefined) return undefined
    const month = /\d/.test(m!) ? m! : String(monthOf(m!))
    const day = `${yearOf(y)}-${month.padStart(2, '0')}-${d!.padStart(2, '0')}`
    return clock === undefined
      ? day
      : `${day}T${clock.padStart(clock.indexOf(':') === 1 ? clock.length + 1 : 0, '0')}`
  }
}

/** Months count from 1; 0 is none, so that the text is no day. */
function monthOf(name: string): number {
  return MONTHS.findIndex((month) => month.startsWith(name.toLowerCase())) + 1
}

function yearOf(digits: string): string {
  return digits.length === 4 ? digits : `${digits < '70' ? 20 : 19}${digits}`
}
