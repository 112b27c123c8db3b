import type { EngineError } from '../../errors.ts'
import { FileSink, feedFile } from '../file.ts'
import type { Hooks } from '../hooks.ts'
import type { UploadOptions } from '../request.ts'
import { namesOfColumns } from '../text/column-names.ts'
import { isBigEndian, otherEncoding } from '../text/encoding.ts'
import { Faults } from '../text/findings.ts'
import { badRow, LATE_QUOTE, LONE_RETURN, longRow, malformed, shortRow } from '../text/value-errors.ts'
import { LONGEST_RECORD, TOO_LONG } from './bytes.ts'
import { type Field, type FieldReader, fieldReader, textField } from './translate-value.ts'

export interface TranslateCsv {
  readonly file: string
  readonly delimiter: string
  readonly options: UploadOptions
  /** Names for the columns of a file without a header, used if the file has as many columns. */
  readonly columns?: readonly string[] | undefined
  /** The positions of columns of text, whose values stay as they are even if they look like numbers or dates. */
  readonly texts?: readonly number[]
  /** Names of columns of numbers. Their values are never days, though with `dates=YYYYMMDD` they may look like some. */
  readonly numbers?: readonly string[]
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
  const sink = await FileSink.create(task.target)
  const records = new Records(task)
  let decoder: TextDecoder | undefined
  try {
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
  } finally {
    await sink.close()
  }
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
  readonly #delimiter: string
  readonly #options: UploadOptions
  readonly #columns: readonly string[] | undefined
  readonly #reader: FieldReader
  readonly #texts: ReadonlySet<number>
  readonly #numbers: ReadonlySet<string>
  readonly #translated = new Set<number>()
  readonly #pointed = new Map<number, { row: number; text: string }>()
  readonly #trailing: boolean
  /** The lines above the header that are still to be left out. */
  #skip: number
  /** The names as the file has them. */
  #heading: readonly string[] | undefined
  #names: readonly string[] | undefined
  #rest = ''

  constructor({ delimiter, options, columns, texts, numbers, trailing = false }: TranslateCsv) {
    this.#trailing = trailing
    this.#skip = options.skip ?? 0
    this.#texts = new Set(texts)
    this.#numbers = new Set(numbers)
    this.#columns = columns
    this.#delimiter = options.delimiter ?? delimiter
    this.#options = options
    this.#reader = fieldReader(options)
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
    let out = ''
    let at = 0
    for (; this.#skip > 0; this.#skip--) {
      const end = all.indexOf('\n', at)
      if (end < 0 && !final) break
      if (end < 0) throw malformed(`The file has fewer lines than the ${this.#options.skip} of skip.`)
      at = end + 1
    }
    while (at < all.length && this.#skip === 0) {
      const record = readRecord(all, at, this.#delimiter, final, (what) => this.#malformed(what))
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
    const value = this.#texts.has(index) ? undefined : this.#valueOf(field.text, names[index] ?? '')
    if (value === undefined) {
      if (!this.#pointed.has(index) && this.#reader.isPointed(field.text)) {
        this.#pointed.set(index, { row: this.rows, text: field.text })
      }
      return textField(field)
    }
    this.#translated.add(index)
    return value
  }

  #valueOf(text: string, name: string): string | undefined {
    const { number, boolean, moment } = this.#reader
    return number(text) ?? (this.#numbers.has(name) ? undefined : (boolean(text) ?? moment(text)))
  }

  /** Settles the names by the header and the number of fields of the first row. */
  #header(count: number): string {
    this.#names = this.#heading ? this.#namesIn(this.#heading, count) : this.#namesFor(count)
    return `${this.#names.map((name) => `"${name.replaceAll('"', '""')}"`).join(',')}\n`
  }

  #namesFor(count: number): readonly string[] {
    if (this.#columns?.length === count) return this.#columns
    return Array.from({ length: count }, (_, index) => `column${index + 1}`)
  }

  #namesIn(heading: readonly string[], count: number): readonly string[] {
    const { names } = this.#options
    // R's write.table leaves out the name of the first column.
    const whole = names === 'index' && count === heading.length + 1 ? ['', ...heading] : heading
    const width = names === 'number' && !this.#trailing ? whole.findLastIndex((name) => name !== '') + 1 : 0
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
