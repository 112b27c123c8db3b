import { tooComplex } from './errors.ts'

/**
 * Upper limits of a filter, and of the other texts of a query. Size and nesting are checked before any recursive code
 * runs, so that no input can overflow a stack, neither ours nor DuckDB's (whose expressions go 1,000 deep).
 */
export interface FilterLimits {
  /** UTF-16 units of the text. */
  readonly length: number
  readonly tokens: number
  /** Levels of parentheses, calls, prefix operators and chained arithmetic. Chains of `and` or of `or` don't count. */
  readonly nesting: number
  /**
   * Characters of the SQL. Guards against division by zero and NaN can make the SQL much longer than the text: some
   * hundred characters of text could become millions, which would keep DuckDB busy for a minute.
   */
  readonly sql: number
  /** Expressions of `$apply`, `$compute` and `$orderby` together. */
  readonly expressions: number
  /**
   * How often the branches of `concat` and `rollup` together read the rows. Each time has a file open, or two, however many
   * there are; with the exports that one account may run at once, this bounds the files that it has open.
   */
  readonly reads: number
  /** Transformations in sequence; for DuckDB each is a subquery within the next. */
  readonly steps: number
  /** Those of them that group rows: the time in which DuckDB plans them doubles with each. */
  readonly groupings: number
}

/** The limits that hold where a caller sets none. */
export const DEFAULT_LIMITS: FilterLimits = {
  length: 2_000_000,
  tokens: 300_000,
  nesting: 150,
  sql: 1_000_000,
  expressions: 2_000,
  reads: 64,
  steps: 100,
  groupings: 12,
}

export function tooDeep(limits: FilterLimits): Error {
  return tooComplex(
    `The filter nests deeper than ${limits.nesting} levels. Remove parentheses that are not needed, or split arithmetic.`,
  )
}
