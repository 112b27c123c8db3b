import type { Plan } from './plan.ts'

/** Each thread of DuckDB reads row groups of its own; a table of this many rows has only a few. */
export const FEW_ROWS = 122_880

/**
 * Whether a plan reads so little that it takes less time with one thread than with several: some rows by their numbers,
 * the rows that a filter leaves in one file of several, which probably are in one of its row groups, or a small table.
 * The files must be there, because light statements are not read over HTTP.
 */
export function isLight({ scan, steps, order, filter, most }: Plan): boolean {
  if (scan.kind === 'query') return scan.light ?? false
  if (scan.kind !== 'slices' || steps.length > 0 || order.length > 0) return false
  if (scan.slices.some(({ file }) => /^https?:/.test(file))) return false
  if (!filter) return true
  return scan.slices.length <= 1 && (scan.of > 1 || (most !== undefined && most <= FEW_ROWS))
}
