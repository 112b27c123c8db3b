import type { Expression } from '../check/expression.ts'
import type { ValueType } from '../check/value-types.ts'
import type { Dialect } from './dialect.ts'
import type { Sql } from './fragments.ts'

/**
 * The place of a condition, which decides how nulls must be treated. In a `filter`, which is the top and the operands
 * of `and` and `or` there, a null drops the row just as false does, so plain operators are enough, and DuckDB can skip
 * row groups by them. In a `value`, such as an operand of `not` or `eq`, a comparison must give true or false and never
 * null, as the standard demands.
 */
export type Place = 'filter' | 'value'

/** The interface through which the files of the compiler get the SQL of operands and new parameters. */
export interface SqlWriter {
  readonly dialect: Dialect
  /** SQL of an expression. @throws EngineError `filter_too_complex` */
  sql(node: Expression, place: Place): Sql
  /** A new parameter, bound as VARCHAR. */
  parameter(text: string): Sql
  /** A new parameter, cast to a type. */
  typed(text: string, type: ValueType): Sql
}
