/**
 * The proleptic Gregorian calendar over any number of years, year 0 being 1 BC, as ISO 8601 counts. JavaScript's own
 * knows fewer years, so a date is moved by whole cycles of the calendar to where it knows them.
 */
const CYCLE = { years: 400, days: 146_097 } as const
const MS_PER_DAY = 86_400_000

/** Days from 1970-01-01. */
export function daysOf(year: number, month: number, day: number): number {
  const cycles = Math.floor(year / CYCLE.years) - 5
  return Date.UTC(year - cycles * CYCLE.years, month - 1, day) / MS_PER_DAY + cycles * CYCLE.days
}

export function dateOf(days: number): { year: number; month: number; day: number } {
  const cycles = Math.floor(days / CYCLE.days)
  const date = new Date((days - cycles * CYCLE.days) * MS_PER_DAY)
  const year = date.getUTCFullYear() + cycles * CYCLE.years
  return { year, month: date.getUTCMonth() + 1, day: date.getUTCDate() }
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
