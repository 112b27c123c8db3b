import type { EngineError } from '../errors.ts'
import { nearest } from '../util/known-options.ts'
import type { Checked } from './check.ts'
import { duckMessage, shownName, sqlError } from './errors.ts'
import { placeOf, type TreeNode } from './nodes.ts'
import type { Scanned } from './sql-reading.ts'

/**
 * Turns DuckDB's errors about a statement into ours, with the place and the nearest name.
 * @param hiding whether values must not be told, because who reads a saved query may not see all that it reads
 */
export function explainer({ statement }: Checked, tables: readonly Scanned[], hiding: boolean) {
  return (error: unknown, folder: string | undefined): EngineError | undefined => {
    const message = duckMessage(error, folder)
    if (message === undefined) return undefined
    if (hiding && ABOUT_VALUES.test((error as Error).message)) {
      return sqlError('invalid_sql', 'A value can not be converted, or is out of range.', undefined, error)
    }
    const [, name] =
      /(?:column|Table|table|function|name) (?:named )?"([^"]+)"|with name "?([\w ]+)"? does not exist/.exec(
        message,
      ) ?? []
    const place = name === undefined ? undefined : placeIn(statement, name)
    const columns = tables.flatMap((table) => table.columns.map(shownName))
    const near = name !== undefined && /column/i.test(message) ? nearest(name, columns) : undefined
    const hint = near !== undefined && near !== name ? ` Did you mean "${near}"?` : ''
    return sqlError('invalid_sql', `${message}${hint}`, place, error)
  }
}

const ABOUT_VALUES =
  /^(Conversion|Out of Range|Invalid Input|Invalid|Constraint|Mismatch Type|Expression Executor) /

/** Where a name first is in a tree. */
function placeIn(tree: unknown, name: string): number | undefined {
  if (typeof tree !== 'object' || tree === null) return undefined
  const node = tree as TreeNode
  const { column_names: columns, function_name: called, relation_name: relation } = node
  const isHere =
    (Array.isArray(columns) && columns.map(String).map(shownName).includes(name)) ||
    called === name ||
    relation === name
  if (isHere) return placeOf(node)
  for (const inner of Object.values(node)) {
    const place = placeIn(inner, name)
    if (place !== undefined) return place
  }
  return undefined
}
