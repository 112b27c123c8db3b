import { rm } from 'node:fs/promises'
import type { Duck } from '../../duckdb/duck.ts'
import { EngineError } from '../../errors.ts'
import { type Column, type ColumnType, fixedBytes, quoteLiteral, sqlType } from '../../types/index.ts'
import { type WrittenPart, writePart } from '../parts/part.ts'
import type { IngestResult, ReadRequest } from '../request.ts'
import { settledColumns, type Target } from '../targets.ts'
import { inferType, TEXT_KIND, ZONED } from '../text/text-kinds.ts'
import type { CsvFindings } from './scan.ts'

/** Csv that has been checked, with all that DuckDB has to know to read it in the same way as the check did. */
export interface CsvSource extends Omit<CsvFindings, 'mixedNewlines'> {
  readonly file: string
  readonly delimiter: string
  /** What ends its records. In quotes there may be others. */
  readonly newline: 'lf' | 'crlf'
  /** Whether its first record is a header. */
  readonly header: boolean
  /** The number of fields in each record. */
  readonly fields: number
}

/** More fields are read by one thread, because each thread holds vectors of all of them, 30 KiB for each. */
const MOST_PARALLEL_FIELDS = 4_000

/** Writes a csv file as a part. The file has been checked: every text in it is a value of its column's type. */
export async function loadCsv(
  duck: Duck,
  source: CsvSource,
  targets: readonly Target[],
  { target, signal }: Pick<ReadRequest, 'target' | 'signal'>,
): Promise<IngestResult> {
  const columns = settledColumns(targets, typesOf(targets, source.kinds))
  const rawBytes = rawBytesOf(source, targets, columns)
  const write = async (parallel: boolean) => {
    const select = selectCsv(source, targets, columns, parallel)
    const part = await writePart(duck, select, target, { rows: source.rows, rawBytes, columns }, { signal })
    if (isComplete(part, source, targets)) return part
    await rm(target, { force: true })
    throw new EngineError(
      'internal',
      `DuckDB read ${part.rows} rows of csv where there are ${source.rows}, or other nulls.`,
    )
  }
  const parallel = !source.quotedNewlines && source.fields <= MOST_PARALLEL_FIELDS
  const part = await write(parallel).catch((error: unknown) => {
    const machine = error instanceof EngineError && error.code !== 'internal'
    // Several threads of DuckDB guess where records begin, and give up if quotes mislead them. A single thread does not
    // have to guess.
    if (machine || !parallel || !source.quotes) throw error
    return write(false)
  })
  const reasons = targets.map(({ source: field }) => source.reasons[field ?? -1])
  return { ...part, columns, rawBytes, reasons }
}

/** Whether DuckDB found as many rows and nulls as the check of the file: it turns some texts into nulls. */
function isComplete(part: WrittenPart, source: CsvSource, targets: readonly Target[]): boolean {
  const agree = targets.every(({ source: field }, index) => {
    return part.nulls[index] === (field === undefined ? source.rows : source.nulls[field])
  })
  return part.rows === source.rows && (agree || source.rows === 0)
}

function typesOf(targets: readonly Target[], kinds: readonly number[]): ColumnType[] {
  return targets.map(({ type, source }) => type ?? inferType(source === undefined ? 0 : kinds[source]!))
}

function rawBytesOf(source: CsvSource, targets: readonly Target[], columns: readonly Column[]): number {
  return targets.reduce((sum, target, index) => {
    const fixed = fixedBytes(columns[index]!.type)
    return sum + (fixed === undefined ? (source.widths[target.source ?? -1] ?? 0) : fixed * source.rows)
  }, 0)
}

/** DuckDB's own limit on a line. Its buffers grow with the limit, so it is raised only for files that need that. */
const USUAL_LINE = 2 * 1024 * 1024
const USUAL_BUFFER = 4 * USUAL_LINE

function selectCsv(
  source: CsvSource,
  targets: readonly Target[],
  columns: readonly Column[],
  parallel: boolean,
): string {
  const readAs = Array.from({ length: source.fields }, () => 'VARCHAR')
  const selected = targets.map((target, index) => {
    const { type } = columns[index]!
    if (target.source === undefined) return `CAST(NULL AS ${sqlType(type)}) AS c${index}`
    const { read, sql } = conversion(type, source.kinds[target.source]!, `f${target.source}`)
    readAs[target.source] = read
    return `${sql} AS c${index}`
  })
  const fields = readAs.map((type, index) => `f${index}: '${type}'`)
  const line = Math.max(USUAL_LINE, source.longest + 1024)
  const options = [
    'auto_detect = false',
    `header = ${source.header}`,
    `delim = ${quoteLiteral(source.delimiter)}`,
    `quote = '"'`,
    `escape = '"'`,
    // Otherwise DuckDB takes the first line end that it finds, even in quotes. It can't be told of CR LF, but finds that.
    ...(source.newline === 'lf' ? ["new_line = '\\n'"] : []),
    `nullstr = ''`,
    'allow_quoted_nulls = false',
    'strict_mode = true',
    `max_line_size = ${line}`,
    `buffer_size = ${Math.max(USUAL_BUFFER, 2 * line)}`,
    `parallel = ${parallel}`,
    `columns = {${fields.join(', ')}}`,
  ]
  return `SELECT ${selected.join(', ')} FROM read_csv(${quoteLiteral(source.file)}, ${options.join(', ')})`
}

/**
 * The type as which DuckDB's reader parses a field, and the SQL that turns this into a value of the column. Where
 * possible the reader parses the column's type directly, which is faster than a cast from text.
 */
function conversion(type: ColumnType, kinds: number, field: string): { read: string; sql: string } {
  // A cast from text to TIMESTAMP drops the offset, so texts with an offset are read as TIMESTAMPTZ first. DuckDB reads
  // these only with seconds, so texts without seconds get `:00`.
  const zoned = (kinds & ZONED) !== 0 && (type === 'timestamp' || type === 'timestamptz')
  if (zoned) {
    const seconds = `regexp_replace(${field}, '^(.{16})(Z|[-+].*)$', '\\1:00\\2')`
    const whole = kinds & TEXT_KIND.timestamptzMinutes ? `CAST(${seconds} AS TIMESTAMPTZ)` : field
    return {
      read: kinds & TEXT_KIND.timestamptzMinutes ? 'VARCHAR' : 'TIMESTAMPTZ',
      sql: type === 'timestamp' ? `CAST(${whole} AS TIMESTAMP)` : whole,
    }
  }
  if (type === 'binary') return { read: 'VARCHAR', sql: `from_base64(${field})` }
  return { read: sqlType(type), sql: field }
}
