import { KIND } from './kinds.ts'
import type { NumberStyle } from './xlsx-workbook.ts'

/** A cell's text and kind, as the other text forms would have them. */
export interface CellText {
  readonly text: string
  readonly kind: number
}

const DAY_MICROS = 86_400_000_000
/** 1970-01-01 counted from 1899-12-30, where Excel's calendar begins but for its 29 February 1900. */
const EPOCH_1900 = 25_569
const EPOCH_1904 = 24_107
/** 9999-12-31. */
const LAST_SERIAL = 2_958_465
/** Before this, Excel's calendar is a day off. */
const MARCH_1900 = 61

/**
 * A number of a cell with a date format as ISO 8601; undefined where Excel itself would show no date.
 * @param digits the number as the workbook writes it
 */
export function serialMoment(digits: string, style: NumberStyle, date1904: boolean): CellText | undefined {
  const serial = Number(digits)
  if (style === 'number' || !(serial >= 0 && serial < LAST_SERIAL + 1)) return undefined
  if (serial < 1 && style !== 'date') {
    if (style !== 'time' && !date1904) return undefined
    if (style === 'time') return { text: clock(roundedMicros(serial, digits) % DAY_MICROS), kind: KIND.time }
  }
  const days = date1904 ? serial - EPOCH_1904 : serial - EPOCH_1900
  if (!date1904 && serial < MARCH_1900) {
    if (serial < 1 || serial >= 60) return undefined
    return moment(roundedMicros(days + 1, digits), style)
  }
  return moment(roundedMicros(days, digits), style)
}

function moment(micros: number, style: NumberStyle): CellText {
  const day = new Date(Math.floor(micros / DAY_MICROS) * 86_400_000).toISOString().slice(0, 10)
  const rest = micros - Math.floor(micros / DAY_MICROS) * DAY_MICROS
  if (style === 'date' && rest === 0) return { text: day, kind: KIND.date }
  return style === 'zoned'
    ? { text: `${day}T${clock(rest)}Z`, kind: KIND.timestamptz }
    : { text: `${day}T${clock(rest)}`, kind: KIND.timestamp }
}

/**
 * Days as microseconds. A double of today's days tells microseconds apart, but many programs write 15 digits only,
 * which is some microseconds off: those are taken for the millisecond next to them.
 */
function roundedMicros(days: number, digits: string): number {
  const micros = Math.round(days * DAY_MICROS)
  const millis = Math.round(micros / 1000) * 1000
  const short = digits.replace(/\D/g, '').length <= 15
  return short && Math.abs(micros - millis) <= 5 ? millis : micros
}

function clock(micros: number): string {
  const seconds = Math.floor(micros / 1_000_000)
  const fraction = micros - seconds * 1_000_000
  const two = (value: number) => String(value).padStart(2, '0')
  const whole = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
  return fraction === 0 ? whole : `${whole}.${String(fraction).padStart(6, '0').replace(/0+$/, '')}`
}
