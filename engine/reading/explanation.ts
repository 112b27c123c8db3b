import type { Column } from '../types/index.ts'

/** How many parts are read, of all; and how many of those not as whole files. */
interface PartCounts {
  readonly read: number
  readonly of: number
  readonly byRanges: number
}

/** What a query did. Times are in milliseconds; those of steps are of all threads together. */
export interface Explanation {
  /** What took most of the time, and what would help. */
  readonly verdict: string
  /** The columns of the result. */
  readonly columns: readonly Pick<Column, 'name' | 'type'>[]
  /** Who reads the rows, and why. */
  readonly where: string
  /** How the rows are read and written. */
  readonly strategy: string
  /**
   * The parts that may have wanted rows by their statistics, of all. A statement of SQL opens all parts of its tables;
   * null for who may not read them.
   */
  readonly parts: PartCounts | null
  /** The row groups of those parts that may have them, of all; null where the parts are not on this machine. SQL counts a table once for each time that it is read. */
  readonly rowGroups: { readonly read: number; readonly of: number } | null
  /** From the beginning of the statement to its last row; writing the rows in a format is not counted. */
  readonly ms: number
  /** From files; what DuckDB has in memory is not counted. Undefined over HTTP for who may not read all tables below a saved query; `steps` is empty then. */
  readonly bytesRead?: number
  /** Of a statement of SQL: how its rows, if they are stored, are refreshed after rows were appended to its table. */
  readonly refresh?: RefreshKind
  /** From the result down to the scans, which say which conditions are compared with the statistics of row groups. */
  readonly steps: readonly ExplainedStep[]
}

/** Whether only rows that were appended are read (`difference`), or all of them, and why. */
export interface RefreshKind {
  readonly by: 'difference' | 'whole'
  /** null for `difference`. */
  readonly because: string | null
}

export interface ExplainedStep {
  readonly name: string
  /** How many steps are above it. */
  readonly depth: number
  readonly rows: number
  readonly ms: number
  readonly details: Readonly<Record<string, unknown>>
}
