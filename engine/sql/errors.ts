import { EngineError, type ErrorCode } from '../errors.ts'
import { nearest } from '../util/nearest.ts'
import { locationInText, type TreeNode } from './nodes.ts'
import { quotesFor, unquotedAt } from './unquoted.ts'

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
 * is not about the statement or its values, but about a file in `places`.
 */
function duckMessage(error: unknown, places: readonly string[]): string | undefined {
  const message = error instanceof Error ? error.message : ''
  const [, kind, said] = /^([A-Z][\w ]*?) Error: ([\s\S]*)$/.exec(message) ?? []
  if (kind === undefined || said === undefined || !ABOUT_STATEMENT.has(kind)) return undefined
  const short = said.split(/\n\s*(?:LINE \d+:|Did you mean|Candidate)|\n\n/, 1)[0]!.trim()
  if (places.some((place) => said.includes(place))) return undefined
  const safe = shownName(short).replaceAll(/"?parquetry [tc][0-9a-f]+"?/g, 'the table')
  return /[.!?]$/.test(safe) ? safe : `${safe}.`
}

/**
 * Turns DuckDB's errors about a statement into ours, with the place, and the nearest name or the one that needs quotes.
 * @param hiding whether values must not be told, because who reads a saved query may not see all that it reads
 * @param saved whether the statement is that of a saved query, whose text is hidden then, too
 */
export function explainer(
  text: string,
  statement: TreeNode,
  tables: readonly { readonly columns: readonly string[] }[],
  { hiding, saved }: { readonly hiding: boolean; readonly saved: boolean },
) {
  return (error: unknown, places: readonly string[]): EngineError | undefined => {
    const message = duckMessage(error, places)
    if (message === undefined) return undefined
    if (hiding && ABOUT_VALUES.test((error as Error).message)) {
      return sqlError('invalid_sql', 'A value can not be converted, or is out of range.', undefined, error)
    }
    if (hiding && saved) return new EngineError('saved_query', OUTDATED, { cause: error })
    const [, name] =
      /(?:column|Table|table|function|name) (?:named )?"([^"]+)"|with name "?([\w ]+)"? does not exist/.exec(
        message,
      ) ?? []
    const position = name === undefined ? undefined : placeIn(statement, name)
    const columns = tables.flatMap((table) => table.columns.map(shownName))
    const isColumn = name !== undefined && /column/i.test(message)
    const near = isColumn ? nearest(name, columns) : undefined
    const [whole] = position === undefined ? [] : unquotedAt(text, position, columns)
    const meant = near !== undefined && near !== name ? ` Did you mean "${near}"?` : ''
    const others = isColumn && near === undefined ? existing(columns) : ''
    const isPart = whole && whole.name.toLowerCase() !== name?.toLowerCase()
    const hint = isPart ? ` ${quotesFor(whole.name)}` : meant || others
    return sqlError('invalid_sql', `${message}${hint}`, position, error)
  }
}

const MOST_NAMES = 20

/** Which columns there are; the first of many. */
function existing(columns: readonly string[]): string {
  const names = [...new Set(columns)].map((name) => JSON.stringify(name))
  if (names.length === 0) return ''
  const more = names.length - MOST_NAMES
  return ` There are ${names.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}

const OUTDATED =
  'The saved query no longer fits the tables that it reads. An account that may read them sees why.'

const ABOUT_VALUES =
  /^(Conversion|Out of Range|Invalid Input|Invalid|Constraint|Mismatch Type|Expression Executor) /

function placeIn(tree: unknown, name: string): number | undefined {
  if (typeof tree !== 'object' || tree === null) return undefined
  const node = tree as TreeNode
  const { column_names: columns, function_name: called, relation_name: relation } = node
  const isHere =
    (Array.isArray(columns) && columns.map(String).map(shownName).includes(name)) ||
    called === name ||
    relation === name
  if (isHere) return locationInText(node)
  for (const inner of Object.values(node)) {
    const position = placeIn(inner, name)
    if (position !== undefined) return position
  }
  return undefined
}
