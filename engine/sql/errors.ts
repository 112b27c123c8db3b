import { EngineError, type ErrorCode } from '../errors.ts'

/** What is wrong with a statement, and where: the number of characters before it, if it has a place. */
export function sqlError(
  code: Extract<ErrorCode, 'invalid_sql' | 'sql_not_allowed' | 'unknown_table'>,
  message: string,
  position?: number,
  cause?: unknown,
): EngineError {
  const where = position === undefined ? '' : ` (at character ${position + 1})`
  return new EngineError(code, `${message}${where}`, {
    cause,
    ...(position !== undefined && { details: { position } }),
  })
}

/** The beginning of the names of tables in the SQL that DuckDB gets. Users' statements can't name any other. */
export const INTERNAL = 'parquetry '

/** Follows a column's name where another one differs from it only by case. */
export const CASED = '\u{F0000}'
const CASED_NAME = new RegExp(`${CASED}\\d+`, 'gu')

/** A name as the user wrote it. */
export function shownName(name: string): string {
  return name.replaceAll(CASED_NAME, '')
}

/** The kinds of DuckDB's errors that a statement or a value can cause. */
const ABOUT_STATEMENT = new Set([
  'Binder',
  'Catalog',
  'Constraint',
  'Conversion',
  'Expression Depth Limit',
  'Expression Executor',
  'Invalid',
  'Invalid Input',
  'Invalid type',
  'Mismatch Type',
  'Not implemented',
  'Out of Range',
  'Parameter Not Resolved',
  'Parser',
  'Sequence',
  'Syntax',
  'TransactionContext',
  'Type',
])

/**
 * What DuckDB says about a user's statement: its first line, without the names that we gave to things. Undefined if it
 * is not about the statement or its values, but about a file in `folder`.
 */
export function duckMessage(error: unknown, folder: string | undefined): string | undefined {
  const message = error instanceof Error ? error.message : ''
  const [, kind, said] = /^([A-Z][\w ]*?) Error: ([\s\S]*)$/.exec(message) ?? []
  if (kind === undefined || said === undefined || !ABOUT_STATEMENT.has(kind)) return undefined
  const short = said.split(/\n\s*(?:LINE \d+:|Did you mean|Candidate)|\n\n/, 1)[0]!.trim()
  if (folder !== undefined && said.includes(folder)) return undefined
  const safe = shownName(short).replaceAll(/"?parquetry [tc][0-9a-f]+"?/g, 'the table')
  return /[.!?]$/.test(safe) ? safe : `${safe}.`
}
