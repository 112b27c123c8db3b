import type { Expression } from '../check/expression.ts'
import type { ValueType } from '../check/value-types.ts'
import type { Dialect } from './dialect.ts'
import type { Sql } from './fragments.ts'

/**
 * Where a condition stands decides how much care nulls need. In a `filter`, that is at the top and under and, or, a null
 * drops the row as false does, so plain operators serve, and DuckDB can skip row groups by them. As a `value`, under
 * not or beside eq, a comparison must be two-valued, as the standard has it.
 */
export type Place = 'filter' | 'value'

/** What the parts of the compiler ask of the whole: SQL of operands, and parameters. */
export interface SqlWriter {
  readonly dialect: Dialect
  /** SQL of an expression. @throws EngineError `filter_too_complex` */
  sql(node: Expression, place: Place): Sql
  /** A new parameter, bound as VARCHAR. */
  parameter(text: string): Sql
  /** A new parameter, cast to a type. */
  typed(text: string, type: ValueType): Sql
}
