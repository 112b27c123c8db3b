import type { EngineError } from '../../errors.ts'
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
