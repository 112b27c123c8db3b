import { ascii, fourDigits, twoDigits, unsigned } from './numbers.ts'

/**
 * Dates and times in ISO 8601, with `T` between date and time, and fractions of a second only where there are any.
 * Years are written as in XML Schema and OData: at least four digits, more after 9999. Years before the year 1 are
 * counted as astronomers do, with a minus (44 BC is `-0043`). DuckDB's infinities are `infinity` and `-infinity`.
 * Functions write at `at` and return the position after the text; up to seven bytes after it may be overwritten.
 */

/** More than the length of the longest text, -290307-12-22T00:00:00.000000Z. */
export const MAX_MOMENT = 36

const DAY_MICROS = 86_400_000_000
const INT32_MAX = 0x7fffffff

/** Dates of the days from 1900 to 2099, which most data has, as year * 512 + month * 32 + day; made at first use. */
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
const LETTER_T = 0x54
const LETTER_Z = 0x5a
const POINT = 0x2e

export function date(view: DataView, at: number, days: number): number {
  if (days === INT32_MAX) return ascii(view, at, 'infinity')
  if (days === -INT32_MAX) return ascii(view, at, '-infinity')
  return calendarDate(view, at, days)
}

/** ASCII words: `-MM-` by month, `DD` by day, `HH:M` and `M:` by the minute of the day, 24:00 included. */
const MONTHS = new Uint32Array(13)
const DAYS = new Uint16Array(32)
const HOURS_MINUTES = new Uint32Array(1441)
const MINUTES = new Uint16Array(1441)
for (let month = 0; month < 13; month++) MONTHS[month] = word(`-${twoFigures(month)}-`)
for (let day = 0; day < 32; day++) DAYS[day] = word(twoFigures(day))
for (let minute = 0; minute <= 1440; minute++) {
  const text = `${twoFigures(Math.floor(minute / 60))}:${twoFigures(minute % 60)}:`
  HOURS_MINUTES[minute] = word(text.slice(0, 4))
  MINUTES[minute] = word(text.slice(4))
}

function twoFigures(n: number): string {
  return String(n).padStart(2, '0')
}

function word(text: string): number {
  return Buffer.from(text.padEnd(4, '\0')).readUInt32LE()
}

function calendarDate(view: DataView, at: number, days: number): number {
  const packed = civil(days)
  if (packed < 0 || packed >= 10_000 * 512) return farDate(view, at, packed)
  at = fourDigits(view, at, packed >> 9)
  view.setUint32(at, MONTHS[(packed >> 5) & 15]!, true)
  view.setUint16(at + 4, DAYS[packed & 31]!, true)
  return at + 6
}

/** A year before 0 or after 9999. The lower bits of `packed` give month and day even if it is negative. */
function farDate(view: DataView, at: number, packed: number): number {
  const year = Math.floor(packed / 512)
  if (year < 0) view.setUint8(at++, HYPHEN)
  const digits = Math.abs(year)
  at = digits < 10_000 ? fourDigits(view, at, digits) : unsigned(view, at, digits)
  view.setUint32(at, MONTHS[(packed >> 5) & 15]!, true)
  view.setUint16(at + 4, DAYS[packed & 31]!, true)
  return at + 6
}

/** A time of day in microseconds, 24:00:00 included. */
export function time(view: DataView, at: number, low: number, high: number): number {
  return timeOfDay(view, at, high * 4_294_967_296 + (low >>> 0))
}

function timeOfDay(view: DataView, at: number, micros: number): number {
  const seconds = Math.floor(micros / 1_000_000)
  const minutes = (seconds / 60) | 0
  view.setUint32(at, HOURS_MINUTES[minutes]!, true)
  view.setUint16(at + 4, MINUTES[minutes]!, true)
  twoDigits(view, at + 6, seconds - minutes * 60)
  const fraction = micros - seconds * 1_000_000
  return fraction === 0 ? at + 8 : fractionOfSecond(view, at + 8, fraction)
}

function fractionOfSecond(view: DataView, at: number, fraction: number): number {
  view.setUint8(at, POINT)
  const hundreds = (fraction / 100) | 0
  fourDigits(view, at + 1, hundreds)
  twoDigits(view, at + 5, fraction - hundreds * 100)
  at += 7
  while (view.getUint8(at - 1) === 0x30) at--
  return at
}

/** Microseconds since 1970; `zoned` adds the `Z`. */
export function timestamp(view: DataView, at: number, low: number, high: number, zoned: boolean): number {
  const micros = high * 4_294_967_296 + (low >>> 0)
  if (micros < -Number.MAX_SAFE_INTEGER || micros > Number.MAX_SAFE_INTEGER) {
    return farTimestamp(view, at, low, high, zoned)
  }
  const days = Math.floor(micros / DAY_MICROS)
  return dateAndTime(view, at, days, micros - days * DAY_MICROS, zoned)
}

/** For times after the year 2255 or before 1684, whose microseconds are too many to be exact in a double. */
function farTimestamp(view: DataView, at: number, low: number, high: number, zoned: boolean): number {
  if (high === INT32_MAX && low === -1) return ascii(view, at, 'infinity')
  if (high === -INT32_MAX - 1 && low === 1) return ascii(view, at, '-infinity')
  const micros = (BigInt(high) << 32n) | BigInt(low >>> 0)
  const day = BigInt(DAY_MICROS)
  const rest = ((micros % day) + day) % day
  return dateAndTime(view, at, Number((micros - rest) / day), Number(rest), zoned)
}

function dateAndTime(view: DataView, at: number, days: number, micros: number, zoned: boolean): number {
  at = calendarDate(view, at, days)
  view.setUint8(at, LETTER_T)
  at = timeOfDay(view, at + 1, micros)
  if (!zoned) return at
  view.setUint8(at, LETTER_Z)
  return at + 1
}
