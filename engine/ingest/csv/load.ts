import { rm } from 'node:fs/promises'
import type { Duck } from '../../duckdb/duck.ts'
import { EngineError } from '../../errors.ts'
import { type Column, type ColumnType, fixedBytes, quoteLiteral, sqlType } from '../../types/index.ts'
import { type WrittenPart, writePart } from '../part.ts'
import type { IngestResult, ReadRequest } from '../request.ts'
import { settledColumns, type Target } from '../targets.ts'
import { inferType, KIND, ZONED } from '../text/text-kinds.ts'
import type { CsvFindings } from './scan.ts'

/** Csv that has been checked, with all that DuckDB has to know to read it in the same way as the check did. */
export interface CsvSource extends Omit<CsvFindings, 'mixedNewlines'> {
  /** Read one behind the other. */
  readonly files: readonly string[]
  readonly delimiter: string
  /** What ends its records. In quotes there may be others. */
  readonly newline: 'lf' | 'crlf'
  /** Whether its first record is a header. */
  readonly header: boolean
  /** The number of fields in each record. */
  readonly fields: number
}

/** Writes a csv file as a part. The file has been checked: every text in it is a value of its column's type. */
export async function loadCsv(
  duck: Duck,
  source: CsvSource,
  targets: readonly Target[],
  request: Pick<ReadRequest, 'target' | 'signal'>,
): Promise<IngestResult> {
  const plan = planLoad(source, targets)
  const write = async (parallel: boolean) => {
    const part = await runLoad(duck, plan, parallel, request)
    const result = settleLoad(plan, part)
    if (result) return result
    await rm(request.target, { force: true })
    throw new EngineError(
      'internal',
      `DuckDB read ${part.rows} rows of csv where there are ${source.rows}, or other nulls.`,
    )
  }
  return write(!source.quotedNewlines).catch((error: unknown) => {
    const machine = error instanceof EngineError && error.code !== 'internal'
    // Several threads of DuckDB guess where records begin, and give up if quotes mislead them. A single thread does not
    // have to guess.
    if (machine || source.quotedNewlines || !source.quotes) throw error
    return write(false)
  })
}

/** How DuckDB is to load a csv file: the file, and the columns that it becomes. */
export interface LoadPlan {
  readonly source: CsvSource
  readonly targets: readonly Target[]
  readonly columns: readonly Column[]
  readonly rawBytes: number
}

export function planLoad(source: CsvSource, targets: readonly Target[]): LoadPlan {
  const columns = settledColumns(targets, typesOf(targets, source.kinds))
  return { source, targets, columns, rawBytes: rawBytesOf(source, targets, columns) }
}

export function runLoad(
  duck: Duck,
  plan: LoadPlan,
  parallel: boolean,
  { target, signal }: Pick<ReadRequest, 'target' | 'signal'>,
): Promise<WrittenPart> {
  const { source, rawBytes, columns } = plan
  const planned = { rows: source.rows, rawBytes, columns }
  return writePart(duck, selectCsv(plan, parallel), target, planned, { signal })
}

/** The result; undefined if DuckDB did not find as many rows and nulls as the check of the file. */
export function settleLoad(
  { source, targets, columns, rawBytes }: LoadPlan,
  part: WrittenPart,
): IngestResult | undefined {
  // DuckDB's reader does not accept all texts that we do, and turns some of the others into nulls.
  const agree = targets.every(({ source: field }, index) => {
    return part.nulls[index] === (field === undefined ? source.rows : source.nulls[field])
  })
  if (part.rows !== source.rows || !(agree || source.rows === 0)) return undefined
  return { columns, rows: part.rows, bytes: part.bytes, rawBytes }
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

export function selectCsv({ source, targets, columns }: LoadPlan, parallel: boolean): string {
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
  return `SELECT ${selected.join(', ')} FROM read_csv([${source.files.map(quoteLiteral).join(', ')}], ${options.join(', ')})`
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
    const whole = kinds & KIND.timestamptzMinutes ? `CAST(${seconds} AS TIMESTAMPTZ)` : field
    return {
      read: kinds & KIND.timestamptzMinutes ? 'VARCHAR' : 'TIMESTAMPTZ',
      sql: type === 'timestamp' ? `CAST(${whole} AS TIMESTAMP)` : whole,
    }
  }
  if (type === 'binary') return { read: 'VARCHAR', sql: `from_base64(${field})` }
  return { read: sqlType(type), sql: field }
}
