import type { ValueType } from '../check/value-types.ts'
import type { DialectName, Sql } from './fragments.ts'

/**
 * The differences between databases, except those of operators and functions. The tables of operators and functions
 * have a property for each database; where a row lacks the property of a database, that database can't run it.
 */
export interface SqlDialect {
  /** The name of this database's property in the tables of operators and functions. */
  readonly name: DialectName
  /** A type of whole numbers wider than 64 bits. */
  readonly wide: string
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
