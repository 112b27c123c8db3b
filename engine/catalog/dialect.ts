/** The few words in which the databases differ. */
export interface Dialect {
  /** A statement that makes tables, from the words of SQLite. */
  readonly definition: (sql: string) => string
  /** The number of elements of a JSON array that a column of text holds. */
  readonly arrayLength: (column: string) => string
}

export const SQLITE: Dialect = {
  definition: (sql) => sql,
  arrayLength: (column) => `json_array_length(${column})`,
}
