import type { Duck, RunOptions } from '../../duckdb/duck.ts'
import { valueText } from '../../duckdb/value-text.ts'
import { EngineError } from '../../errors.ts'
import { ORDINAL } from '../../parquet/ordinals.ts'
import { MOST_BYTES_AT_ONCE, rowsAtOnce, VECTOR_ROWS } from '../../parquet/row-groups.ts'
import { widens } from '../../types/columns.ts'
import { type Column, type ColumnType, fixedBytes, quoteLiteral, sqlType } from '../../types/index.ts'
import type { IngestResult, SizedPart } from '../request.ts'
import { writePart } from './part.ts'

/** SQL that reads the rows of parts in order, with their columns as c0, c1, … */
export function readParts(parts: readonly string[]): string {
  return `read_parquet([${parts.map(quoteLiteral).join(', ')}], hive_partitioning = false)`
}

/** Parts of one dataset, and the columns with which their rows are to be written. */
interface RewriteInput {
  readonly parts: readonly string[]
  readonly target: string
  readonly from: readonly Column[]
  readonly to: readonly Column[]
}

/**
 * Writes the rows of parts, in order, as one part under a changed manifest: columns may be added as nulls, reordered, and
 * widened.
 * @throws EngineError `column_conflict` where a type can't become the other without loss
 */
export async function rewriteParts(
  duck: Duck,
  { parts, target, from, to }: RewriteInput,
  options: RunOptions,
): Promise<SizedPart> {
  const position = new Map(from.map((column, index) => [column.name, index]))
  const selected = to.map((column, index) => {
    const old = position.get(column.name)
    const sql =
      old === undefined
        ? `CAST(NULL AS ${sqlType(column.type)})`
        : widened(from[old]!, column.type, `c${old}`)
    return `${sql} AS c${index}`
  })
  const source = readParts(parts)
  const estimate = await measure(duck, source, from, options)
  const select = `SELECT ${selected.join(', ')} FROM ${source}`
  const written = await writePart(duck, select, target, { ...estimate, columns: to }, options)
  const { rawBytes } = from === to ? estimate : await measure(duck, readParts([target]), to, options)
  return { ...written, rawBytes }
}

/** Rows that a relation finds in parts, as c0, c1, …, each with its place, and what is known of them before. */
export interface CompareInput {
  readonly parts: readonly string[]
  readonly relation: string
  readonly target: string
  readonly columns: readonly Column[]
  readonly size: { readonly rows: number; readonly rawBytes: number }
}

/** What DuckDB may use to compare rows; more of them go to the disk. With 128 MiB, wide rows do not fit. */
const COMPARE_MEMORY = '192MiB'

/** Writes the rows that a relation finds as one part, in order, and in little memory if it can be done. */
export async function writeCompared(
  duck: Duck,
  { relation, target, columns, size }: CompareInput,
  options: RunOptions,
): Promise<void> {
  const names = columns.map((_, index) => `c${index}`)
  const sql = `SELECT ${names.join(', ')} FROM ${relation} ORDER BY file_index, file_row_number`
  const write = (duck: Duck) => writePart(duck, sql, target, { ...size, columns }, options)
  const small = await duck.withMemory(COMPARE_MEMORY)
  try {
    await write(small)
  } catch (error) {
    if (!(error instanceof EngineError && error.code === 'overloaded')) throw error
    await write(duck)
  } finally {
    await small.close()
  }
}

/** Counts the rows, and the bytes of all values together. */
export async function measure(
  duck: Duck,
  source: string,
  columns: readonly Column[],
  options: RunOptions,
): Promise<{ rows: number; rawBytes: number }> {
  const [row] = await duck.run(`SELECT count(*), ${textBytes(columns)} FROM ${source}`, options)
  const rows = Number(row![0])
  return { rows, rawBytes: fixedRowBytes(columns) * rows + Number(row![1]) }
}

/** The bytes that the values of fixed size of a row take. */
function fixedRowBytes(columns: readonly Column[]): number {
  return columns.reduce((sum, { type }) => sum + (fixedBytes(type) ?? 0), 0)
}

/** SQL for the bytes of all values whose length varies. DuckDB refuses a thousand sums with a plus between each. */
function textBytes(columns: readonly Column[]): string {
  const sums = columns.flatMap(({ type }, index) => {
    if (fixedBytes(type) !== undefined) return []
    return `sum(${type === 'binary' ? 'octet_length' : 'strlen'}(c${index}))`
  })
  return `CAST(list_sum([${['0', ...sums].join(', ')}]) AS DOUBLE)`
}

/**
 * Refuses a part in which the texts of rows that are read at once are so long that whoever reads them would need
 * gigabytes. The more bytes the rows have on average, the fewer are read at once, because the part is then cut into parts
 * of few rows.
 * @throws EngineError `upload_too_large`
 */
export async function refuseLongTexts(
  duck: Duck,
  part: string,
  { columns, rows, rawBytes }: IngestResult,
  options: RunOptions,
): Promise<void> {
  const texts = rawBytes - fixedRowBytes(columns) * rows
  if (texts <= MOST_BYTES_AT_ONCE || texts * VECTOR_ROWS > MOST_BYTES_AT_ONCE * rows) return
  const atOnce = rowsAtOnce({ rows, rawBytes }, columns.length)
  const [longest] = await duck.run(
    `SELECT CAST(file_row_number // ${atOnce} AS DOUBLE) AS place, ${textBytes(columns)} AS bytes ` +
      `FROM ${readParts([part])} GROUP BY ALL ORDER BY bytes DESC LIMIT 1`,
    options,
  )
  const [place, bytes] = longest as [number, number]
  if (bytes <= MOST_BYTES_AT_ONCE) return
  const first = place * atOnce + 1
  const last = Math.min(rows, first + atOnce - 1)
  throw new EngineError(
    'upload_too_large',
    `The texts of rows ${first} to ${last} have ${bytes} bytes, and those of so many rows are read at once: they may ` +
      `have ${MOST_BYTES_AT_ONCE} bytes. Shorten them, or put the rows with long texts into a dataset of their own.`,
    { details: { row: first, limit: MOST_BYTES_AT_ONCE } },
  )
}

/** Decodes every page of a part, and gives its columns without the ordinals. @throws if it can't be read to its end */
export async function verifyPart(
  duck: Duck,
  { part }: { readonly part: string },
  options: RunOptions,
): Promise<{ rows: number; columns: string[] }> {
  const source = readParts([part])
  const described = await duck.run(`DESCRIBE SELECT * FROM ${source}`, options)
  const columns = described.map((row) => String(row[0]))
  const hashes = columns.map((name) => `bit_xor(hash(${JSON.stringify(name)}))`)
  const [row] = await duck.run(`SELECT ${['count(*)', ...hashes].join(', ')} FROM ${source}`, options)
  return { rows: Number(row![0]), columns: columns.filter((name) => name !== ORDINAL) }
}

/** SQL that converts an expression of one column type to another type that holds all of its values. */
export function widened(from: Pick<Column, 'name' | 'type'>, to: ColumnType, sql: string): string {
  if (from.type === to) return sql
  if (!widens(from.type, to)) {
    throw new EngineError(
      'column_conflict',
      `Column ${JSON.stringify(from.name)} is ${from.type}; it can't become ${to} without loss.`,
      { details: { column: from.name, wanted: to, given: from.type } },
    )
  }
  return to === 'string' ? valueText(from.type, sql) : `CAST(${sql} AS ${sqlType(to)})`
}
