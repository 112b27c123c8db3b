import { isUtf8 } from 'node:buffer'
import { readStart } from '../file.ts'
import type { KnownColumns } from '../targets.ts'
import { otherEncoding } from '../text/encoding.ts'
import { LATE_QUOTE, LONE_RETURN, LONGEST_RECORD, malformed, quoteValue } from '../text/errors.ts'

export const EMPTY = 'The file is empty: its first line must be a header with the column names.'

export interface CsvHeader {
  readonly names: readonly string[]
  /** Where the first record behind the header begins. */
  readonly end: number
  readonly newline: 'lf' | 'crlf' | 'none'
  /**
   * DuckDB's reader does not find the end of the header: it has a byte order mark before a quote, or line ends in quotes
   * where lines end with CR LF.
   */
  readonly awkward: boolean
}

/**
 * Reads the names of a csv file's columns.
 * @throws EngineError `invalid_upload`: no header, not RFC 4180, not UTF-8
 */
export async function readHeader(file: string, delimiter: string): Promise<CsvHeader> {
  for (let length = 64 * 1024; ; length = Math.min(8 * length, LONGEST_RECORD + 1)) {
    const bytes = await readStart(file, length)
    const header = parseHeader(bytes, delimiter, bytes.length < length)
    if (header) return header
    if (length > LONGEST_RECORD) throw malformed(`The header is longer than ${LONGEST_RECORD >> 20} MiB.`)
  }
}

/** Reads the header; undefined if it goes on behind `bytes`. `whole` says that the file ends with `bytes`. */
function parseHeader(bytes: Buffer, delimiter: string, whole: boolean): CsvHeader | undefined {
  // Bytes as characters: what separates fields is the same in UTF-8, and positions are those in the file.
  const text = bytes.toString('latin1')
  if (/^(?:\xff\xfe|\xfe\xff)/.test(text)) {
    throw malformed('The file is UTF-16: say so with encoding=utf-16, or save it as UTF-8.')
  }
  if (text.startsWith('\x1f\x8b')) {
    throw malformed(
      'The file is compressed with gzip: unpack it, or declare it (over HTTP with Content-Encoding: gzip).',
    )
  }
  const start = text.startsWith('\xef\xbb\xbf') ? 3 : 0
  if (whole && start === bytes.length) throw malformed(EMPTY)
  const wrong = (what: string, field: number) => malformed(`Header, column ${field}: ${what}.`)
  const record = readRecord(text, start, delimiter, whole, wrong)
  if (!record) return undefined
  const names = record.fields.map((field, index) => {
    const name = Buffer.from(field.text, 'latin1')
    if (isUtf8(name)) return name.toString()
    throw malformed(`Header, column ${index + 1}: the name is not valid UTF-8. ${otherEncoding(bytes)}`)
  })
  const end = Math.min(record.end, bytes.length)
  const newline = text[end - 1] !== '\n' ? 'none' : text[end - 2] === '\r' ? 'crlf' : 'lf'
  if (newline === 'none' && text.endsWith('\r')) throw wrong(LONE_RETURN, names.length)
  const misleading = newline === 'crlf' && names.some((name) => /[\r\n]/.test(name))
  return { names, end, newline, awkward: misleading || (start > 0 && text[start] === '"') }
}

export interface Field {
  /** The text of the field without its quotes. */
  readonly text: string
  readonly quoted: boolean
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

/**
 * Refuses a header of a single name that holds another delimiter, such as a semicolon: the file was meant to have more
 * columns. The name is accepted if the dataset or the request has a column of this name.
 */
export function refuseOtherDelimiters(
  [name = '', ...others]: readonly string[],
  known: KnownColumns,
  delimiter: string,
): void {
  const found = [';', '\t', '|'].find((other) => other !== delimiter && name.includes(other))
  if (!found || others.length > 0 || known.columns.some((column) => column.name === name)) return
  const usual =
    ': fields of csv are separated by commas' +
    (found === '\t'
      ? '; upload tabs as tab-separated values.'
      : `, unless delimiter=${found} says otherwise.`)
  throw malformed(
    `The header ${quoteValue(name)} has no ${{ ',': 'comma', '\t': 'tab' }[delimiter] ?? quoteValue(delimiter)}, but it has ` +
      quoteValue(found) +
      (delimiter === ',' ? usual : `. Is delimiter=${found === '\t' ? 'tab' : found} meant?`),
  )
}
