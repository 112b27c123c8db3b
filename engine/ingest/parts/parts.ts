import type { Duck, RunOptions } from '../../duckdb/duck.ts'
import { valueText } from '../../duckdb/value-text.ts'
import { EngineError } from '../../errors.ts'
import { ORDINAL } from '../../parquet/ordinals.ts'
import { widens } from '../../types/columns.ts'
import { type Column, type ColumnType, fixedBytes, quoteLiteral, sqlType } from '../../types/index.ts'
import type { SizedPart } from '../request.ts'
import { writePart } from './part.ts'

/** SQL that reads the rows of parts in order, with their columns as c0, c1, … */
export function readParts(parts: readonly string[]): string {
  return `read_parquet([${parts.map(quoteLiteral).join(', ')}], hive_partitioning = false)`
}

/**
 * Writes the rows of parts under a changed manifest: columns may be added as nulls, reordered, and widened.
 * @throws EngineError `column_conflict` where a type can't become the other without loss
 */
export async function rewriteParts(
  duck: Duck,
  parts: readonly string[],
  target: string,
  from: readonly Column[],
  to: readonly Column[],
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
  const written = await writePart(
    duck,
    `SELECT ${selected.join(', ')} FROM ${source}`,
    target,
    { ...estimate, columns: to },
    options,
  )
  const { rawBytes } = from === to ? estimate : await measure(duck, readParts([target]), to, options)
  return { ...written, rawBytes }
}

/** Counts the rows, and the bytes of all values together. */
export async function measure(
  duck: Duck,
  source: string,
  columns: readonly Column[],
  options: RunOptions,
): Promise<{ rows: number; rawBytes: number }> {
  let fixed = 0
  const sums = columns.flatMap(({ type }, index) => {
    const width = fixedBytes(type)
    fixed += width ?? 0
    if (width !== undefined) return []
    return `sum(${lengthOf(type, index)})`
  })
  const [row] = await duck.run(`SELECT count(*), ${total(sums)} FROM ${source}`, options)
  const rows = Number(row![0])
  return { rows, rawBytes: fixed * rows + Number(row![1]) }
}

/** SQL for the sum of expressions. DuckDB refuses a thousand of them with a plus between each. */
export function total(expressions: readonly string[]): string {
  return `CAST(list_sum([${['0', ...expressions].join(', ')}]) AS DOUBLE)`
}

/** SQL for the bytes of a value whose length varies. */
export function lengthOf(type: ColumnType, index: number): string {
  return type === 'binary' ? `octet_length(c${index})` : `strlen(c${index})`
}

/** Decodes every page of a part, and gives its columns without the ordinals. @throws if it can't be read to its end */
export async function verifyPart(
  duck: Duck,
  part: string,
  options: RunOptions = {},
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
