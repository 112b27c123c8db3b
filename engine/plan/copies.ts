import type { JoinedColumn } from '../parquet/joined.ts'
import type { Statement } from '../types/index.ts'
import type { Plan, Slice } from './plan.ts'
import { rowsStatement } from './statements.ts'

/** A result that consists of columns of files, unchanged and in order. */
export interface Copies {
  readonly slices: readonly Slice[]
  readonly columns: readonly JoinedColumn[]
  /** The statement of some rows of a slice, for those that can't be copied. */
  readonly statement: (slice: Slice) => Statement
}

/** What to copy for a plan whose result is a range of rows of some files; undefined for every other plan. */
export function copies(plan: Plan): Copies | undefined {
  const { scan, steps, columns, filter, order, window } = plan
  const { skip, top, last } = window
  const narrowed = filter || steps.length > 0 || order.length > 0 || skip > 0
  if (scan.kind !== 'slices' || narrowed || top !== undefined || last !== undefined) return undefined
  if (scan.slices.length === 0) return undefined
  const copied: JoinedColumn[] = []
  for (const { name, type, stored } of columns) {
    if (stored === undefined) return undefined
    copied.push({ name, type, stored })
  }
  return {
    slices: scan.slices,
    columns: copied,
    statement: (slice) => rowsStatement({ ...plan, scan: { ...scan, slices: [slice] } }, undefined),
  }
}
