import { isUtf8 } from 'node:buffer'
import { checkColumns, type DeclaredColumn, wordsOf } from '../../types/columns.ts'
import { isJsonStat, toCsv as jsonStatToCsv } from '../cube/json-stat.ts'
import { clearSink, feedFile, isUtf8Piece, openSink, readStart, type SinkTarget, sinkFile } from '../file.ts'
import type { ReadRequest } from '../request.ts'
import { checkNames, type KnownColumns, knownColumns, requireColumns } from '../targets.ts'
import { badRow, Faults, LONGEST_RECORD, malformed, TOO_LONG } from '../text/errors.ts'
import { inferTyped, type Rewritten } from '../text/rewritten.ts'
import { INCOMPLETE, JsonReader, TOKEN } from './json-reader.ts'
import { type JsonLayout, JsonRows } from './rows.ts'

const [COMMA, COLON, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT, QUOTE] = [
  0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d, 0x22,
]

/** Keys under which rows are sent: by us, by OData, and by many services. */
const ROWS: ReadonlySet<string> = new Set(['rows', 'value', 'data'])
/** What OData writes beside its rows: addresses and counts. */
const BESIDE = /^@odata\./
const NEXT_PAGE = '@odata.nextLink'

/** How many bytes show whether a file is JSON-stat. */
const START = 4096

/**
 * Rewrites a JSON upload as csv that DuckDB reads: rows, or a dataset of JSON-stat.
 * @param target where the csv is to be written
 * @throws EngineError `invalid_upload`, `column_conflict`, `invalid_columns_manifest`, `storage_full`
 */
export async function toCsv(
  request: ReadRequest,
  target: SinkTarget,
  known: KnownColumns,
): Promise<Rewritten> {
  const start = request.bytes?.subarray(0, START) ?? (await readStart(request.file, START))
  const isCube = request.format === 'json' && isJsonStat(new TextDecoder().decode(start))
  return isCube ? jsonStatToCsv(request, target, known) : rowsToCsv(request, target)
}

/**
 * This usually takes one pass. If a column first turns up in a later
 * row, or the columns are declared behind the rows, the file is read again.
 */
async function rowsToCsv(request: ReadRequest, target: SinkTarget): Promise<Rewritten> {
  let declaredBehind: unknown
  let learned: JsonLayout | undefined
  for (;;) {
    let declaredBefore: unknown
    const faults = new Faults()
    const document = new JsonDocument(request, faults, (columns) => {
      declaredBefore = columns
      return new JsonRows(learned ?? layoutOf(request, columns ?? declaredBehind), faults, request.options)
    })
    await using sink = await openSink(target)
    await feedFile(request, 0, document, sink)
    const rows = document.table!
    if (document.columns !== undefined && declaredBefore === undefined && declaredBehind === undefined) {
      declaredBehind = document.columns
    } else if (rows.waiting > 0) {
      throw badRow(
        rows.waiting,
        ' is an array, but nothing says which columns its values belong to: declare "columns", or send objects' +
          (request.format === 'ndjson' ? '; a list of rows is JSON: send it as json.' : '.'),
      )
    } else if (rows.stale) {
      learned = { ...rows.layout, fields: rows.fields }
    } else if (rows.layout.keeps && !rows.layout.marked && rows.confuses) {
      learned = { ...rows.layout, fields: rows.fields, marked: true }
    } else {
      requireNamed(rows, request)
      const { lacksKey } = rows
      if (lacksKey) {
        faults.add(
          badRow(lacksKey.row, ` lacks the column ${JSON.stringify(lacksKey.name)} of the key.`, {
            column: lacksKey.name,
          }),
        )
      }
      faults.check()
      return rewritten(rows, sinkFile(target))
    }
    await clearSink(target)
  }
}

/** An upload that declares columns names them, and one without rows lacks nothing. */
function requireNamed({ fields, rows, layout }: JsonRows, request: ReadRequest): void {
  const { columns, missing, key } = knownColumns(request)
  const named = new Map(fields.map(({ name, named }) => [name, named > 0]))
  if (rows === 0) return
  requireColumns(
    { columns, missing, key },
    (name) => named.get(name) || (layout.declared.has(name) && !key.includes(name)),
  )
}

function layoutOf(request: ReadRequest, inDocument: unknown): JsonLayout {
  const { declared: requested = [] } = request
  const isGiven = inDocument !== undefined && !(Array.isArray(inDocument) && inDocument.length === 0)
  const declared: readonly DeclaredColumn[] = isGiven ? checkColumns(inDocument) : requested
  if (isGiven) knownColumns({ existing: checkColumns(requested) }, declared)
  const { columns, ofDataset, open, missing, key } = knownColumns(request, declared)
  const rules = {
    ofDataset,
    key,
    keeps: missing === 'keep' && ofDataset,
    marked: false,
    declared: new Set(declared.map(({ name }) => name)),
  }
  if (columns.length === 0) return { ...rules, fields: [], positions: undefined, open: true }
  const position = new Map(columns.map(({ name }, index) => [name, index]))
  return {
    fields: columns.map((column) => ({ ...column, nested: column.type === 'json' })),
    positions: (declared.length > 0 ? declared : columns).map(({ name }) => position.get(name)!),
    ...rules,
    open: ofDataset && open,
  }
}

function rewritten(table: JsonRows, file: string): Rewritten {
  const { out, fields, rows, marks, unnamed } = table
  if (fields.length === 0) {
    throw malformed('The upload has no columns: send rows with at least one key, or declare columns.')
  }
  checkNames(fields.map(({ name }) => name))
  const targets = fields.map((field, source) => {
    const { name, nullable, description, nested } = field
    if (nested) field.reason = undefined
    const type = field.type ?? (nested ? 'json' : inferTyped(field))
    return { name, type, nullable, description, ...wordsOf(field), source }
  })
  if (!unnamed.marked) return { targets, source: out.csv(file, rows, fields), unnamed }
  const mark = { name: '', type: 'string', nullable: true, description: '', source: fields.length } as const
  return { targets: [...targets, mark], source: out.csv(file, rows, [...fields, marks]), unnamed }
}

/**
 * Reads a JSON upload of any length piece by piece. Only one row (or the list of columns) has to be in memory at once.
 */
class JsonDocument {
  readonly #makeRows: (columns: unknown) => JsonRows
  readonly #faults: Faults
  /** Whether the last row may be cut off; it is left out. */
  readonly #isCut: boolean
  readonly #reader = new JsonReader()
  /** Reads what comes next as a whole, and says what follows it; undefined at the end of the file. */
  #next: (() => void) | undefined
  /** Where the buffer begins in the file. */
  #offset = 0
  /** Whether no key has been read. */
  #isFirst = true
  table: JsonRows | undefined
  columns: unknown

  /** @param makeRows is called before the first row, with the columns declared by then, if any */
  constructor(
    { format, beginning = false }: ReadRequest,
    faults: Faults,
    makeRows: (columns: unknown) => JsonRows,
  ) {
    const isLines = format === 'ndjson'
    this.#isCut = isLines && beginning
    this.#faults = faults
    this.#makeRows = makeRows
    this.#next = () => this.#start()
    if (isLines) this.#beginRows(-1, undefined)
  }

  get rows(): number {
    return this.table?.rows ?? 0
  }

  take(): Uint8Array {
    const written = this.table?.out.take()
    return written && !this.table!.stale ? written : Buffer.alloc(0)
  }

  /** @throws EngineError `invalid_upload` */
  feed(buffer: Buffer, end: number, isEnd: boolean): number {
    const final = isEnd && !this.#isCut
    const reader = this.#reader
    const isValid = isUtf8Piece(buffer, end, final)
    reader.begin(buffer, end, final, this.#offset)
    if (this.#offset === 0 && buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf) reader.at = 3
    const used = this.#faults.during(() => {
      this.#read(isValid)
      if (end - reader.at > LONGEST_RECORD) throw badRow(this.rows + 1, TOO_LONG)
      return reader.at
    })
    this.#offset += used
    return used
  }

  /** Reads all that is in the buffer as a whole. */
  #read(isValid: boolean): void {
    const reader = this.#reader
    let from = reader.at
    const refuseBytes = () => {
      if (isValid || isUtf8(reader.buffer.subarray(from, reader.at))) return
      const what = ' is not valid UTF-8.'
      throw this.rows > 0 ? badRow(this.rows, what) : malformed(`The upload${what}`)
    }
    try {
      while (this.#next) {
        from = reader.at
        this.#next()
        refuseBytes()
      }
    } catch (error) {
      if (error !== INCOMPLETE) {
        refuseBytes()
        throw error
      }
      reader.at = from
    }
  }

  /** `{"columns", "rows"}` or an array of rows. */
  #start(): void {
    const reader = this.#reader
    if (reader.peek() === OPEN_ARRAY) {
      reader.at++
      this.#beginRows(CLOSE_ARRAY, () => this.#end())
    } else {
      reader.expect(OPEN_OBJECT, '{"rows": […]} or an array of rows')
      this.#next = () => this.#key()
    }
  }

  #end(): void {
    if (this.#reader.peek() !== -1) throw this.#reader.unexpected('the end of the file')
    this.#next = undefined
  }

  /**
   * Goes on with rows.
   * @param close what follows the last one: the end of the file, or that of an array, in which commas are between them
   */
  #beginRows(close: number, behind: (() => void) | undefined): void {
    const reader = this.#reader
    const rows = this.#makeRows(this.columns)
    this.table = rows
    this.#next = () => {
      if (reader.peek() === close) {
        if (behind) reader.at++
        this.#next = behind
        return
      }
      if (behind && rows.rows > 0) reader.expect(COMMA, '"," or "]" behind a row')
      rows.read(reader)
    }
  }

  /** A key, with the list of columns that follows it or the beginning of the rows; or the end of the object. */
  #key(): void {
    const reader = this.#reader
    if (reader.peek() === CLOSE_OBJECT) {
      if (!this.table) throw malformed('The upload has no "rows".')
      reader.at++
      this.#next = () => this.#end()
      return
    }
    if (!this.#isFirst) reader.expect(COMMA, '"," or "}"')
    if (reader.peek() !== QUOTE) throw reader.unexpected('a key in quotes')
    reader.string()
    const key = reader.text()
    reader.expect(COLON, '":" behind a key')
    const isRows = ROWS.has(key) && (key === 'rows' || reader.peek() === OPEN_ARRAY)
    if (isRows) {
      if (this.table)
        throw malformed(`The upload has rows twice; the second are under ${JSON.stringify(key)}.`)
      this.#isFirst = false
      reader.expect(OPEN_ARRAY, 'the array of rows')
      this.#beginRows(CLOSE_ARRAY, () => this.#key())
      return
    }
    const isBeside = BESIDE.test(key) && key !== NEXT_PAGE
    if (key === NEXT_PAGE) {
      throw malformed(
        `The file is one page of the rows of an OData service: ${JSON.stringify(key)} is the address of the next one. ` +
          'Send the rows of all pages as one list.',
      )
    }
    if (key !== 'columns' && !isBeside) {
      throw malformed(
        `Unknown key ${JSON.stringify(key)}; known are "columns" and "rows". Send the list of rows alone, or as ` +
          '{"rows": [...]}; from pandas with to_json(orient="records").',
      )
    }
    if (!isBeside && this.columns !== undefined) throw malformed('"columns" stands twice.')
    reader.value()
    this.#isFirst = false
    if (isBeside) return
    // `from` and `to` leave out the quotes of a string, so only other values can be parsed as they stand. A string is not
    // a list of columns anyway.
    if (reader.token !== TOKEN.nested && reader.token !== TOKEN.null) {
      throw malformed('"columns" has to be a list of columns.')
    }
    this.columns = JSON.parse(reader.buffer.toString('utf8', reader.from, reader.to))
  }
}
