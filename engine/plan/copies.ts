import type { JoinedColumn } from '../parquet/joined.ts'
import type { Plan } from './plan.ts'

/** Columns of ours in parts are `c0`, `c1` …; whatever else a column is, is calculated. */
const STORED = /^c(\d+)$/

/** The files and columns of a plan that gives all rows of them, as they lie there; undefined where it asks for more. */
export function copies({
  scan,
  steps,
  columns,
  filter,
  order,
  window,
}: Plan): { readonly files: readonly string[]; readonly columns: readonly JoinedColumn[] } | undefined {
  const { skip, top, last } = window
  const narrowed = filter || steps.length > 0 || order.length > 0 || skip > 0
  if (scan.kind !== 'slices' || narrowed || top !== undefined || last !== undefined) return undefined
  if (
    scan.slices.length === 0 ||
    scan.slices.some(({ from, to }) => from !== undefined || to !== undefined)
  ) {
    return undefined
  }
  const stored: JoinedColumn[] = []
  for (const { name, type, sql } of columns) {
    const number = STORED.exec(sql)?.[1]
    if (number === undefined) return undefined
    stored.push({ name, type, stored: Number(number) })
  }
  return { files: scan.slices.map(({ file }) => file), columns: stored }
}
