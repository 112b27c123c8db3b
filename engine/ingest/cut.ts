import { rm } from 'node:fs/promises'
import type { Duck, RunOptions } from '../duckdb/duck.ts'
import type { Column } from '../types/index.ts'
import { writePart } from './part.ts'
import { readParts } from './parts.ts'
import type { Described, PartSize } from './request.ts'
import { partStatistics } from './statistics.ts'

/** Rows `from` (inclusive) to `to` (exclusive) of a part, and the file that gets them. */
export interface Cut {
  readonly from: number
  readonly to: number
  readonly target: string
}

/**
 * Writes the rows of a part as several parts. DuckDB could split them over several files in one pass, but would not
 * keep their order then. Reading them once more costs little compared with reading an upload.
 * @param rawBytes the bytes of all values of the part; each new part is given a share according to its rows
 */
export async function cutPart(
  duck: Duck,
  part: string,
  cuts: readonly Cut[],
  columns: readonly Column[],
  rawBytes: number,
  options: RunOptions,
): Promise<Described<PartSize>[]> {
  const selected = columns.map((_, index) => `c${index}`).join(', ')
  const all = cuts.at(-1)!.to
  const made: Described<PartSize>[] = []
  try {
    for (const { from, to, target } of cuts) {
      const share = Math.round((rawBytes * (to - from)) / all)
      const { rows, bytes } = await writePart(
        duck,
        `SELECT ${selected} FROM ${readParts([part])} WHERE file_row_number >= ${from} AND file_row_number < ${to}`,
        target,
        { rows: to - from, rawBytes: share, columns: columns.length },
        options,
      )
      const statistics = await partStatistics(duck, target, columns, options)
      made.push({ rows, bytes, rawBytes: share, statistics })
    }
    return made
  } catch (error) {
    for (const { target } of cuts) await rm(target, { force: true })
    throw error
  }
}
