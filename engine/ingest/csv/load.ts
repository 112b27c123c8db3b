import { rm } from 'node:fs/promises'
import type { Duck } from '../../duckdb/duck.ts'
import { EngineError } from '../../errors.ts'
import { type Column, type ColumnType, fixedBytes, quoteLiteral, sqlType } from '../../types/index.ts'
import { type WrittenPart, writePart } from '../part.ts'
import type { IngestResult, ReadRequest } from '../request.ts'
import { settledColumns, type Target } from '../targets.ts'
import { inferType, KIND, ZONED } from '../text/text-kinds.ts'
import type { CsvFindings } from './scan.ts'

/** A csv file that has been checked: what DuckDB has to know to read it as it was checked. */
export interface CsvSource extends Omit<CsvFindings, 'mixedNewlines'> {
  readonly file: string
  readonly delimiter: string
  /** Its first record is a header. */
  readonly header: boolean
  /** Fields in each record. */
  readonly fields: number
}

/** Writes a checked csv file as a part. Every text is a value of its column's type by now. */
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
    // DuckDB's threads guess where records begin and give up where quotes mislead them; a single one never guesses.
    if (machine || source.quotedNewlines || !source.quotes) throw error
    return write(false)
  })
}

/** What DuckDB is to do with a csv file. */
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
  const estimate = { rows: plan.source.rows, rawBytes: plan.rawBytes, columns: plan.columns.length }
  return writePart(duck, selectCsv(plan, parallel), target, estimate, { signal })
}

/** The result, provided that DuckDB found the rows and nulls in the file that are in it. */
export function settleLoad(
  { source, targets, columns, rawBytes }: LoadPlan,
  part: WrittenPart,
): IngestResult | undefined {
  // DuckDB's reader has its own opinion of some texts, and makes nulls of a few that it does not take.
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

/** DuckDB's own limit on a line; it sizes buffers, so it is raised for the files alone that need it. */
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

/** What DuckDB's reader parses a field as, and what becomes of it. It skips the way through text wherever it can. */
function conversion(type: ColumnType, kinds: number, field: string): { read: string; sql: string } {
  // A cast from text to TIMESTAMP drops the offset, so zones go by way of TIMESTAMPTZ; that one wants seconds.
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
