import type { ValueKind, ValueType } from '../check/value-types.ts'
import type { Sql } from '../sql/fragments.ts'
import type { LiteralValue } from '../syntax/literals.ts'

/** One way to call an operator or a function: what it takes, what it gives, and its SQL. */
export interface Overload {
  readonly takes: readonly ValueKind[]
  readonly gives: ValueType | ((types: readonly ValueType[]) => ValueType)
  /** SQL of the call, a column for each database. */
  readonly duckdb: Rendering
  /** Where Trino has the same meaning; without it, DuckDB is asked. */
  readonly trino?: Rendering
  /** Whether a last argument of zero makes the request fail. A literal one is refused before anything runs. */
  readonly zeroFails?: boolean | ((types: readonly ValueType[]) => boolean)
  /**
   * Looks at arguments whose types are right already: refuses literals whose values are wrong, by `invalid_filter`, and
   * may put other arguments in their place.
   */
  readonly prepare?: <Given extends Argument>(args: readonly Given[]) => readonly Given[]
}

export type Rendering = (args: readonly Sql[], site: CallSite) => Sql

/** An argument, as far as preparing looks at it. */
export interface Argument {
  readonly at: number
  /** Of a literal. */
  readonly value?: LiteralValue
}

/** What an overload may want to know of the place where it is called, besides the SQL of its arguments. */
export interface CallSite {
  /** Counted from 1, for messages of run-time errors. */
  readonly position: number
  readonly types: readonly ValueType[]
  /** The arguments that are literals. */
  readonly values: readonly (LiteralValue | undefined)[]
  /** For each argument the SQL of columns with which alone it is null; undefined where there is more to it. */
  readonly nullWith: readonly (readonly string[] | undefined)[]
  /** A new parameter, bound as VARCHAR. */
  readonly parameter: (text: string) => Sql
}

export function resultType(overload: Overload, types: readonly ValueType[]): ValueType {
  return typeof overload.gives === 'function' ? overload.gives(types) : overload.gives
}

export function zeroFails(overload: Overload, types: readonly ValueType[]): boolean {
  return typeof overload.zeroFails === 'function' ? overload.zeroFails(types) : (overload.zeroFails ?? false)
}
