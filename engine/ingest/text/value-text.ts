import { real } from '../../export/formats/text/cells.ts'
import { date, decimal, time, timestamp } from '../../export/formats/text/digits.ts'
import type { ColumnType } from '../../types/index.ts'
import { isNumeric } from './text-kinds.ts'

/*
 * The texts of values as exports write them, for uploads whose values are not text. Each function takes its text out of
 * the scratch memory before it returns.
 */

const scratch = new DataView(new ArrayBuffer(128))
const bytes = Buffer.from(scratch.buffer)
const wide = new BigInt64Array(2)
const words = new Int32Array(wide.buffer)

export const DAY_MICROS = 86_400_000_000

/** A day since 1970. */
export function dayText(days: number): string {
  return textUntil(date(scratch, 0, days))
}

/** A time of day in microseconds. */
export function clockText(micros: number): string {
  return textUntil(time(scratch, 0, micros % 2 ** 32, Math.floor(micros / 2 ** 32)))
}

/** Microseconds since 1970; `zoned` adds the `Z`. */
export function timestampText(micros: bigint, zoned: boolean): string {
  wide[0] = micros
  return textUntil(timestamp(scratch, 0, words[0]!, words[1]!, zoned))
}

/** A time of day, or a duration as programs show it beside those: `36:00:00`. */
export function hoursText(micros: bigint): string {
  const all = micros < 0n ? -micros : micros
  const hours = String(all / 3_600_000_000n).padStart(2, '0')
  return `${micros < 0n ? '-' : ''}${hours}${clockText(Number(all % 3_600_000_000n)).slice(2)}`
}

/**
 * A duration as ISO 8601, in the same way as DuckDB's intervals are written: months, days and seconds stay apart.
 * @param micros besides the months and days
 */
export function durationText(micros: bigint, months = 0, days = 0): string {
  const before = `P${months === 0 ? '' : `${months}M`}${days === 0 ? '' : `${days}D`}`
  if (before !== 'P' && micros === 0n) return before
  const digits = String(micros < 0n ? -micros : micros).padStart(7, '0')
  const fraction = digits.slice(-6).replace(/0+$/, '')
  return `${before}T${micros < 0n ? '-' : ''}${digits.slice(0, -6)}${fraction && `.${fraction}`}S`
}

export function doubleText(value: number): string {
  return textUntil(real(scratch, 0, value))
}

/** A value within JSON by its text outside of it: numbers keep all of their digits. */
export function jsonText(type: ColumnType, text: string | null): string {
  if (text === null) return 'null'
  const isPlain = type === 'boolean' || type === 'json' || (isNumeric(type) && !/[NI]/.test(text))
  return isPlain ? text : quotedText(text)
}

/** A text within JSON. The digits of escapes are capitals, as DuckDB writes them. */
export function quotedText(text: string): string {
  return JSON.stringify(text).replace(/\\(?:u(.{4})|.)/g, (written, digits?: string) =>
    digits ? `\\u${digits.toUpperCase()}` : written,
  )
}

/** A decimal of up to 38 digits, given without its point. */
export function decimalText(units: bigint, scale: number): string {
  wide[0] = units
  wide[1] = units >> 64n
  return textUntil(decimal(scratch, 0, words, 0, scale))
}

function textUntil(end: number): string {
  return bytes.toString('latin1', 0, end)
}
