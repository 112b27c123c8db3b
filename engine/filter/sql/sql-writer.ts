import type { Expression } from '../check/expression.ts'
import type { ValueType } from '../check/value-types.ts'
import type { SqlDialect } from './dialect.ts'
import type { Sql } from './fragments.ts'

/**
 * How a condition must treat nulls, which depends on where it stands. In a `filter`, which is the top and the operands
 * of `and` and `or` there, a null drops the row just as false does, so plain operators are enough, and DuckDB can skip
 * row groups by them. In a `value`, such as an operand of `not` or `eq`, a comparison must give true or false and never
 * null, as the standard demands.
 */
export type NullHandling = 'filter' | 'value'

/** The interface through which the files of the compiler get the SQL of operands and new parameters. */
export interface SqlWriter {
  readonly dialect: SqlDialect
  /** SQL of an expression. @throws EngineError `filter_too_complex` */
  sql(node: Expression, nulls: NullHandling): Sql
  /** A new parameter, bound as VARCHAR. */
  parameter(text: string): Sql
  /** A new parameter, cast to a type. */
  typed(text: string, type: ValueType): Sql
}
