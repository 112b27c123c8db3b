import type { ValueType } from '../check/value-types.ts'
import type { Dialect } from './dialect.ts'
import {
  atom,
  call,
  caseWhen,
  cast,
  comparison,
  FALSE,
  fallible,
  type Sql,
  TRUE,
  tryCast,
} from './fragments.ts'

export function duckType(type: ValueType): string {
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
    case 'time':
      return 'TIME'
    case 'timestamp':
      return 'TIMESTAMP'
    case 'timestamptz':
      return 'TIMESTAMPTZ'
    case 'uuid':
      return 'UUID'
    case 'binary':
      return 'BLOB'
    default:
      return type satisfies never
  }
}

/** A value in another type, without loss where the type can hold it. */
export function converted(part: Sql, from: ValueType, to: ValueType): Sql {
  if (from.kind === 'json') return ofJson(part, to)
  // DuckDB divides the digits by a power of ten, which is exact only for up to 15 digits and a scale of 22. Beyond
  // these the value goes by way of text, which DuckDB reads exactly.
  const inexact = from.kind === 'decimal' && to.kind === 'double' && (from.precision > 15 || from.scale > 22)
  const sql = cast(inexact ? cast(part, 'VARCHAR') : part, duckType(to))
  // Dates reach more years than timestamps, so the cast can overflow.
  return from.kind === 'date' && to.kind !== 'date' ? fallible(sql) : sql
}

/** Booleans are compared with 'true' and 'false', because a cast in DuckDB would also read 1 as true. */
function ofJson(text: Sql, to: ValueType): Sql {
  if (to.kind === 'string') return text
  if (to.kind !== 'boolean') return tryCast(text, duckType(to))
  return caseWhen([
    [comparison(text, '=', atom("'true'")), TRUE],
    [comparison(text, '=', atom("'false'")), FALSE],
  ])
}

export const duckdb: Dialect = {
  name: 'duckdb',
  nan: atom("CAST('NaN' AS DOUBLE)"),
  wide: 'HUGEINT',
  parameter: (number) => atom(`$${number}`),
  type: duckType,
  literal: (text) => text,
  converted,
  jsonText: (json, pointer) => call('json_extract_string', json, pointer),
  isNaN: (x) => call('isnan', x),
  plain: (text) => `strip_accents(lower(${text}))`,
  contains: (text, part) => `contains(${text}, ${part})`,
  isAmong: (x, joined, separator, type) => {
    const split = call('string_split', joined, separator)
    return call('list_contains', type.kind === 'string' ? split : cast(split, `${duckType(type)}[]`), x)
  },
}
