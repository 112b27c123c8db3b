import type { JoinedColumn } from '../parquet/joined.ts'
import type { Plan } from './plan.ts'

/** The SQL of a stored column: in parts, columns are called `c0`, `c1` …. All other SQL is a calculation. */
const STORED = /^c(\d+)$/

/**
 * The files and columns of a plan whose result is all rows of some files, unchanged and in order; undefined for every
 * other plan.
 */
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
