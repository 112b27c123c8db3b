import { quoteLiteral, sqlType } from '../../types/index.ts'
import { columnType, type ValueType } from '../check/value-types.ts'
import type { SqlDialect } from './dialect.ts'
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
  // A duration is held as its microseconds.
  return type.kind === 'duration' ? 'BIGINT' : sqlType(columnType(type))
}

/** A value in another type, without loss where the type can hold it. */
export function converted(part: Sql, from: ValueType, to: ValueType): Sql {
  return from.kind === 'json' ? ofJson(part, to) : convertedScalar(part, from, to, duckType)
}

export function convertedScalar(part: Sql, from: ValueType, to: ValueType, typeOf: SqlDialect['type']): Sql {
  // DuckDB and Trino divide the digits by a power of ten, which is exact only for up to 15 digits and a scale of 22.
  // Beyond these the value goes by way of text, which both read exactly.
  const inexact = from.kind === 'decimal' && to.kind === 'double' && (from.precision > 15 || from.scale > 22)
  const sql = cast(inexact ? cast(part, 'VARCHAR') : part, typeOf(to))
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

export const duckdb: SqlDialect = {
  name: 'duckdb',
  wide: 'HUGEINT',
  parameter: (number) => `$${number}`,
  type: duckType,
  literal: (text) => text,
  converted,
  jsonText: (json, pointer) => call('json_extract_string', json, pointer),
  plain: (text) => `strip_accents(lower(${text}))`,
  contains: (text, part) => `contains(${text}, ${part})`,
  isAmong: (x, joined, separator, type) => {
    const split = call('string_split', joined, separator)
    return call('list_contains', type.kind === 'string' ? split : cast(split, `${duckType(type)}[]`), x)
  },
}

/** SQL that holds the values themselves, for a statement that is kept as a text. */
export const duckdbWithValues: SqlDialect = {
  ...duckdb,
  parameter: (_, value) => quoteLiteral(value),
}
