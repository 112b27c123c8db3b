import type { Duck, RunOptions } from '../../duckdb/duck.ts'
import type { Column } from '../../types/index.ts'
import type { SizedPart } from '../request.ts'
import { writePart } from './part.ts'
import { readParts } from './parts.ts'

/** Rows `from` (inclusive) to `to` (exclusive) of a part, and the file that gets them. */
export interface Cut {
  readonly from: number
  readonly to: number
  readonly target: string
}

/**
 * Writes the rows of a part as several parts. DuckDB could split them over several files in one pass, but would not
 * keep their order then.
 * @param rawBytes the bytes of all values of the part; each new part is given a share according to its rows
 */
export async function cutPart(
  duck: Duck,
  part: string,
  cuts: readonly Cut[],
  columns: readonly Column[],
  rawBytes: number,
  options: RunOptions,
): Promise<SizedPart[]> {
  const selected = columns.map((_, index) => `c${index}`).join(', ')
  const made: SizedPart[] = []
  for (const { from, to, target } of cuts) {
    const rows = to - from
    const share = Math.round((rawBytes * rows) / cuts.at(-1)!.to)
    const select = `SELECT ${selected} FROM ${readParts([part])} WHERE file_row_number >= ${from} AND file_row_number < ${to}`
    const written = await writePart(duck, select, target, { rows, rawBytes: share, columns }, options)
    made.push({ ...written, rawBytes: share })
  }
  return made
}
