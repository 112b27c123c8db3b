import { type ColumnType, quoteLiteral, sqlType } from '../types/index.ts'
import { type DuckType, parseDuckType } from './duck-type.ts'
import {
  decimalText,
  finiteText,
  specialText,
  plainText as text,
  timestampText,
  timestamptzText,
  valueText,
} from './value-text.ts'

/** A column type and the SQL expression whose DuckDB type is exactly `sqlType(type)`. */
export interface NormalisedColumn {
  readonly type: ColumnType
  readonly sql: string
}

/**
 * Maps any DuckDB type onto the closed set of column types.
 *
 * - Whole numbers up to 64 bits signed are `integer`; UBIGINT is `decimal(20,0)`. HUGEINT, the type of sums of integers,
 *   is `decimal(38,0)`: a value with 39 digits makes the query fail. UHUGEINT and BIGNUM become a `string` of their exact
 *   digits.
 * - TIMESTAMP_NS, TIMESTAMPTZ_NS and TIME_NS become microseconds. A value with digits below the microsecond makes the query fail with
 *   `NOT_MICROSECONDS` in its message: nothing is silently rounded.
 * - INTERVAL becomes an ISO 8601 duration, `P14M3DT0.5S`: months, days and seconds stay apart, as DuckDB keeps them.
 * - Lists, arrays, structs, maps, unions and variants become `json`. Values inside them are written as they are outside
 *   (`NaN` and infinities as strings, binary as base64, times with `T`), whole numbers and decimals with all digits.
 *
 * @param duckType the type as `DESCRIBE` prints it
 * @param sql an expression of that type
 */
export function normaliseColumn(duckType: string, sql: string): NormalisedColumn {
  return normalise(parseDuckType(duckType), sql, 0)
}

/**
 * The same for a column of a Parquet file. Its times with a zone are all in UTC, and become times of day: pyarrow before
 * version 22 marked all times so.
 */
export function normaliseParquetColumn(duckType: string, sql: string): NormalisedColumn {
  return normalise(parseDuckType(duckType, { 'TIME WITH TIME ZONE': 'TIME IN UTC' }), sql, 0)
}

/** Follows the name of a type of timestamps that are read as numbers of nanoseconds, to be cut to microseconds. */
export const AS_NANOSECONDS = ' AS NANOSECONDS'

/** The microsecond that nanoseconds since 1970 belong to: DuckDB's own division goes towards 1970. */
function microsOf(nanos: string): string {
  return `${nanos} // 1000 - CASE WHEN ${nanos} % 1000 < 0 THEN 1 ELSE 0 END`
}

/** The beginning of DuckDB's error message when a query meets a time that is finer than a microsecond. */
export const NOT_MICROSECONDS = 'Time finer than a microsecond'

function normalise(type: DuckType, sql: string, depth: number): NormalisedColumn {
  switch (type.kind) {
    case 'scalar':
      return normaliseScalar(type.name, sql)
    case 'decimal':
      return { type: `decimal(${type.precision},${type.scale})`, sql }
    case 'enum':
      return { type: 'string', sql: text(sql) }
    case 'list':
    case 'struct':
    case 'map':
    case 'union':
      return { type: 'json', sql: nestedJson(type, sql, depth) }
    default:
      return type satisfies never
  }
}

/** The types whose values are those of a column type as they are. */
const SAME: Readonly<Record<string, ColumnType>> = {
  BOOLEAN: 'boolean',
  BIGINT: 'integer',
  DOUBLE: 'double',
  VARCHAR: 'string',
  DATE: 'date',
  TIME: 'time',
  TIMESTAMP: 'timestamp',
  'TIMESTAMP WITH TIME ZONE': 'timestamptz',
  TIMESTAMPTZ: 'timestamptz',
  UUID: 'uuid',
  BLOB: 'binary',
}

/** The types whose values are those of a column type after a cast. */
const CAST: Readonly<Record<string, ColumnType>> = {
  TINYINT: 'integer',
  SMALLINT: 'integer',
  INTEGER: 'integer',
  UTINYINT: 'integer',
  USMALLINT: 'integer',
  UINTEGER: 'integer',
  UBIGINT: 'decimal(20,0)',
  HUGEINT: 'decimal(38,0)',
  FLOAT: 'double',
  'TIME IN UTC': 'time',
  TIMESTAMP_S: 'timestamp',
  TIMESTAMP_MS: 'timestamp',
}

function normaliseScalar(name: string, sql: string): NormalisedColumn {
  const same = SAME[name]
  if (same) return { type: same, sql }
  const cast = CAST[name]
  if (cast) return { type: cast, sql: `CAST(${sql} AS ${sqlType(cast)})` }
  switch (name) {
    case 'TIME_NS':
      return { type: 'time', sql: wholeMicroseconds(sql, 'TIME') }
    case 'TIMESTAMP_NS':
      return { type: 'timestamp', sql: wholeMicroseconds(sql, 'TIMESTAMP') }
    case 'TIMESTAMPTZ_NS':
      // DuckDB 2.0, for what 1.5 reads as TIMESTAMPTZ. Its functions don't take it.
      return { type: 'timestamptz', sql: wholeMicroseconds(`CAST(${sql} AS TIMESTAMP_NS)`, 'TIMESTAMPTZ') }
    case `TIMESTAMP_NS${AS_NANOSECONDS}`:
      return { type: 'timestamp', sql: `make_timestamp(${microsOf(sql)})` }
    case `TIMESTAMP WITH TIME ZONE${AS_NANOSECONDS}`:
    case `TIMESTAMPTZ_NS${AS_NANOSECONDS}`:
      return { type: 'timestamptz', sql: `make_timestamptz(${microsOf(sql)})` }
    case 'JSON':
      return { type: 'json', sql: text(sql) }
    case 'VARIANT':
      return { type: 'json', sql: variantJson(sql) }
    case 'INTERVAL':
      return { type: 'string', sql: duration(sql) }
    default:
      // UHUGEINT, BIGNUM, BIT, TIME WITH TIME ZONE, GEOMETRY, "NULL": DuckDB's text of them loses nothing.
      return { type: 'string', sql: text(sql) }
  }
}

function wholeMicroseconds(sql: string, target: 'TIME' | 'TIMESTAMP' | 'TIMESTAMPTZ'): string {
  const infinite = target !== 'TIME' ? `NOT isfinite(${sql}) OR ` : ''
  const message = quoteLiteral(`${NOT_MICROSECONDS}: `)
  return (
    `CASE WHEN ${infinite}epoch_ns(${sql}) % 1000 = 0 THEN CAST(${sql} AS ${target}) ` +
    `WHEN ${sql} IS NOT NULL THEN error(${message} || CAST(${sql} AS VARCHAR)) END`
  )
}

/**
 * An ISO 8601 duration of months, days and seconds, the three parts of DuckDB's intervals; years are given as months,
 * and hours and minutes as seconds.
 */
function duration(sql: string): string {
  const months = `(datepart('year', ${sql}) * 12 + datepart('month', ${sql}))`
  const days = `datepart('day', ${sql})`
  // `datepart` gives the microseconds within the minute. The sum fits into 64 bits, as in DuckDB's own field.
  const micros =
    `(datepart('hour', ${sql}) * 3600000000 + datepart('minute', ${sql}) * 60000000 + ` +
    `datepart('microseconds', ${sql}))`
  const part = (value: string, unit: string): string =>
    `CASE WHEN ${value} <> 0 THEN ${text(value)} || '${unit}' ELSE '' END`
  const seconds =
    `CASE WHEN ${micros} <> 0 THEN ${secondsText(micros)} ` +
    `WHEN ${months} = 0 AND ${days} = 0 THEN 'T0S' ELSE '' END`
  return `CASE WHEN ${sql} IS NOT NULL THEN 'P' || ${part(months, 'M')} || ${part(days, 'D')} || ${seconds} END`
}

/** The part of a duration for its microseconds: `T-0.5S`. DuckDB's `/` would make a double of them. */
function secondsText(micros: string): string {
  const size = `abs(CAST(${micros} AS HUGEINT))`
  const fraction = `rtrim(lpad(${text(`${size} % 1000000`)}, 6, '0'), '0')`
  return (
    `'T' || CASE WHEN ${micros} < 0 THEN '-' ELSE '' END || ${text(`${size} // 1000000`)} || ` +
    `CASE WHEN ${micros} % 1000000 = 0 THEN '' ELSE '.' || ${fraction} END || 'S'`
  )
}

/** Numbers of a unit of Arrow as durations; those of nanoseconds are cut to the microsecond that they belong to. */
export function durationOf(
  unit: 'SECOND' | 'MILLISECOND' | 'MICROSECOND' | 'NANOSECOND',
  sql: string,
): string {
  const factor = { SECOND: 1_000_000, MILLISECOND: 1000, MICROSECOND: 1, NANOSECOND: 0 }[unit]
  const micros = factor === 0 ? microsOf(sql) : `CAST(${sql} AS HUGEINT) * ${factor}`
  return `'P' || ${secondsText(`(${micros})`)}`
}

/**
 * The JSON text of a value; null where the value is null. It is joined from the texts of the values within, because
 * DuckDB's functions would parse these again, and round numbers to doubles.
 */
function nestedJson(type: DuckType, sql: string, depth: number): string {
  const item = `item${depth}`
  const orNull = (json: string): string => `coalesce(${json}, 'null')`
  const listed = (items: string, json: string): string =>
    `array_to_string(list_transform(${items}, lambda ${item}: ${json}), ',')`
  switch (type.kind) {
    case 'list':
      return `'[' || ${listed(sql, orNull(nestedJson(type.of, item, depth + 1)))} || ']'`
    case 'struct': {
      const pairs = type.fields.map(({ name, type: inner }) => {
        const value = nestedJson(inner, `struct_extract(${sql}, ${quoteLiteral(name)})`, depth)
        return `${quoteLiteral(`${JSON.stringify(name)}:`)} || ${orNull(value)}`
      })
      return `CASE WHEN ${sql} IS NOT NULL THEN '{' || ${pairs.join(` || ',' || `)} || '}' END`
    }
    case 'map': {
      const key = keyText(type.key, `${item}.key`, depth + 1)
      const value = orNull(nestedJson(type.value, `${item}.value`, depth + 1))
      const pair = `CAST(to_json(${key}) AS VARCHAR) || ':' || ${value}`
      return `'{' || ${listed(`map_entries(${sql})`, pair)} || '}'`
    }
    case 'union': {
      const cases = type.members.map(({ name, type: inner }) => {
        const member = nestedJson(inner, `union_extract(${sql}, ${quoteLiteral(name)})`, depth)
        const key = quoteLiteral(`{${JSON.stringify(name)}:`)
        return `WHEN ${quoteLiteral(name)} THEN ${key} || ${orNull(member)} || '}'`
      })
      return `CASE CAST(union_tag(${sql}) AS VARCHAR) ${cases.join(' ')} END`
    }
    case 'scalar':
      if (type.name === 'VARIANT') return variantJson(sql)
      return type.name === 'JSON' ? text(sql) : text(scalarJson(type.name, sql))
    case 'decimal':
      return decimalText(type, sql)
    case 'enum':
      return text(`to_json(${sql})`)
    default:
      return type satisfies never
  }
}

/** Lists and objects within a VARIANT are written to this depth, because an SQL expression has no recursion. */
const VARIANT_LEVELS = 16

/** The error of a VARIANT with more of them. */
export const VARIANT_TOO_DEEP = `VARIANT with more than ${VARIANT_LEVELS} levels of lists and objects`

/** What DuckDB casts to JSON in other forms than ours: how `variant_typeof` begins, and the type to read it as. */
const VARIANT_TYPES = [
  ['FLOAT', 'FLOAT'],
  ['DOUBLE', 'DOUBLE'],
  ['BLOB', 'BLOB'],
  ['INTERVAL', 'INTERVAL'],
  ['TIMESTAMP_MICROS_TZ', 'TIMESTAMPTZ'],
  ['TIMESTAMP_NANOS_TZ', 'TIMESTAMPTZ'],
  ['TIMESTAMP_NANOS', 'TIMESTAMP_NS'],
  ['TIMESTAMP_', 'TIMESTAMP'],
] as const

/**
 * The same for a VARIANT, in which each value has a type of its own. It begins as a list of the value alone; each level
 * replaces the lists and objects in it by their values and the texts between these, so that the length of the SQL grows
 * with the number of levels, and not with its power.
 */
function variantJson(sql: string): string {
  const part = (json: string, value = 'NULL') => `{'text': ${json}, 'value': CAST(${value} AS VARIANT)}`
  const is = (name: string) => `starts_with(variant_typeof(part.value), '${name}')`
  const within = (value: string, key = "''") => {
    const json = `CASE WHEN index > 1 THEN ',' ELSE '' END || ${key} || CASE WHEN ${value} IS NULL THEN 'null' ELSE '' END`
    return `lambda item, index: [${part(json)}, ${part("''", value)}]`
  }
  const items = `list_transform(CAST(part.value AS VARIANT[]), ${within('item')})`
  const fields =
    `list_transform(map_entries(CAST(part.value AS MAP(VARCHAR, VARIANT))), ` +
    `${within('item.value', `${text('to_json(item.key)')} || ':'`)})`
  const replaced =
    `CASE WHEN ${is('ARRAY(')} THEN [${part("'['")}] || flatten(${items}) || [${part("']'")}] ` +
    `WHEN ${is('OBJECT(')} THEN [${part("'{'")}] || flatten(${fields}) || [${part("'}'")}] ELSE [part] END`
  let parts = `[${part("''", sql)}]`
  for (let level = 0; level < VARIANT_LEVELS; level++)
    parts = `flatten(list_transform(${parts}, lambda part: ${replaced}))`
  const cases = VARIANT_TYPES.map(
    ([name, type]) => `WHEN ${is(name)} THEN ${text(scalarJson(type, `CAST(part.value AS ${type})`))}`,
  )
  const written =
    `CASE WHEN part.value IS NULL THEN part.text WHEN ${is('ARRAY(')} OR ${is('OBJECT(')} ` +
    `THEN error(${quoteLiteral(VARIANT_TOO_DEEP)}) ${cases.join(' ')} ELSE ${text('CAST(part.value AS JSON)')} END`
  return `CASE WHEN ${sql} IS NOT NULL THEN array_to_string(list_transform(${parts}, lambda part: ${written}), '') END`
}

/** The key of a map as text: names of objects in JSON are text, whatever the type of the keys is. */
function keyText(type: DuckType, sql: string, depth: number): string {
  if (type.kind === 'enum') return text(sql)
  if (type.kind !== 'scalar') return nestedJson(type, sql, depth)
  return type.name === 'FLOAT' || type.name === 'DOUBLE'
    ? valueText('double', sql)
    : (ownText(type.name, sql) ?? text(sql))
}

function scalarJson(name: string, sql: string): string {
  switch (name) {
    case 'FLOAT':
    case 'DOUBLE': {
      const special = `to_json(${specialText(sql)})`
      return `CASE WHEN isfinite(${sql}) THEN ${finiteText(sql)} WHEN ${sql} IS NOT NULL THEN ${special} END`
    }
    default:
      return `to_json(${ownText(name, sql) ?? sql})`
  }
}

/** The texts within JSON and in the keys of maps that are other ones than DuckDB's. */
function ownText(name: string, sql: string): string | undefined {
  switch (name) {
    case 'BLOB':
      return `base64(${sql})`
    case 'INTERVAL':
      return duration(sql)
    case 'TIMESTAMP WITH TIME ZONE':
    case 'TIMESTAMPTZ':
      return timestamptzText(sql)
    case 'TIMESTAMPTZ_NS':
      return timestamptzText(`CAST(${sql} AS TIMESTAMPTZ)`)
    case 'TIMESTAMP':
    case 'TIMESTAMP_S':
    case 'TIMESTAMP_MS':
    case 'TIMESTAMP_NS':
      // Written as text, nanoseconds needn't be cut off.
      return timestampText(sql)
    case `TIMESTAMP_NS${AS_NANOSECONDS}`:
      return timestampText(`make_timestamp(${microsOf(sql)})`)
    case `TIMESTAMP WITH TIME ZONE${AS_NANOSECONDS}`:
    case `TIMESTAMPTZ_NS${AS_NANOSECONDS}`:
      return timestamptzText(`make_timestamptz(${microsOf(sql)})`)
    case 'TIME IN UTC':
      return text(`CAST(${sql} AS TIME)`)
    default:
      return undefined
  }
}
