import { hint } from '../errors.ts'
import { malformed, quoteValue } from './text/errors.ts'

/**
 * The table to read of those of a database or a page.
 * @param usual those of which it is one where none is named
 * @throws EngineError `invalid_upload`
 */
export function chosenTable(
  tables: readonly string[],
  requested: string | undefined,
  file: 'SQLite database' | 'DuckDB database' | 'page',
  usual = tables,
): string {
  if (tables.length === 0) throw malformed(`The ${file} has no table.`)
  const table = requested ?? (usual.length === 1 ? usual[0]! : '')
  if (tables.includes(table)) return table
  const names = tables.map(quoteValue).join(', ')
  throw malformed(
    requested === undefined
      ? `The ${file} has several tables: name one of ${names} with ${hint('table=')}.`
      : `The ${file} has no table ${quoteValue(requested)}; it has ${names}.`,
    { option: 'table', tables },
  )
}
