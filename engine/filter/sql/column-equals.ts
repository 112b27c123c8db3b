import { all, comparison, type Sql } from './fragments.ts'
import type { Keyed } from './narrow.ts'

/**
 * Whether a column equals a value. Zero as a double is a range: 0 equals -0, but the Bloom filter of a row group knows
 * only their bits, so DuckDB 1.5 would leave out row groups that have only the other zero.
 */
export function columnEquals(column: Sql, value: Sql, { key }: Keyed): Sql {
  if (key !== 0) return comparison(column, '=', value)
  return all([comparison(column, '>=', value), comparison(column, '<=', value)])
}
