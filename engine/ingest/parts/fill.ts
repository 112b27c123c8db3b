import type { Duck, RunOptions } from '../../duckdb/duck.ts'
import { EngineError, hint } from '../../errors.ts'
import { readParts } from '../../parquet/read-parts.ts'
import { type Column, sqlType } from '../../types/index.ts'
import type { SizedPart, UnnamedColumns } from '../request.ts'
import { missingValue } from '../text/errors.ts'
import { measure, writePart } from './part.ts'
import { sameKey } from './parts.ts'

export interface FillInput {
  /** The parts of an upload, in the order of their rows. */
  readonly parts: readonly string[]
  /** Parts of the dataset, with the rows whose places are taken. */
  readonly old: readonly string[]
  /** How many of the columns these have. */
  readonly oldColumns: number
  readonly target: string
  readonly columns: readonly Column[]
  /** The positions of the columns of the key. */
  readonly on: readonly number[]
  readonly unnamed: UnnamedColumns
  readonly size: { readonly rows: number; readonly rawBytes: number }
}

/**
 * Writes the rows of an upload with the values of the rows whose places they take, where they do not name a column. New
 * rows have null there.
 * @throws EngineError `duplicate_key`, `invalid_upload` where a new row lacks a column that is not nullable
 */
export async function fillParts(
  duck: Duck,
  { parts, old, oldColumns, target, columns, on, unnamed, size }: FillInput,
  options: RunOptions,
): Promise<SizedPart> {
  const [all, some] = [new Set(unnamed.all), new Set(unnamed.some)]
  const selected = columns.map(({ type }, index) => {
    const [given, kept] = [`u.c${index}`, old.length > 0 && index < oldColumns ? `p.c${index}` : 'NULL']
    if (all.has(index)) return `CAST(${kept} AS ${sqlType(type)}) AS c${index}`
    if (!some.has(index)) return `${given} AS c${index}`
    const isNull = unnamed.marked ? `coalesce(contains(u.c${columns.length}, ',${index},'), false)` : 'false'
    return `CASE WHEN ${given} IS NULL AND NOT ${isNull} THEN ${kept} ELSE ${given} END AS c${index}`
  })
  const join = old.length > 0 ? `LEFT JOIN ${readParts(old)} p ON ${sameKey(on)}` : ''
  const source = `(SELECT *, file_index, file_row_number FROM ${readParts(parts)}) u ${join}`
  const select = `SELECT ${selected.join(', ')} FROM ${source} ORDER BY u.file_index, u.file_row_number`
  const written = await writePart(duck, select, target, { ...size, columns }, options)
  if (written.rows > size.rows) throw severalRows()
  const empty = columns.findIndex(({ nullable }, index) => !nullable && written.nulls[index]! > 0)
  if (empty >= 0) {
    const found = `SELECT min(file_row_number) FROM ${readParts([target])} WHERE c${empty} IS NULL`
    const [row] = await duck.run(found, options)
    throw missingValue(Number(row![0]) + 1, columns[empty]!.name)
  }
  const { rawBytes } = await measure(duck, readParts([target]), columns, options)
  return { ...written, rawBytes }
}

/** The error for an upsert without a key of the dataset that finds several rows in place of one. */
export function severalRows(): EngineError {
  return new EngineError(
    'duplicate_key',
    'Several rows of the dataset have the key of one row of the upload, so the values of columns that the upload does not ' +
      `name could be those of any of them. Name all columns, or add ${hint('missing=null')}.`,
  )
}
