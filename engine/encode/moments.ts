import { ascii, fourDigits, int64, twoDigits } from './numbers.ts'

/**
 * Dates and times in ISO 8601, `T` between date and time, fractions of a second only where there are any. Years are
 * written as XML Schema and OData have them: at least four digits, more after 9999, astronomical with a minus before
 * the year 1 (44 BC is `-0043`). DuckDB's infinities are `infinity` and `-infinity`. Functions write at `at` and
 * return the position behind; up to seven bytes more may be overwritten.
 */

/** The longest: -290307-12-22T00:00:00.000000Z, and a little more. */
export const MAX_MOMENT = 36

const DAY_SECONDS = 86_400
const DAY_MICROS = DAY_SECONDS * 1_000_000
const INT32_MAX = 0x7fffffff

/** Days that most data falls on, from 1900 to 2099, are taken apart once: year * 512 + month * 32 + day. */
const FIRST_DAY = -25_567
const known = new Int32Array(73_049)

function civil(days: number): number {
  const index = days - FIRST_DAY
  if (index < 0 || index >= known.length) return fromDays(days)
  return (known[index] ||= fromDays(days))
}

/** The proleptic Gregorian date of a day, counted in eras of 400 years that begin in March. */
function fromDays(days: number): number {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return year * 512 + month * 32 + day
}

const HYPHEN = 0x2d
const COLON = 0x3a
const LETTER_T = 0x54
const LETTER_Z = 0x5a
const POINT = 0x2e

export function date(view: DataView, at: number, days: number): number {
  if (days === INT32_MAX) return ascii(view, at, 'infinity')
  if (days === -INT32_MAX) return ascii(view, at, '-infinity')
  return calendarDate(view, at, days)
}

function calendarDate(view: DataView, at: number, days: number): number {
  const packed = civil(days)
  let year = Math.floor(packed / 512)
  if (year < 0) {
    view.setUint8(at++, HYPHEN)
    year = -year
  }
  at = year < 10_000 ? fourDigits(view, at, year) : int64(view, at, year, 0)
  view.setUint8(at, HYPHEN)
  twoDigits(view, at + 1, (packed >> 5) & 15)
  view.setUint8(at + 3, HYPHEN)
  return twoDigits(view, at + 4, packed & 31)
}

/** A time of day in microseconds, 24:00:00 included. */
export function time(view: DataView, at: number, low: number, high: number): number {
  return timeOfDay(view, at, high * 4_294_967_296 + (low >>> 0))
}

function timeOfDay(view: DataView, at: number, micros: number): number {
  let seconds = Math.floor(micros / 1_000_000)
  const fraction = micros - seconds * 1_000_000
  const hours = (seconds / 3600) | 0
  seconds -= hours * 3600
  const minutes = (seconds / 60) | 0
  twoDigits(view, at, hours)
  view.setUint8(at + 2, COLON)
  twoDigits(view, at + 3, minutes)
  view.setUint8(at + 5, COLON)
  twoDigits(view, at + 6, seconds - minutes * 60)
  at += 8
  if (fraction === 0) return at
  view.setUint8(at, POINT)
  const thousands = (fraction / 100) | 0
  fourDigits(view, at + 1, thousands)
  twoDigits(view, at + 5, fraction - thousands * 100)
  at += 7
  while (view.getUint8(at - 1) === 0x30) at--
  return at
}

/** Microseconds since 1970; `zoned` adds the `Z`. */
export function timestamp(view: DataView, at: number, low: number, high: number, zoned: boolean): number {
  const micros = high * 4_294_967_296 + (low >>> 0)
  let days = Math.floor(micros / DAY_MICROS)
  let rest = micros - days * DAY_MICROS
  if (micros < -Number.MAX_SAFE_INTEGER || micros > Number.MAX_SAFE_INTEGER) {
    if (high === INT32_MAX && low === -1) return ascii(view, at, 'infinity')
    if (high === -INT32_MAX - 1 && low === 1) return ascii(view, at, '-infinity')
    const exact = (BigInt(high) << 32n) | BigInt(low >>> 0)
    rest = Number(((exact % 86_400_000_000n) + 86_400_000_000n) % 86_400_000_000n)
    days = Number((exact - BigInt(rest)) / 86_400_000_000n)
  }
  at = calendarDate(view, at, days)
  view.setUint8(at, LETTER_T)
  at = timeOfDay(view, at + 1, rest)
  if (!zoned) return at
  view.setUint8(at, LETTER_Z)
  return at + 1
}
