import type { EngineError } from '../../errors.ts'
import { FileSink, feedFile } from '../file.ts'
import type { UploadOptions } from '../request.ts'
import { LATE_QUOTE, LONE_RETURN, malformed } from '../text/value-errors.ts'
import type { Hooks } from '../threads/hooks.ts'
import { LONGEST_RECORD } from './bytes.ts'
import { type Dialect, dialectOf, type Field, textField } from './translate-value.ts'

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
export function isForeign(options: UploadOptions = {}): boolean {
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
      { from: 0 },
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

function decoderOf({ encoding = 'utf-8' }: UploadOptions, start: Buffer): TextDecoder {
  const bigEndian = encoding === 'utf-16' && start[0] === 0xfe && start[1] === 0xff
  return new TextDecoder(bigEndian ? 'utf-16be' : encoding, { fatal: encoding !== 'latin1' })
}

function decoded(decoder: TextDecoder, bytes: Uint8Array, final: boolean): string {
  try {
    return decoder.decode(bytes, { stream: !final })
  } catch {
    throw malformed(`The file is not ${decoder.encoding.toUpperCase()}; say what it is with encoding.`)
  }
}

/** Takes the text of another dialect in pieces and returns whole records in our own dialect. */
class Records {
  rows = 0
  readonly #delimiter: string
  readonly #options: UploadOptions
  readonly #columns: readonly string[] | undefined
  readonly #dialect: Dialect
  readonly #texts: ReadonlySet<number>
  readonly #numbers: ReadonlySet<string>
  readonly #translated = new Set<number>()
  readonly #pointed = new Map<number, { row: number; text: string }>()
  #names: readonly string[] = []
  #rest = ''
  #begun = false

  constructor({ delimiter, options, columns, texts, numbers }: TranslateCsv) {
    this.#texts = new Set(texts)
    this.#numbers = new Set(numbers)
    this.#columns = columns
    this.#delimiter = options.delimiter ?? delimiter
    this.#options = options
    this.#dialect = dialectOf(options)
  }

  get translated(): TranslatedColumn[] {
    return this.#names.flatMap((name, index) => {
      const [rewritten, pointed] = [this.#translated.has(index), this.#pointed.get(index)]
      return rewritten || pointed ? [{ name, index, rewritten, pointed }] : []
    })
  }

  push(text: string, final: boolean): string {
    const all = this.#rest + text
    let out = ''
    let at = 0
    while (at < all.length) {
      const record = this.#record(all, at, final)
      if (!record) break
      at = record.end
      out += this.#line(record.fields)
    }
    this.#rest = all.slice(at)
    if (this.#rest.length > LONGEST_RECORD) {
      throw malformed(`Row ${this.rows + 1} is longer than ${LONGEST_RECORD >> 20} MiB.`)
    }
    return out
  }

  #line(fields: readonly Field[]): string {
    if (this.#begun || this.#options.header === 'absent') {
      const first = this.#begun ? '' : this.#header(this.#namesFor(fields.length))
      this.#begun = true
      if (fields.length === 1 && this.#names.length > 1) return `${first}${this.#loneField(fields[0]!)}\n`
      this.rows++
      return `${first}${fields.map((field, index) => this.#field(field, index)).join(',')}\n`
    }
    this.#begun = true
    return this.#header(
      fields.map(({ text }, at) =>
        at === 0 && text === '' && this.#options.names === 'index' ? 'index' : text,
      ),
    )
  }

  /** A line with one field where there are more columns: a blank line is no row, any other is one that is too short. */
  #loneField(field: Field): string {
    if (field.text === '' && !field.quoted) return ''
    this.rows++
    // A missing value must not make a blank line of it.
    return textField({ ...field, quoted: true })
  }

  #field(field: Field, index: number): string {
    if (this.#dialect.isMissing(field)) return ''
    const value = this.#texts.has(index) ? undefined : this.#valueOf(field.text, this.#names[index] ?? '')
    if (value === undefined) {
      if (!this.#pointed.has(index) && this.#dialect.isPointed(field.text)) {
        this.#pointed.set(index, { row: this.rows, text: field.text })
      }
      return textField(field)
    }
    this.#translated.add(index)
    return value
  }

  #valueOf(text: string, name: string): string | undefined {
    return this.#dialect.number(text) ?? (this.#numbers.has(name) ? undefined : this.#dialect.moment(text))
  }

  #namesFor(count: number): readonly string[] {
    if (this.#columns?.length === count) return this.#columns
    return Array.from({ length: count }, (_, index) => `column${index + 1}`)
  }

  #header(names: readonly string[]): string {
    this.#names = names
    return `${names.map((name) => `"${name.replaceAll('"', '""')}"`).join(',')}\n`
  }

  /** Reads the record that begins at `from`; undefined if it may go on behind the text. */
  #record(text: string, from: number, final: boolean): { fields: Field[]; end: number } | undefined {
    const fields: Field[] = []
    for (let at = from; ; at++) {
      const quoted = text[at] === '"'
      let end = quoted ? closingQuote(text, at + 1) : at
      if (end < 0) {
        if (final) throw this.#malformed('a quoted field is not closed')
        return undefined
      }
      const closing = end
      const value = quoted ? text.slice(at + 1, end++).replaceAll('""', '"') : undefined
      while (end < text.length && text[end] !== this.#delimiter && text[end] !== '\n') end++
      // The next piece of text may begin with the rest of a line end, or with the second of two quotes.
      if (end >= text.length && !final) return undefined
      const ends = text[end] !== this.#delimiter
      const to = ends && text[end - 1] === '\r' && end - 1 >= at ? end - 1 : end
      const plain = text.slice(at, to)
      if (value !== undefined && to !== closing + 1) {
        throw this.#malformed('there is text behind the closing quote of a field')
      }
      if (!quoted) this.#refuse(plain)
      fields.push({ text: value ?? plain, quoted })
      at = end
      if (ends) return { fields, end: end + 1 }
    }
  }

  /** Refuses what our own csv refuses, so that no file is read in two ways. */
  #refuse(plain: string): void {
    if (plain.includes('\r')) throw this.#malformed(LONE_RETURN)
    if (/^[ \t]+"/.test(plain)) throw this.#malformed(LATE_QUOTE)
  }

  #malformed(what: string): EngineError {
    if (!this.#begun && this.#options.header !== 'absent') return malformed(`Header: ${what}.`)
    return malformed(`Row ${this.rows + 1}: ${what}.`, { row: this.rows + 1 })
  }
}

/** The position of the quote that ends a field; -1 if the text does not hold it yet. */
function closingQuote(text: string, from: number): number {
  for (let at = from; ; at += 2) {
    at = text.indexOf('"', at)
    if (at < 0 || text[at + 1] !== '"') return at
  }
}
