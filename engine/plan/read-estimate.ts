import type { Part } from '../catalog/records.ts'
import { rowGroupRows } from '../parquet/row-groups.ts'
import type { Plan, Slice } from './plan.ts'

/** What a plan reads of its parts. */
export interface ReadEstimate {
  /** The positions of the columns. */
  readonly columns: readonly number[]
  /** How many columns the table has. */
  readonly of: number
  /** The share of the rows whose values are read, as far as one can tell before reading. */
  readonly share: number
}

/** A filter is expected to leave one row group of eight. If it leaves more, that shows when the part is read. */
export const FILTERED = 1 / 8
/** Smaller parts are fetched by one request anyway. */
const LEAST_BYTES = 8 * 2 ** 20
/** Of a part from which more than this is read, all is fetched, because that is done in larger pieces. */
const MOST_READ = 1 / 4

/** @param counting whether the matching rows are only counted */
export function estimateOf(plan: Plan, counting: boolean): ReadEstimate {
  const columns = counting ? plan.reads.counted : plan.reads.rows
  return { columns, of: plan.source.length, share: plan.filter && plan.steps.length === 0 ? FILTERED : 1 }
}

/** Whether so little of a part is read that fetching all of it doesn't pay. */
export function readsLittle(part: Part, slice: Slice, { columns, of, share }: ReadEstimate): boolean {
  if (part.bytes < LEAST_BYTES) return false
  return bytesOf(part, columns) * Math.min(share, shareOf(slice, part, of)) <= part.bytes * MOST_READ
}

/** The compressed bytes of columns in a part. */
export function bytesOf(part: Part, columns: readonly number[]): number {
  const sizes = columns.map((position) => part.statistics?.[position]?.bytes)
  // Of tables of very many columns, the sizes of single columns are not known.
  return sizes.includes(undefined) ? part.bytes : sizes.reduce<number>((sum, size) => sum + size!, 0)
}

/** The share of a part's rows that are in the row groups of a slice, because DuckDB reads whole row groups. */
function shareOf({ from = 0, to }: Slice, { rows, rawBytes }: Part, columns: number): number {
  const groupRows = rowGroupRows({ rows, rawBytes }, columns)
  const first = Math.floor(from / groupRows)
  const end = Math.ceil(Math.min(to ?? rows, rows) / groupRows)
  return Math.min(((end - first) * groupRows) / Math.max(rows, 1), 1)
}
