import { EngineError, type ErrorFields } from '../errors.ts'

/** A place in the filter: offsets in UTF-16 units, with an exclusive end. */
export interface Span {
  readonly at: number
  readonly end: number
}

/** The error for a filter that is not a valid expression. The message counts positions from 1, its details from 0. */
export function invalid(at: number, sentence: string, details: ErrorFields = {}): EngineError {
  return positioned('invalid_filter', at, sentence, details)
}

/** The error for an operator or a function whose operand has a type that it does not take. */
export function mistyped(at: number, sentence: string): EngineError {
  return positioned('filter_type_error', at, sentence)
}

function positioned(
  code: 'invalid_filter' | 'filter_type_error',
  at: number,
  sentence: string,
  more?: ErrorFields,
): EngineError {
  const details = { option: '$filter', position: at, problem: sentence, ...more }
  return new EngineError(code, `At position ${at + 1}: ${sentence}`, { details })
}

export function tooComplex(sentence: string): EngineError {
  return new EngineError('filter_too_complex', sentence, { details: { option: '$filter' } })
}

/** A piece of the filter for a message. If it is long, its middle is left out. */
export function excerpt(text: string): string {
  const characters = [...text]
  return characters.length <= 40
    ? text
    : `${characters.slice(0, 24).join('')} … ${characters.slice(-12).join('')}`
}

/** The hint for a text that was put in double quotes. */
export function singleQuotes(text: string): string {
  return `Double quotes are for names; a text stands in single ones: '${excerpt(text.replaceAll("'", "''"))}'.`
}

/**
 * Upper limits of a filter, and of the other texts of a query. Size and nesting are checked before any recursive code
 * runs, so that no input can overflow a stack, neither ours nor DuckDB's (whose expressions go 1,000 deep).
 */
export const LIMITS = {
  /** UTF-16 units of the text. */
  length: 2_000_000,
  tokens: 300_000,
  /** Levels of parentheses, calls, prefix operators and chained arithmetic. Chains of `and` or of `or` don't count. */
  nesting: 150,
  /**
   * Characters of the SQL. Guards against division by zero and NaN can make the SQL much longer than the text: some
   * hundred characters of text could become millions, which would keep DuckDB busy for a minute.
   */
  sql: 1_000_000,
  /** Expressions of `$apply`, `$compute` and `$orderby` together. */
  expressions: 2_000,
  /**
   * How often the branches of `concat` and `rollup` together read the rows. Each time has two or three files open, however many
   * there are; with the exports that one account may run at once, this bounds the files that it has open.
   */
  reads: 64,
  /** Transformations in sequence; for DuckDB each is a subquery within the next. */
  steps: 100,
  /** Those of them that group rows: the time in which DuckDB plans them doubles with each. */
  groupings: 12,
} as const

export function tooDeep(): Error {
  return tooComplex(
    `The filter nests deeper than ${LIMITS.nesting} levels. Remove parentheses that are not needed, or split arithmetic.`,
  )
}
