import { type ColumnType, decimalParts } from '../../types/index.ts'

/** Whether a number with an exponent is neither too large for a double nor so small that it would become zero. */
export function isInRange(text: string): boolean {
  const value = Number(text)
  return value === 0 ? !/^[^eE]*[1-9]/.test(text) : Number.isFinite(value)
}

/**
 * Whether a number, without its decimal places, is a double, or written as programs write one: with zeros behind the
 * digits that tell it.
 */
export function isDouble(text: string): boolean {
  const value = Number(text)
  const [whole = ''] = text.split('.', 1)
  return String(value) === whole || BigInt(Math.trunc(value)) === BigInt(whole)
}

/** Whether an integer, with or without a sign, fits in 64 bits signed. */
export function fitsInt64(digits: string): boolean {
  const value = BigInt(digits)
  return BigInt.asIntN(64, value) === value
}

/** A double tells no more digits of a decimal number. */
const DOUBLE_DIGITS = 17
const [ZERO, NINE, LETTER_E] = [0x30, 0x39, 0x65]

/** Whether a number has more digits than a double keeps, from the first to the last that is not zero. */
export function losesDigits(text: string): boolean {
  let at = 0
  // A sign and a point come before the digits in ASCII.
  while (text.charCodeAt(at) <= ZERO) at++
  // Most numbers are too short, which takes hardly any time to see.
  if (text.length - at <= DOUBLE_DIGITS) return false
  let [count, zeros] = [0, 0]
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if ((code | 0x20) === LETTER_E) break
    if (code === ZERO) zeros++
    else if (code > ZERO && code <= NINE) {
      count += zeros + 1
      zeros = 0
    }
  }
  return count > DOUBLE_DIGITS
}

const NUMBER = /^[-+]?(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d+))?$/

/** Of a decimal. */
const MOST_DIGITS = 38

/** Whether a number is a value of a decimal type, without being rounded. */
export function fitsDecimal(text: string, type: ColumnType): boolean {
  const { precision, scale } = decimalParts(type)!
  const match = NUMBER.exec(text)
  if (!match) return false
  const [, whole = '', fraction = '', exponent = '0'] = match
  const digits = (whole + fraction).replace(/^0+/, '')
  // A loop, not a regular expression: one that ends in $ would start anew at every zero of a long row of zeros, which
  // takes time by the square of its length.
  let end = digits.length
  while (digits[end - 1] === '0') end--
  const significant = digits.slice(0, end)
  if (significant === '') return true
  // DuckDB wants room for the digits before an exponent, and for as many as it adds, whatever the number is with it.
  if (match[3] && whole.replace(/^0+/, '').length + Math.max(Number(exponent), 0) > MOST_DIGITS - scale)
    return false
  // The number is 0.digits × 10^places.
  const places = digits.length - fraction.length + Number(exponent)
  return places <= precision - scale && significant.length - places <= scale
}
