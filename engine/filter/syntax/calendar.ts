/** The proleptic Gregorian calendar over any number of years, year 0 being 1 BC, as ISO 8601 counts. */

const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334] as const
const DAYS_FROM_YEAR_0_TO_1970 = 719_528
const DAYS_IN_400_YEARS = 146_097

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Days from 1970-01-01. */
export function daysOf(year: number, month: number, day: number): number {
  // Leap days of the years before this one: year 0 is itself a leap year.
  const last = year - 1
  const leaps = Math.floor(last / 4) - Math.floor(last / 100) + Math.floor(last / 400) + 1
  const inYear = DAYS_BEFORE_MONTH[month - 1]! + (month > 2 && isLeap(year) ? 1 : 0) + day - 1
  return year * 365 + leaps + inYear - DAYS_FROM_YEAR_0_TO_1970
}

export function dateOf(days: number): { year: number; month: number; day: number } {
  const fromYear0 = days + DAYS_FROM_YEAR_0_TO_1970
  const cycles = Math.floor(fromYear0 / DAYS_IN_400_YEARS)
  const inCycle = fromYear0 - cycles * DAYS_IN_400_YEARS
  // An estimate that is at most one year too late, because no year is longer than 366 days.
  let year = cycles * 400 + Math.floor(inCycle / 365)
  while (daysOf(year, 1, 1) > days) year--
  let month = 12
  while (daysOf(year, month, 1) > days) month--
  return { year, month, day: days - daysOf(year, month, 1) + 1 }
}

/** A date as DuckDB reads it. Years before 1 are counted backwards from 1 and marked with BC. */
export function dateText(days: number): string {
  const { year, month, day } = dateOf(days)
  const era = year > 0 ? '' : ' (BC)'
  return `${pad(year > 0 ? year : 1 - year, 4)}-${pad(month, 2)}-${pad(day, 2)}${era}`
}

/** A time of day as DuckDB reads it, from microseconds since midnight. */
export function timeText(micros: bigint): string {
  const seconds = Number(micros / 1_000_000n)
  const fraction = Number(micros % 1_000_000n)
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return `${clock.map((part) => pad(part, 2)).join(':')}${fraction === 0 ? '' : `.${pad(fraction, 6)}`}`
}

const MICROS_PER_DAY = 86_400_000_000n

/** A moment as DuckDB reads it, from microseconds since 1970-01-01T00:00:00. */
export function momentText(micros: bigint): string {
  const days = floorDivide(micros, MICROS_PER_DAY)
  return `${dateText(Number(days))} ${timeText(micros - days * MICROS_PER_DAY)}`
}

export function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by
  return value % by < 0n ? quotient - 1n : quotient
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0')
}
