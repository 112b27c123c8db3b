import { hint } from '../errors.ts'
import { malformed, quoteValue } from './text/errors.ts'

/** The table to read of those of a database. @throws EngineError `invalid_upload` */
export function chosenTable(
  tables: readonly string[],
  requested: string | undefined,
  program: 'SQLite' | 'DuckDB',
): string {
  if (tables.length === 0) throw malformed(`The ${program} database has no table.`)
  const table = requested ?? (tables.length === 1 ? tables[0]! : '')
  if (tables.includes(table)) return table
  const names = tables.map(quoteValue).join(', ')
  throw malformed(
    requested === undefined
      ? `The ${program} database has several tables: name one of ${names} with ${hint('table=')}.`
      : `The ${program} database has no table ${quoteValue(requested)}; it has ${names}.`,
    { option: 'table', tables },
  )
}
