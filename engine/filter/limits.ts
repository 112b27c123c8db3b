import { tooComplex } from './errors.ts'

/**
 * What a filter may be at most. All of it is checked before anything recursive runs, so that no input can overflow a
 * stack, ours or DuckDB's (whose expressions go 1,000 deep).
 */
export interface FilterLimits {
  /** UTF-16 units of the text. */
  readonly length: number
  readonly tokens: number
  /** Parentheses, calls, prefix operators and chains of arithmetic within each other. Chains of and, or don't count. */
  readonly nesting: number
  /**
   * Characters of the SQL, which guards against division by zero and NaN can make longer than the text: some hundred
   * characters of text could become millions, over which DuckDB would plan and compute for a minute.
   */
  readonly sql: number
}

export const DEFAULT_LIMITS: FilterLimits = {
  length: 2_000_000,
  tokens: 300_000,
  nesting: 150,
  sql: 1_000_000,
}

export function tooDeep(limits: FilterLimits): Error {
  return tooComplex(
    `The filter nests deeper than ${limits.nesting} levels. Remove parentheses that are not needed, or split arithmetic.`,
  )
}
