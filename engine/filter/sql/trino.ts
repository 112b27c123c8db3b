import { typeName, type ValueType } from '../check/value-types.ts'
import type { Dialect } from './dialect.ts'
import { Unsaid } from './dialect.ts'
import { atom, call, cast, fallible, type Sql } from './fragments.ts'

function trinoType(type: ValueType): string {
  switch (type.kind) {
    case 'null':
    case 'boolean':
      return 'BOOLEAN'
    case 'integer':
    case 'duration':
      return 'BIGINT'
    case 'decimal':
      return `DECIMAL(${type.precision},${type.scale})`
    case 'double':
      return 'DOUBLE'
    case 'string':
    case 'json':
      return 'VARCHAR'
    case 'date':
      return 'DATE'
    // Without a number of digits these hold milliseconds.
    case 'time':
      return 'TIME(6)'
    case 'timestamp':
      return 'TIMESTAMP(6)'
    case 'timestamptz':
      return 'TIMESTAMP(6) WITH TIME ZONE'
    case 'uuid':
      return 'UUID'
    case 'binary':
      return 'VARBINARY'
    default:
      return type satisfies never
  }
}

function converted(part: Sql, from: ValueType, to: ValueType): Sql {
  if (from.kind === 'json') throw new Unsaid(`${typeName(to)} in JSON`)
  // As in DuckDB, the digits are divided by a power of ten, which is exact only for so many of them.
  const inexact = from.kind === 'decimal' && to.kind === 'double' && (from.precision > 15 || from.scale > 22)
  const sql = cast(inexact ? cast(part, 'VARCHAR') : part, trinoType(to))
  return from.kind === 'date' && to.kind !== 'date' ? fallible(sql) : sql
}

/** What Trino's casts read is a year of four digits. */
const FAR_YEAR = /^\d{5,}-|\(BC\)/

/**
 * SQL of Trino (476), which expects the session's time zone to be UTC and `regex-library=RE2J`. What can't be said with
 * the meaning that it has in DuckDB throws `Unsaid`: functions and operators by their tables, which then have no column
 * `trino`, values in JSON, moments before year 1 and after 9999.
 */
export const trino: Dialect = {
  name: 'trino',
  nan: atom("CAST('NaN' AS DOUBLE)"),
  wide: 'DECIMAL(38,0)',
  parameter: (number) => atom(`$${number}`),
  type: trinoType,
  literal(text, type) {
    const moment = type.kind === 'date' || type.kind === 'timestamp' || type.kind === 'timestamptz'
    if (moment && FAR_YEAR.test(text)) throw new Unsaid('a year before 1 or after 9999')
    return text
  },
  converted,
  jsonText() {
    throw new Unsaid('a value in JSON')
  },
  isNaN: (x) => call('is_nan', x),
  isAmong: (x, joined, separator, type) => {
    const split = call('split', joined, separator)
    const list = type.kind === 'string' ? split : cast(split, `ARRAY(${trinoType(type)})`)
    return call('contains', list, x)
  },
}

/**
 * Trino's parameters have no numbers: each `?` takes the next value. What stands in quotes is text of ours, in which
 * nothing is replaced.
 * @param sql with parameters as `$1`, each as often as wanted
 */
export function positional(
  sql: string,
  parameters: readonly string[],
): { readonly sql: string; readonly parameters: readonly string[] } {
  const inOrder: string[] = []
  const text = sql.replaceAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\d+)/g, (found, number?: string) => {
    if (number === undefined) return found
    inOrder.push(parameters[Number(number) - 1]!)
    return '?'
  })
  return { sql: text, parameters: inOrder }
}
