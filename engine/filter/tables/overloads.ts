import type { DialectName, Sql } from '../sql/dialect.ts'
import type { LiteralValue, ValueKind, ValueType } from '../values.ts'

/** One way to call an operator or a function: what it takes, what it gives, and its SQL. */
export interface Overload {
  readonly takes: readonly ValueKind[]
  readonly gives: ValueType | ((types: readonly ValueType[]) => ValueType)
  /** SQL of the call in DuckDB. */
  readonly duckdb: Rendering
  /** SQL of the call in Trino, if it can have the same meaning there. Without it, the query runs in DuckDB. */
  readonly trino?: Rendering
  /**
   * Checks the values of arguments after their types have been found right. It refuses literals with wrong values, by
   * `invalid_filter`, and may return other arguments in their place.
   */
  readonly prepare?: <Given extends Argument>(args: readonly Given[]) => readonly Given[]
}

/** @param trino SQL in Trino where it differs from DuckDB's; null where Trino can't have the same meaning */
export function of(
  takes: readonly ValueKind[],
  gives: Overload['gives'],
  duckdb: Rendering,
  trino: Rendering | null = duckdb,
): Overload {
  return { takes, gives, duckdb, ...(trino && { trino }) }
}

/** An overload for each of several types of the only argument. */
export function forKinds(
  kinds: readonly ValueKind[],
  gives: ValueType,
  sql: (x: Sql) => Sql,
  trino: (x: Sql) => Sql = sql,
): Overload[] {
  return kinds.map((kind) =>
    of(
      [kind],
      gives,
      ([x]) => sql(x!),
      ([x]) => trino(x!),
    ),
  )
}

export type Rendering = (args: readonly Sql[], site: CallSite) => Sql

/** The part of an argument that `prepare` needs. */
export interface Argument {
  readonly at: number
  /** Its value if the argument is a literal. */
  readonly value?: LiteralValue
}

/** What the SQL of an overload may depend on, besides the SQL of its arguments. */
export interface CallSite {
  readonly dialect: DialectName
  /** With what messages of run-time errors begin: `The filter`, or the name of another option. */
  readonly subject: string
  /** Counted from 1, for messages of run-time errors. */
  readonly position: number
  readonly types: readonly ValueType[]
  /** For each argument its value if it is a literal, otherwise undefined. */
  readonly values: readonly (LiteralValue | undefined)[]
  /**
   * For each argument, SQL of columns such that the argument is null exactly where one of them is null; undefined where
   * other things can make it null too.
   */
  readonly nullWith: readonly (readonly string[] | undefined)[]
  /** A new parameter, bound as VARCHAR. */
  readonly parameter: (text: string) => Sql
}

export interface FunctionRow {
  readonly name: string
  /** Names of the arguments, for messages and the reference. */
  readonly args: readonly string[]
  readonly overloads: readonly Overload[]
  /** For a function without arguments: its value, which is the same for the whole query. */
  readonly constant?: (now: () => Date) => LiteralValue
  /** The part of a moment that it gives. For a literal, the checker computes it. */
  readonly ofMoment?: MomentPart
  readonly about: string
  readonly example: string
}

export interface MomentPart {
  readonly name: 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'date' | 'time' | 'offset'
  /**
   * Whether it takes a literal with another offset than UTC. Our moments are in UTC, and a service that keeps them so
   * must refuse such literals for year, month, day, hour and time (section 5.1.1.8), but not for the other functions.
   */
  readonly anyOffset: boolean
}
