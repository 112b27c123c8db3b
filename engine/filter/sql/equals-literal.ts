import type { Expression } from '../check/expression.ts'
import { all, comparison, orFalse, type Sql } from './fragments.ts'
import type { Keyed } from './narrow.ts'

/**
 * Whether an operand equals a literal; null where the operand is null. 0 as a double equals -0, but the Bloom filter of
 * a row group knows only their bits, so DuckDB 1.5 would leave out row groups that have only the other zero. So for a
 * column, zero is written as a range. DuckDB may find that another operand is just a column, as in `case(true:x)`;
 * coalesce() keeps such a comparison away from Bloom filters.
 */
export function equalsLiteral(operand: Expression, x: Sql, value: Sql, { key }: Keyed): Sql {
  if (key !== 0) return comparison(x, '=', value)
  if (operand.kind !== 'column') return orFalse(comparison(x, '=', value))
  return all([comparison(x, '>=', value), comparison(x, '<=', value)])
}
