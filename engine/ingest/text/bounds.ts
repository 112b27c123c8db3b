import type { EngineError } from '../../errors.ts'
import { type ColumnType, decimalParts, quoteLiteral, sqlType } from '../../types/index.ts'
import { DAY_MICROS } from './value-text.ts'

/** Thrown for a value that can't be read. The caller, who knows the row and the column, makes the error of it. */
export class BadValue extends Error {
  /** Makes the error; undefined if the value is out of its type's range. */
  readonly why: ((row: number, column: string) => EngineError) | undefined

  constructor(why?: (row: number, column: string) => EngineError) {
    super()
    this.why = why
  }
}

const DAY = BigInt(DAY_MICROS)

export function floorDivide(value: bigint, by: bigint): bigint {
  return value / by - (value < 0n && value % by !== 0n ? 1n : 0n)
}

/** From 0001-01-01 to 9999-12-31, in days since 1970. */
const [FIRST_DAY, LAST_DAY] = [-719_162, 2_932_896]

/** A day since 1970. @throws BadValue if it is not of our years */
export function ofOurYears(days: number): number {
  if (days >= FIRST_DAY && days <= LAST_DAY) return days
  throw new BadValue()
}

/** Microseconds since 1970. @throws BadValue if they are not of our years */
export function momentOfOurYears(micros: bigint): bigint {
  ofOurYears(Number(floorDivide(micros, DAY)))
  return micros
}

/** Microseconds since midnight. @throws BadValue */
export function ofDay(micros: bigint): number {
  if (micros >= 0n && micros < DAY) return Number(micros)
  throw new BadValue()
}

/** The value of a decimal without its point. @throws BadValue if it has more digits than that */
export function ofDigits(units: bigint, precision: number): bigint {
  const largest = 10n ** BigInt(precision)
  if (units < largest && units > -largest) return units
  throw new BadValue()
}

/**
 * An SQL condition that is true if an expression that is not null is within the range of its type; undefined for types
 * whose values DuckDB never reads out of range. DuckDB does not check the values in a Parquet file: a time of day or a
 * decimal may be any number, and a date may be outside the years 1 to 9999, or be DuckDB's own `infinity`.
 */
export function inRange(type: ColumnType, sql: string): string | undefined {
  const parts = decimalParts(type)
  if (!parts) return RANGES[type]?.(sql)
  const { precision, scale } = parts
  const digits = '9'.repeat(precision)
  const most = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`
  const bound = (text: string) => `CAST(${quoteLiteral(text)} AS ${sqlType(type)})`
  return `${sql} BETWEEN ${bound(`-${most}`)} AND ${bound(most)}`
}

/** The same for types by their names. */
export const RANGES: Readonly<Record<string, (x: string) => string>> = {
  // Compared as a number, because DuckDB reads memory out of bounds when it turns a time out of range into text.
  time: (x) => `epoch_us(${x}) BETWEEN 0 AND ${86_400_000_000 - 1}`,
  date: (x) => `${x} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'`,
  timestamp: (x) => `${x} BETWEEN TIMESTAMP '0001-01-01' AND TIMESTAMP '9999-12-31 23:59:59.999999'`,
  timestamptz: (x) =>
    `${x} BETWEEN TIMESTAMPTZ '0001-01-01 00:00:00+00' AND TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'`,
}
