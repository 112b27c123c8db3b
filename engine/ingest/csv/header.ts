import { isUtf8 } from 'node:buffer'
import { readStart } from '../file.ts'
import { otherEncoding } from '../text/encoding.ts'
import { LONE_RETURN, LONGEST_RECORD, malformed } from '../text/errors.ts'
import { readRecord } from './translate.ts'

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
  if (whole && start === bytes.length) {
    throw malformed('The file is empty: its first line must be a header with the column names.')
  }
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
