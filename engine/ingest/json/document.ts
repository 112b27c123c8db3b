import { isUtf8 } from 'node:buffer'
import { LONGEST_RECORD, TOO_LONG, wholeCharacters } from '../csv/bytes.ts'
import { badRow, malformed } from '../text/value-errors.ts'
import { INCOMPLETE, JsonReader, TOKEN } from './json-reader.ts'
import type { JsonRows } from './rows.ts'

const [COMMA, COLON, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT, QUOTE] = [
  0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d, 0x22,
]

/** What the reader expects next in the document. */
type Expected = 'start' | 'first key' | 'key' | 'first row' | 'row' | 'line' | 'end'

export interface JsonDocumentOptions {
  /** `json`: `{"columns", "rows"}` or an array of rows. `ndjson`: rows without anything around or between them. */
  readonly form: 'json' | 'ndjson'
  /** Makes the reader of rows. It is called before the first row, with the columns declared by then, if any. */
  readonly rows: (columns: unknown) => JsonRows
}

/**
 * Reads a JSON upload of any length piece by piece. Only one row (or the list of columns) has to be in memory at once.
 */
export class JsonDocument {
  readonly #options: JsonDocumentOptions
  readonly #reader = new JsonReader()
  #expected: Expected
  #offset = 0
  /** Whether the document is an object, so that more keys may follow its rows. */
  #wrapped = false
  rows: JsonRows | undefined
  columns: unknown

  constructor(options: JsonDocumentOptions) {
    this.#options = options
    this.#expected = options.form === 'ndjson' ? 'line' : 'start'
  }

  /** Implements `Feed`. @throws EngineError `invalid_upload` */
  feed(buffer: Buffer, end: number, final: boolean): number {
    const valid = isUtf8(buffer.subarray(0, final ? end : wholeCharacters(buffer, end)))
    const reader = this.#reader
    reader.begin(buffer, end, final, this.#offset)
    if (this.#offset === 0 && buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf) reader.at = 3
    let done = reader.at
    try {
      for (;;) {
        done = reader.at
        if (!this.#step(buffer)) break
        if (!valid && !isUtf8(buffer.subarray(done, reader.at))) throw this.#notUtf8()
        done = reader.at
      }
      done = reader.at
    } catch (error) {
      if (error !== INCOMPLETE) {
        throw valid || isUtf8(buffer.subarray(done, reader.at)) ? error : this.#notUtf8()
      }
      if (end - done > LONGEST_RECORD) {
        const row = (this.rows?.rows ?? 0) + 1
        throw badRow(row, TOO_LONG)
      }
    }
    this.#offset += done
    return done
  }

  /** Reads the next key, row or end of a list; false at the end of the file. */
  #step(buffer: Buffer): boolean {
    const reader = this.#reader
    switch (this.#expected) {
      case 'start': {
        const byte = reader.peek()
        if (byte === OPEN_ARRAY) {
          reader.at++
          this.#startRows()
          return true
        }
        reader.expect(OPEN_OBJECT, '{"rows": […]} or an array of rows')
        this.#wrapped = true
        this.#expected = 'first key'
        return true
      }
      case 'first key':
      case 'key':
        this.#key(buffer)
        return true
      case 'first row':
        if (reader.peek() !== CLOSE_ARRAY) this.rows!.read(reader, buffer)
        else return this.#endRows()
        this.#expected = 'row'
        return true
      case 'row': {
        const byte = reader.peek()
        if (byte === CLOSE_ARRAY) return this.#endRows()
        const at = reader.at
        reader.expect(COMMA, '"," or "]" behind a row')
        try {
          this.rows!.read(reader, buffer)
        } catch (error) {
          reader.at = at
          throw error
        }
        return true
      }
      case 'line':
        this.rows ??= this.#options.rows(undefined)
        if (reader.peek() === -1) return false
        this.rows.read(reader, buffer)
        return true
      case 'end':
        if (reader.peek() === -1) return false
        throw reader.unexpected('the end of the file')
      default:
        return this.#expected satisfies never
    }
  }

  #key(buffer: Buffer): void {
    const reader = this.#reader
    const byte = reader.peek()
    if (byte === CLOSE_OBJECT) {
      if (!this.rows) throw malformed('The upload has no "rows".')
      reader.at++
      this.#expected = 'end'
      return
    }
    if (this.#expected === 'key') reader.expect(COMMA, '"," or "}"')
    if (reader.peek() !== QUOTE) throw reader.unexpected('a key in quotes')
    reader.string()
    const key = reader.text()
    reader.expect(COLON, '":" behind a key')
    if (key === 'rows') {
      if (this.rows) throw malformed('"rows" stands twice.')
      reader.expect(OPEN_ARRAY, 'the array of rows')
      this.#startRows()
    } else if (key === 'columns') {
      if (this.columns !== undefined) throw malformed('"columns" stands twice.')
      reader.value()
      // `from` and `to` leave out the quotes of a string, so only other values can be parsed as they stand. A string
      // is not a list of columns anyway.
      if (reader.token !== TOKEN.nested && reader.token !== TOKEN.null) {
        throw malformed('"columns" has to be a list of columns.')
      }
      this.columns = JSON.parse(buffer.toString('utf8', reader.from, reader.to))
      this.#expected = 'key'
    } else {
      throw malformed(`Unknown key ${JSON.stringify(key)}; known are "columns" and "rows".`)
    }
  }

  #startRows(): void {
    this.rows = this.#options.rows(this.columns)
    this.#expected = 'first row'
  }

  #endRows(): true {
    this.#reader.at++
    this.#expected = this.#wrapped ? 'key' : 'end'
    return true
  }

  #notUtf8(): Error {
    const row = this.rows?.rows
    const what = ' is not valid UTF-8.'
    return row ? badRow(row, what) : malformed(`The upload${what}`)
  }
}
