import type { ColumnType } from './column-types.ts'

/**
 * SQL ready to run. A user's value is never in `sql`: it is one of `parameters`, all bound as VARCHAR, so the SQL
 * casts each where another type is meant (`CAST($1 AS BIGINT)`).
 */
export interface Statement {
  readonly sql: string
  readonly parameters: readonly string[]
  /** What the SQL returns, in order. Result columns are read by position; their SQL names don't matter. */
  readonly columns: readonly { readonly name: string; readonly type: ColumnType }[]
  /** Whether so little is read that one thread does it in less time than several. */
  readonly light?: boolean
  /** The same question for another database, if it is to be asked first. */
  readonly elsewhere?: Elsewhere | undefined
}

/** A question for Trino (`engine/trino/`), with the parameters written into it. */
export interface Elsewhere {
  readonly sql: string
  /** What may fail on a value of the data, as the beginning of a sentence. */
  readonly fallible?: string | undefined
  /** Makes readable what DuckDB would read, should it have to answer after all. */
  otherwise(signal: AbortSignal | undefined): Promise<void>
}

/** An SQL identifier. Names that users chose enter SQL text through this function only. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** An SQL string literal, for texts of our own that can't be parameters: paths of parts, values of options. */
export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
