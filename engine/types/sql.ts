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
}

/** An SQL identifier. Names that users chose enter SQL text through this function only. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** An SQL string literal, for texts of our own that can't be parameters: paths of parts, values of options. */
export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
