import { isUtf8 } from 'node:buffer'
import { readStart } from '../file.ts'
import { LATE_QUOTE, malformed, OTHER_ENCODING } from '../text/value-errors.ts'
import { CR, LF, LONGEST_RECORD, QUOTE } from './bytes.ts'

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
export async function readHeader(file: string, delimiter: number): Promise<CsvHeader> {
  for (let length = 64 * 1024; ; length = Math.min(8 * length, LONGEST_RECORD + 1)) {
    const bytes = await readStart(file, length)
    const header = parseHeader(bytes, delimiter, bytes.length < length)
    if (header) return header
    if (length > LONGEST_RECORD) throw malformed(`The header is longer than ${LONGEST_RECORD >> 20} MiB.`)
  }
}

/** Reads the header; undefined if it goes on behind `bytes`. `whole` says that the file ends with `bytes`. */
function parseHeader(bytes: Buffer, delimiter: number, whole: boolean): CsvHeader | undefined {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    throw malformed('The file is UTF-16: say so with encoding=utf-16, or save it as UTF-8.')
  }
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    throw malformed(
      'The file is compressed with gzip: unpack it, or declare it (over HTTP with Content-Encoding: gzip).',
    )
  }
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  let at = marked ? 3 : 0
  if (whole && at === bytes.length) {
    throw malformed('The file is empty: its first line must be a header with the column names.')
  }
  const quotedFirst = bytes[at] === QUOTE
  const names: string[] = []
  for (;;) {
    const from = at
    let name: Buffer
    let quoted = false
    if (bytes[at] === QUOTE) {
      quoted = true
      at++
      for (;;) {
        at = bytes.indexOf(QUOTE, at)
        if (at < 0 || (at + 1 >= bytes.length && !whole)) {
          if (whole) throw malformed(`Header, column ${names.length + 1}: a quoted field is not closed.`)
          return undefined
        }
        if (bytes[at + 1] !== QUOTE) break
        at += 2
      }
      name = bytes.subarray(from + 1, at++)
    } else {
      while (at < bytes.length && bytes[at] !== delimiter && bytes[at] !== LF && bytes[at] !== CR) at++
      name = bytes.subarray(from, at)
    }
    if (at >= bytes.length - 1 && !whole) return undefined
    if (!isUtf8(name))
      throw malformed(`Header, column ${names.length + 1}: the name is not valid UTF-8. ${OTHER_ENCODING}`)
    const text = name.toString()
    if (!quoted && /^[ \t]+"/.test(text))
      throw malformed(`Header, column ${names.length + 1}: ${LATE_QUOTE}.`)
    names.push(quoted ? text.replaceAll('""', '"') : text)
    if (bytes[at] === delimiter) {
      at++
      continue
    }
    const awkward = marked && quotedFirst
    if (at >= bytes.length) return { names, end: at, newline: 'none', awkward }
    if (bytes[at] === LF) return { names, end: at + 1, newline: 'lf', awkward }
    if (bytes[at] === CR && bytes[at + 1] === LF) {
      const misleading = names.some((one) => /[\r\n]/.test(one))
      return { names, end: at + 2, newline: 'crlf', awkward: awkward || misleading }
    }
    const what =
      bytes[at] === CR ? 'a carriage return that no line feed follows' : 'text behind a closing quote'
    throw malformed(`Header, column ${names.length}: there is ${what}.`)
  }
}
