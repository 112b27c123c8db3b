import { TEXT_KIND } from '../text/text-kinds.ts'
import { clockText, DAY_MICROS, dayText } from '../text/value-text.ts'
import type { NumberStyle } from './book.ts'

/** A cell's text and kind, as they would be in the other text formats. */
export interface CellText {
  readonly text: string
  readonly kind: number
}

/** Days from 1899-12-30 to 1970-01-01. Excel counts from the former, except before its 29 February 1900. */
const EPOCH_1900 = 25_569
const EPOCH_1904 = 24_107
/** 9999-12-31. */
const LAST_SERIAL = 2_958_465
/** Excel's number for 29 February 1900. That day never existed, so Excel's days before it are off by one. */
const LEAP_DAY_1900 = 60

/**
 * Turns the number of a cell with a date format into ISO 8601; undefined where Excel itself would show no date.
 * @param digits the number as the workbook writes it
 */
export function serialMoment(digits: string, style: NumberStyle, date1904: boolean): CellText | undefined {
  const serial = Number(digits)
  if (style === 'number' || !(serial >= 0 && serial < LAST_SERIAL + 1)) return undefined
  const rounded = microsOfDay(serial, digits)
  const day = Math.floor(serial) + (rounded === DAY_MICROS ? 1 : 0)
  const micros = rounded % DAY_MICROS
  if (serial < 1 && style === 'time') return { text: clockText(micros), kind: TEXT_KIND.time }
  if (date1904) return moment(day - EPOCH_1904, micros, style)
  if (day < 1 || day === LEAP_DAY_1900) return undefined
  return moment(day - EPOCH_1900 + (day < LEAP_DAY_1900 ? 1 : 0), micros, style)
}

function moment(day: number, micros: number, style: NumberStyle): CellText {
  const date = dayText(day)
  if (style === 'date' && micros === 0) return { text: date, kind: TEXT_KIND.date }
  return style === 'zoned'
    ? { text: `${date}T${clockText(micros)}Z`, kind: TEXT_KIND.timestamptz }
    : { text: `${date}T${clockText(micros)}`, kind: TEXT_KIND.timestamp }
}

/**
 * The time of day in microseconds. A double is exact to a microsecond for days of our time, but many programs write
 * only 15 or 16 digits, and days far in the future leave fewer bits for the time. If the time is as near to a whole
 * millisecond as the number is exact, that millisecond is meant.
 */
function microsOfDay(serial: number, digits: string): number {
  const exact = (serial - Math.floor(serial)) * DAY_MICROS
  const micros = Math.round(exact)
  const millis = Math.round(exact / 1000) * 1000
  if (micros === millis) return micros
  const decimals = /\.(\d+)$/.exec(digits)?.[1]?.length ?? 0
  const length = digits.replace(/\D/g, '').length
  const half = (places: number) => 0.5 * 10 ** -places * DAY_MICROS
  const told = 2 ** (Math.floor(Math.log2(Math.max(serial, 1))) - 52) * DAY_MICROS
  // Sixteen digits are a double that was rounded once more; zeros at their end are not written.
  const sixteen = half(decimals + 16 - length) + told
  const written = length > 16 ? 0 : length === 16 ? sixteen : Math.max(sixteen, Math.min(5, half(decimals)))
  return Math.abs(exact - millis) <= Math.max(written, told) ? millis : micros
}
