import { quoteLiteral, sqlType } from '../../types/index.ts'
import { columnType, type ValueType } from '../values.ts'

/** The databases that SQL is made for. */
export type DialectName = 'duckdb' | 'trino'

/**
 * A fragment of SQL. It knows how tightly its operator binds, so that parentheses are written only where DuckDB needs
 * them, and whether its evaluation can fail on a value in the data.
 */
export interface Sql {
  readonly text: string
  readonly level: Level
  /**
   * Whether it can fail at run time, by overflow, division by zero or a negative length. Code that joins conditions
   * must then guard it.
   */
  readonly fallible: boolean
}

/** DuckDB's operator precedence, loosest first. */
export const LEVEL = {
  or: 1,
  and: 2,
  not: 3,
  comparison: 4,
  concat: 5,
  additive: 6,
  multiplicative: 7,
  negative: 8,
  atom: 9,
} as const
export type Level = (typeof LEVEL)[keyof typeof LEVEL]

export function atom(text: string): Sql {
  return made(text, LEVEL.atom, [])
}

export const TRUE = atom('TRUE')
export const FALSE = atom('FALSE')
export const NAN = atom("CAST('NaN' AS DOUBLE)")
export const INFINITY = atom("CAST('Infinity' AS DOUBLE)")

/** A fragment made of others. It can fail where one of them can. */
function made(text: string, level: Level, parts: readonly Sql[]): Sql {
  return { text, level, fallible: parts.some((part) => part.fallible) }
}

/** Wrapped in parentheses unless it binds at least as tightly as `level`. */
function parenthesize(part: Sql, level: number): string {
  return part.level >= level ? part.text : `(${part.text})`
}

export function call(name: string, ...args: readonly Sql[]): Sql {
  return made(`${name}(${args.map((arg) => arg.text).join(', ')})`, LEVEL.atom, args)
}

export function cast(part: Sql, type: string): Sql {
  return made(`CAST(${part.text} AS ${type})`, LEVEL.atom, [part])
}

/** Null where the value can't be cast. */
export function tryCast(part: Sql, type: string): Sql {
  return made(`TRY_CAST(${part.text} AS ${type})`, LEVEL.atom, [part])
}

/** A left-associative binary operator. */
export function infix(left: Sql, operator: string, right: Sql, level: Level): Sql {
  // An operand of the same level needs no parentheses on the left, except in comparisons, which can't be chained.
  const first = parenthesize(left, level === LEVEL.comparison ? level + 1 : level)
  return made(`${first} ${operator} ${parenthesize(right, level + 1)}`, level, [left, right])
}

export function comparison(left: Sql, operator: string, right: Sql): Sql {
  return infix(left, operator, right, LEVEL.comparison)
}

/** `x IS NULL` and similar conditions. */
export function postfix(part: Sql, suffix: string): Sql {
  return made(`${parenthesize(part, LEVEL.concat)} ${suffix}`, LEVEL.comparison, [part])
}

export function negative(part: Sql): Sql {
  return made(`-${parenthesize(part, LEVEL.atom)}`, LEVEL.negative, [part])
}

export function not(part: Sql): Sql {
  return made(`NOT ${parenthesize(part, LEVEL.concat)}`, LEVEL.not, [part])
}

/** `a AND b AND c`; one part stands for itself. */
export function all(parts: readonly Sql[]): Sql {
  return chain(parts, 'AND', LEVEL.and)
}

/** `a OR b OR c`; one part stands for itself. */
export function any(parts: readonly Sql[]): Sql {
  return chain(parts, 'OR', LEVEL.or)
}

function chain(parts: readonly Sql[], operator: string, level: Level): Sql {
  if (parts.length === 1) return parts[0]!
  return made(parts.map((part) => parenthesize(part, level)).join(` ${operator} `), level, parts)
}

export function caseWhen(branches: readonly (readonly [when: Sql, then: Sql])[], otherwise?: Sql): Sql {
  const whens = branches.map(([when, then]) => `WHEN ${when.text} THEN ${then.text}`)
  const last = otherwise ? ` ELSE ${otherwise.text}` : ''
  return made(`CASE ${whens.join(' ')}${last} END`, LEVEL.atom, [
    ...branches.flat(),
    ...(otherwise ? [otherwise] : []),
  ])
}

export function fallible(part: Sql): Sql {
  return { ...part, fallible: true }
}

/** A condition that gives true or false only: null becomes false. */
export function orFalse(part: Sql): Sql {
  return call('coalesce', part, FALSE)
}

/** A condition that gives true or false only: null becomes true. */
export function orTrue(part: Sql): Sql {
  return call('coalesce', part, TRUE)
}

/** For each database, the function that raises an error. */
const RAISES = { duckdb: 'error', trino: 'fail' } as const satisfies Record<DialectName, string>

/** SQL that raises an error instead of giving a value. The message must never hold text of a user. */
export function raise(message: string, dialect: DialectName = 'duckdb'): Sql {
  return fallible(atom(`${RAISES[dialect]}('${message.replaceAll("'", "''")}')`))
}

/**
 * The differences between databases, except those of operators and functions. The tables of operators and functions
 * have a property for each database; where a row lacks the property of a database, that database can't run it.
 */
export interface SqlDialect {
  /** The name of this database's property in the tables of operators and functions. */
  readonly name: DialectName
  /** SQL of the parameter with this number, counted from 1, and this value. */
  parameter(number: number, value: string): string
  /** The text of a literal in the form that a cast to its type reads. @throws NotTranslatable */
  literal(text: string, type: ValueType): string
  /** The name of the type that holds values of a type. */
  type(type: ValueType): string
  /** A value in another type, without loss where the type can hold it. */
  converted(part: Sql, from: ValueType, to: ValueType): Sql
  /** The text of the value that a pointer (RFC 6901) leads to in JSON; null where there is no value. */
  jsonText(json: Sql, pointer: Sql): Sql
  /** A text in small letters without accents. */
  plain(text: string): string
  contains(text: string, part: string): string
  /** Whether `x` is one of many values, which come as one text joined by a separator. */
  isAmong(x: Sql, joined: Sql, separator: Sql, type: ValueType): Sql
}

/** Thrown where a dialect has no SQL with the same meaning, so that the query must run in another database. */
export class NotTranslatable extends Error {
  override readonly name = 'NotTranslatable'
  /** What can't be translated: `divby of integer, integer`. */
  readonly what: string

  constructor(what: string) {
    super(`the dialect has nothing with the meaning of ${what}`)
    this.what = what
  }
}

export const duckdb: SqlDialect = {
  name: 'duckdb',
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

/** SQL that has texts in it, too, for a statement that is kept as a text. */
export const duckdbWithValues: SqlDialect = {
  ...duckdb,
  parameter: (_, value) => quoteLiteral(value),
}

export function duckType(type: ValueType): string {
  // A duration is held as its microseconds.
  return type.kind === 'duration' ? 'BIGINT' : sqlType(columnType(type))
}

/** A value in another type, without loss where the type can hold it. */
export function converted(part: Sql, from: ValueType, to: ValueType): Sql {
  if (from.kind !== 'json') return convertedScalar(part, from, to, duckType)
  if (to.kind === 'string') return part
  if (to.kind === 'timestamp' || to.kind === 'timestamptz') {
    // DuckDB would drop the offset if it made a timestamp of the text itself.
    return tryCast(tryCast(withSeconds(part), 'TIMESTAMPTZ'), duckType(to))
  }
  if (to.kind !== 'boolean') return tryCast(part, duckType(to))
  // A cast in DuckDB would also read 1 as true.
  return caseWhen([
    [comparison(part, '=', atom("'true'")), TRUE],
    [comparison(part, '=', atom("'false'")), FALSE],
  ])
}

/** The text of a moment with its seconds, without which DuckDB's cast refuses an offset. */
export function withSeconds(text: Sql): Sql {
  return call('regexp_replace', text, atom("'([T ]..:..)([Z+-])'"), atom("'\\1:00\\2'"))
}

export function convertedScalar(part: Sql, from: ValueType, to: ValueType, typeOf: SqlDialect['type']): Sql {
  // DuckDB and Trino divide the digits by a power of ten, which is exact only for up to 15 digits. Beyond these the
  // value goes by way of text, which both read exactly.
  const inexact = from.kind === 'decimal' && to.kind === 'double' && from.precision > 15
  const sql = cast(inexact ? cast(part, 'VARCHAR') : part, typeOf(to))
  // Dates reach more years than timestamps, so the cast can overflow.
  return from.kind === 'date' && to.kind !== 'date' ? fallible(sql) : sql
}
