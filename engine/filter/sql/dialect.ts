import type { ValueType } from '../check/value-types.ts'
import type { DialectName, Sql } from './fragments.ts'

/**
 * What differs between databases, besides the operators and functions, whose tables have a column for each. A row of
 * those tables without that column can't be run there.
 */
export interface Dialect {
  /** The column of the tables of operators and functions. */
  readonly name: DialectName
  /** Not a number, as a double. */
  readonly nan: Sql
  /** A type of whole numbers wider than 64 bits. */
  readonly wide: string
  /** How the nth parameter is written, counted from 1. */
  parameter(number: number): Sql
  /** A literal's text as a cast to its type reads it. @throws Unsaid */
  literal(text: string, type: ValueType): string
  /** The name of the type that holds values of a type. */
  type(type: ValueType): string
  /** A value in another type, without loss where the type can hold it. */
  converted(part: Sql, from: ValueType, to: ValueType): Sql
  /** The text of a value in JSON, by a pointer as RFC 6901 has it; null where there is none. */
  jsonText(json: Sql, pointer: Sql): Sql
  isNaN(x: Sql): Sql
  /** Whether `x` is one of many values, which come as one text joined by a separator. */
  isAmong(x: Sql, joined: Sql, separator: Sql, type: ValueType): Sql
}

/** What a dialect can't say with the same meaning, so that another database has to be asked. */
export class Unsaid extends Error {
  override readonly name = 'Unsaid'
  /** In words that come after "it can't say": `divby of integer, integer`. */
  readonly what: string

  constructor(what: string) {
    super(`the dialect can't say ${what}`)
    this.what = what
  }
}
