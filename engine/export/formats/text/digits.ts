/**
 * Numbers as decimal text. Every function writes at `at` and returns the position after the text; up to seven bytes
 * after it may be overwritten, too, because digits are stored four at a time.
 */

/** `0000` to `9999`, each as one little-endian word of ASCII. */
const FOUR_DIGITS = new Uint32Array(10_000)
/** `00` to `99`, each as half a word of ASCII. */
const TWO_DIGITS = new Uint16Array(100)
for (let i = 0; i < 10_000; i++) {
  const [a, b, c, d] = [
    Math.floor(i / 1000),
    Math.floor(i / 100) % 10,
    Math.floor(i / 10) % 10,
    i % 10,
  ] as const
  FOUR_DIGITS[i] = 0x30303030 + a + (b << 8) + (c << 16) + (d << 24)
}
for (let i = 0; i < 100; i++) TWO_DIGITS[i] = 0x3030 + Math.floor(i / 10) + ((i % 10) << 8)

const MINUS = 0x2d
const POINT = 0x2e

/** Longest texts: -9223372036854775808, -1.2345678901234567e-308, -0.(38 digits). */
export const MAX_INTEGER = 20
export const MAX_DOUBLE = 25
export const MAX_DECIMAL = 41

/** Exactly four digits of 0 <= n < 10,000. */
export function fourDigits(view: DataView, at: number, n: number): number {
  view.setUint32(at, FOUR_DIGITS[n]!, true)
  return at + 4
}

function twoDigits(view: DataView, at: number, n: number): number {
  view.setUint16(at, TWO_DIGITS[n]!, true)
  return at + 2
}

function eightDigits(view: DataView, at: number, n: number): number {
  const high = (n / 10_000) | 0
  view.setUint32(at, FOUR_DIGITS[high]!, true)
  view.setUint32(at + 4, FOUR_DIGITS[n - high * 10_000]!, true)
  return at + 8
}

/** A whole number 0 <= n <= 2^53. Short, so that it is inlined where it is called; most numbers are small. */
export function unsigned(view: DataView, at: number, n: number): number {
  if (n >= 10_000) return longUnsigned(view, at, n)
  const leading = n < 10 ? 3 : n < 100 ? 2 : n < 1000 ? 1 : 0
  view.setUint32(at, FOUR_DIGITS[n]! >>> (leading * 8), true)
  return at + 4 - leading
}

function longUnsigned(view: DataView, at: number, n: number): number {
  if (n < 100_000_000) {
    const high = (n / 10_000) | 0
    return fourDigits(view, unsigned(view, at, high), n - high * 10_000)
  }
  const high = Math.floor(n / 100_000_000)
  return eightDigits(view, unsigned(view, at, high), n - high * 100_000_000)
}

/** A 64-bit integer, given as its low and high words. */
export function int64(view: DataView, at: number, low: number, high: number): number {
  if (high !== low >> 31) return longInt64(view, at, low, high)
  if (low >= 0) return unsigned(view, at, low)
  view.setUint8(at, MINUS)
  return unsigned(view, at + 1, -low)
}

function longInt64(view: DataView, at: number, low: number, high: number): number {
  const n = high * 4_294_967_296 + (low >>> 0)
  if (n < -Number.MAX_SAFE_INTEGER || n > Number.MAX_SAFE_INTEGER) {
    return ascii(view, at, String((BigInt(high) << 32n) | BigInt(low >>> 0)))
  }
  if (n >= 0) return unsigned(view, at, n)
  view.setUint8(at, MINUS)
  return unsigned(view, at + 1, -n)
}

const POWERS = Array.from({ length: 23 }, (_, k) => Number(`1e${k}`))

/** Of the decimals with the same number of digits, up to 15, at most one reads back as a given double. */
const FIFTEEN_DIGITS = 1e15
/** Below this, and from 1e21 on, `String` uses an exponent. */
const SMALLEST_PLAIN = 1e-6

/** For each binary exponent, the power of ten that gives its doubles 14 or 15 digits before the point. */
const SCALES = Int8Array.from({ length: 2048 }, (_, exponent) => {
  const scale = Math.floor(15 - (exponent - 1022) * Math.log10(2))
  return scale >= 0 && scale < 22 ? scale : 0
})
const bits = new Float64Array(1)
const halves = new Uint32Array(bits.buffer)

/**
 * A finite double as the shortest text that reads back as the same one. If the nearest whole number to `d * 10^k`,
 * divided by `10^k`, gives `d` again, then its digits with the point k places from the right are such a text, as both
 * numbers are exact and division rounds correctly. Most data has few decimals, so small k are tried first, from 0 up.
 * If none of them works, the number is written with fifteen digits. Where these read back as `d`, they are the shortest
 * text once the zeros at their end are removed; where they don't, sixteen or seventeen digits are needed.
 */
export function double(view: DataView, at: number, d: number): number {
  if (d < 0 || Object.is(d, -0)) {
    view.setUint8(at++, MINUS)
    d = -d
  }
  if (d < FIFTEEN_DIGITS) {
    if (Math.floor(d) === d) return unsigned(view, at, d)
    if (d >= SMALLEST_PLAIN) {
      for (let k = 1; k <= 3 && d < 1e9; k++) {
        const scaled = d * POWERS[k]!
        const digits = Math.round(scaled)
        // The rounding error of the product is less than this, so most wrong `k` are found without a division.
        if (Math.abs(scaled - digits) < 1e-3 && digits / POWERS[k]! === d) return pointed(view, at, digits, k)
      }
      bits[0] = d
      let k = SCALES[halves[1]! >>> 20]!
      if (d * POWERS[k + 1]! < FIFTEEN_DIGITS) k++
      const digits = Math.round(d * POWERS[k]!)
      return digits / POWERS[k]! === d ? shortened(view, at, digits, k) : manyDigits(view, at, d, k + 1)
    }
  }
  return ascii(view, at, String(d))
}

/** Writes fifteen digits without the zeros at their end. */
function shortened(view: DataView, at: number, digits: number, scale: number): number {
  for (let step = 8; step >= 1; step /= 2) {
    const fewer = Math.floor(digits / POWERS[step]!)
    if (fewer * POWERS[step]! !== digits) continue
    digits = fewer
    scale -= step
  }
  return pointed(view, at, digits, scale)
}

/** Sixteen digits, else seventeen: with 16, several numbers may read back as `d`, and the product may be off by one. */
function manyDigits(view: DataView, at: number, d: number, k: number): number {
  const digits = Math.round(d * POWERS[k]!)
  if (digits >= Number.MAX_SAFE_INTEGER - 2) return ascii(view, at, String(d))
  if (digits / POWERS[k]! === d) return pointed(view, at, digits, k)
  for (let near = digits - 2; near <= digits + 2; near++) {
    if (near / POWERS[k]! === d) return pointed(view, at, near, k)
  }
  return seventeenDigits(view, at, d, k + 1)
}

/** Splits a double into two of 26 bits, whose products are exact (Dekker 1971). */
function upperHalf(d: number): number {
  const shifted = d * 134_217_729
  return shifted - (shifted - d)
}

const UPPER_POWERS = POWERS.map(upperHalf)

/** Seventeen digits always suffice. They are those nearest to the exact product, which is computed as two doubles. */
function seventeenDigits(view: DataView, at: number, d: number, k: number): number {
  const power = POWERS[k]!
  const product = d * power
  const dUpper = upperHalf(d)
  const dLower = d - dUpper
  const pUpper = UPPER_POWERS[k]!
  const pLower = power - pUpper
  const error = dUpper * pUpper - product + dUpper * pLower + dLower * pUpper + dLower * pLower
  // The product is larger than 2^53, so it is a whole number. Error and lower digits are small enough to be added.
  let upper = Math.floor(product / 100_000_000)
  const exact = product - upper * 100_000_000 + error
  let lower = Math.round(exact)
  // If two numbers are equally near, the even one is taken, as floating-point rounding does.
  if (lower - exact === 0.5 && lower % 2 === 1) lower--
  if (lower < 0 || lower >= 100_000_000) {
    const carry = lower < 0 ? -1 : 1
    upper += carry
    lower -= carry * 100_000_000
  }
  if (k >= 8) {
    const unit = POWERS[k - 8]!
    const whole = Math.floor(upper / unit)
    at = unsigned(view, at, whole)
    view.setUint8(at, POINT)
    return eightDigits(view, padded(view, at + 1, upper - whole * unit, k - 8), lower)
  }
  const unit = POWERS[k]!
  const whole = Math.floor(lower / unit)
  at = padded(view, unsigned(view, at, upper), whole, 8 - k)
  view.setUint8(at, POINT)
  return padded(view, at + 1, lower - whole * unit, k)
}

/** The digits of n < 2^53 with a point `scale` places from the right, 1 <= scale <= 22. */
function pointed(view: DataView, at: number, n: number, scale: number): number {
  const power = POWERS[scale]!
  const whole = Math.floor(n / power)
  at = unsigned(view, at, whole)
  view.setUint8(at, POINT)
  return padded(view, at + 1, n - whole * power, scale)
}

/** The digits of n < 2^53 with zeros before them, `width` digits in all. */
export function padded(view: DataView, at: number, n: number, width: number): number {
  if (width <= 4) {
    view.setUint32(at, FOUR_DIGITS[n]! >>> ((4 - width) * 8), true)
    return at + width
  }
  if (width > 8) {
    const high = Math.floor(n / 100_000_000)
    return eightDigits(view, padded(view, at, high, width - 8), n - high * 100_000_000)
  }
  const high = (n / 10_000) | 0
  return fourDigits(view, padded(view, at, high, width - 4), n - high * 10_000)
}

/** A decimal with all digits of its scale; `words` holds its 128 bits from `index` on, lowest word first. */
export function decimal(view: DataView, at: number, words: Int32Array, index: number, scale: number): number {
  const low = words[index]!
  const high = words[index + 1]!
  const sign = high >> 31
  if (words[index + 2] === sign && words[index + 3] === sign && scale <= 15) {
    let n = high * 4_294_967_296 + (low >>> 0)
    if (n >= -Number.MAX_SAFE_INTEGER && n <= Number.MAX_SAFE_INTEGER) {
      if (n < 0) {
        view.setUint8(at++, MINUS)
        n = -n
      }
      return scale === 0 ? unsigned(view, at, n) : pointed(view, at, n, scale)
    }
  }
  return ascii(view, at, bigDecimal(words, index, scale))
}

function bigDecimal(words: Int32Array, index: number, scale: number): string {
  let value = BigInt(words[index + 3]!)
  for (let i = 2; i >= 0; i--) value = (value << 32n) | BigInt(words[index + i]! >>> 0)
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale)
  return `${value < 0n ? '-' : ''}${whole}${scale === 0 ? '' : `.${digits.slice(-scale)}`}`
}

/** Text of ASCII characters only. */
function ascii(view: DataView, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) view.setUint8(at + i, text.charCodeAt(i))
  return at + text.length
}

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

const LETTER_T = 0x54
const LETTER_Z = 0x5a

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
  const isUsual = packed >= 0 && packed < 10_000 * 512
  at = isUsual ? fourDigits(view, at, packed >> 9) : farYear(view, at, Math.floor(packed / 512))
  // The lower bits give month and day even if the whole is negative.
  view.setUint32(at, MONTHS[(packed >> 5) & 15]!, true)
  view.setUint16(at + 4, DAYS[packed & 31]!, true)
  return at + 6
}

/** A year before 0 or after 9999. */
function farYear(view: DataView, at: number, year: number): number {
  if (year < 0) view.setUint8(at++, MINUS)
  const digits = Math.abs(year)
  return digits < 10_000 ? fourDigits(view, at, digits) : unsigned(view, at, digits)
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
