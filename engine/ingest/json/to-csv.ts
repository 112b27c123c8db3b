import { isUtf8 } from 'node:buffer'
import { rm } from 'node:fs/promises'
import { checkColumns, type DeclaredColumn, wordsOf } from '../../types/columns.ts'
import { FileSink, feedFile } from '../file.ts'
import type { ReadRequest } from '../request.ts'
import { checkNames, knownColumns } from '../targets.ts'
import { wholeCharacters } from '../text/encoding.ts'
import { badRow, LONGEST_RECORD, malformed, TOO_LONG } from '../text/errors.ts'
import { inferTyped, type Rewritten } from '../text/rewritten.ts'
import { INCOMPLETE, JsonReader, TOKEN } from './json-reader.ts'
import { type JsonLayout, JsonRows } from './rows.ts'

const [COMMA, COLON, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT, QUOTE] = [
  0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d, 0x22,
]

/**
 * Rewrites a JSON upload as csv that DuckDB reads. This usually takes one pass. If a column first turns up in a later
 * row, or the columns are declared behind the rows, the file is read again.
 * @param target where the csv is to be written
 * @throws EngineError `invalid_upload`, `column_conflict`, `invalid_columns_manifest`, `storage_full`
 */
export async function toCsv(request: ReadRequest, target: string): Promise<Rewritten> {
  let declaredBehind: unknown
  let learned: JsonLayout | undefined
  for (;;) {
    let declaredBefore: unknown
    const document = new JsonDocument(request.format === 'ndjson', (columns) => {
      declaredBefore = columns
      return new JsonRows(learned ?? layoutOf(request, columns ?? declaredBehind))
    })
    await pass(request, document, target)
    const rows = document.rows!
    if (document.columns !== undefined && declaredBefore === undefined && declaredBehind === undefined) {
      declaredBehind = document.columns
    } else if (rows.waiting > 0) {
      throw badRow(
        rows.waiting,
        ' is an array, but nothing says which columns its values belong to: declare "columns", or send objects.',
      )
    } else if (rows.stale) {
      learned = { ...rows.layout, fields: rows.fields }
    } else {
      rows.faults.check()
      return rewritten(rows, target)
    }
    await rm(target)
  }
}

async function pass(
  { file, format, beginning, signal, onProgress }: ReadRequest,
  document: JsonDocument,
  target: string,
): Promise<void> {
  await using sink = await FileSink.create(target)
  await feedFile(
    file,
    0,
    async (buffer, end, isEnd) => {
      // What follows the last whole row of a beginning is left out.
      const used = document.feed(buffer, end, isEnd && !(beginning && format === 'ndjson'))
      const written = document.rows?.out.take()
      if (written && !document.rows!.stale) await sink.write(written)
      return used
    },
    signal,
    (bytes) => onProgress?.({ bytes, rows: document.rows?.rows ?? 0 }),
  )
}

function layoutOf({ existing, declared: requested = [] }: ReadRequest, inDocument: unknown): JsonLayout {
  const isGiven = inDocument !== undefined && !(Array.isArray(inDocument) && inDocument.length === 0)
  const declared: readonly DeclaredColumn[] = isGiven ? checkColumns(inDocument) : requested
  if (isGiven) knownColumns(checkColumns(requested), declared)
  const { columns, ofDataset } = knownColumns(existing, declared)
  if (columns.length === 0) return { fields: [], open: true, positions: undefined, ofDataset }
  const position = new Map(columns.map(({ name }, index) => [name, index]))
  return {
    fields: columns.map((column) => ({ ...column, nested: column.type === 'json' })),
    open: false,
    positions: (declared.length > 0 ? declared : columns).map(({ name }) => position.get(name)!),
    ofDataset,
  }
}

function rewritten({ out, fields, rows }: JsonRows, file: string): Rewritten {
  if (fields.length === 0) {
    throw malformed('The upload has no columns: send rows with at least one key, or declare columns.')
  }
  checkNames(fields.map(({ name }) => name))
  const targets = fields.map((field, source) => {
    const { name, nullable, description, nested } = field
    const type = field.type ?? (nested ? 'json' : inferTyped(field))
    return { name, type, nullable, description, ...wordsOf(field), source }
  })
  return { targets, source: out.csv(file, rows, fields) }
}

/** Reads a part of a document, and yields where more bytes are needed. */
type Reading<T> = Generator<void, T, void>

/**
 * Reads a JSON upload of any length piece by piece. Only one row (or the list of columns) has to be in memory at once.
 */
class JsonDocument {
  readonly #reading: Reading<void>
  readonly #makeRows: (columns: unknown) => JsonRows
  readonly #reader = new JsonReader()
  /** Where the buffer begins in the file. */
  #offset = 0
  /** Whether all of the buffer is UTF-8. */
  #valid = true
  rows: JsonRows | undefined
  columns: unknown

  /** @param makeRows is called before the first row, with the columns declared by then, if any */
  constructor(isLines: boolean, makeRows: (columns: unknown) => JsonRows) {
    this.#makeRows = makeRows
    this.#reading = isLines ? this.#lines() : this.#document()
  }

  /** Implements `Feed`. @throws EngineError `invalid_upload` */
  feed(buffer: Buffer, end: number, final: boolean): number {
    const reader = this.#reader
    this.#valid = isUtf8(buffer.subarray(0, final ? end : wholeCharacters(buffer, end)))
    reader.begin(buffer, end, final, this.#offset)
    if (this.#offset === 0 && buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf) reader.at = 3
    try {
      this.#reading.next()
      if (end - reader.at > LONGEST_RECORD) throw badRow((this.rows?.rows ?? 0) + 1, TOO_LONG)
      this.rows?.faults.read(reader.at)
    } catch (error) {
      throw this.rows?.faults.before(error) ?? error
    }
    this.#offset += reader.at
    return reader.at
  }

  /** ndjson: rows without anything around or between them. */
  *#lines(): Reading<void> {
    const reader = this.#reader
    const rows = this.#makeRows(undefined)
    this.rows = rows
    const row = () => {
      if (reader.peek() === -1) return false
      rows.read(reader)
      return true
    }
    yield* this.#each(row)
  }

  /** `{"columns", "rows"}` or an array of rows. */
  *#document(): Reading<void> {
    const reader = this.#reader
    const isArray = yield* this.#whole(() => reader.peek() === OPEN_ARRAY)
    if (isArray) {
      reader.at++
      yield* this.#rows()
    } else {
      yield* this.#whole(() => reader.expect(OPEN_OBJECT, '{"rows": […]} or an array of rows'))
      let key = yield* this.#whole(() => this.#key(true))
      while (key !== undefined) {
        if (key === 'rows') yield* this.#rows()
        key = yield* this.#whole(() => this.#key(false))
      }
    }
    yield* this.#whole(() => {
      if (reader.peek() !== -1) throw reader.unexpected('the end of the file')
    })
  }

  /** Rows up to the end of their array. */
  *#rows(): Reading<void> {
    const reader = this.#reader
    const rows = this.#makeRows(this.columns)
    this.rows = rows
    const row = () => {
      if (reader.peek() === CLOSE_ARRAY) {
        reader.at++
        return false
      }
      if (rows.rows > 0) reader.expect(COMMA, '"," or "]" behind a row')
      rows.read(reader)
      return true
    }
    yield* this.#each(row)
  }

  /** A key, with the list of columns that follows it or the beginning of the rows; undefined at the document's end. */
  #key(isFirst: boolean): 'columns' | 'rows' | undefined {
    const reader = this.#reader
    if (reader.peek() === CLOSE_OBJECT) {
      if (!this.rows) throw malformed('The upload has no "rows".')
      reader.at++
      return undefined
    }
    if (!isFirst) reader.expect(COMMA, '"," or "}"')
    if (reader.peek() !== QUOTE) throw reader.unexpected('a key in quotes')
    reader.string()
    const key = reader.text()
    reader.expect(COLON, '":" behind a key')
    if (key === 'rows') {
      if (this.rows) throw malformed('"rows" stands twice.')
      reader.expect(OPEN_ARRAY, 'the array of rows')
      return key
    }
    if (key !== 'columns') {
      throw malformed(`Unknown key ${JSON.stringify(key)}; known are "columns" and "rows".`)
    }
    if (this.columns !== undefined) throw malformed('"columns" stands twice.')
    reader.value()
    // `from` and `to` leave out the quotes of a string, so only other values can be parsed as they stand. A string is not
    // a list of columns anyway.
    if (reader.token !== TOKEN.nested && reader.token !== TOKEN.null) {
      throw malformed('"columns" has to be a list of columns.')
    }
    this.columns = JSON.parse(reader.buffer.toString('utf8', reader.from, reader.to))
    return key
  }

  /** Reads something that has to be in the buffer as a whole. */
  *#whole<T>(read: () => T): Reading<T> {
    let found: T
    yield* this.#each(() => {
      found = read()
      return false
    })
    return found!
  }

  /** The same as long as there is more of it. */
  *#each(read: () => boolean): Reading<void> {
    const reader = this.#reader
    for (let more = true; more; ) {
      const from = reader.at
      try {
        more = read()
        if (!this.#valid && !isUtf8(reader.buffer.subarray(from, reader.at))) throw this.#notUtf8()
      } catch (error) {
        if (error !== INCOMPLETE) {
          throw this.#valid || isUtf8(reader.buffer.subarray(from, reader.at)) ? error : this.#notUtf8()
        }
        reader.at = from
        yield
      }
    }
  }

  #notUtf8(): Error {
    const row = this.rows?.rows
    const what = ' is not valid UTF-8.'
    return row ? badRow(row, what) : malformed(`The upload${what}`)
  }
}
