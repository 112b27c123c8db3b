export { counted as plural } from '../../../engine/util/counted.ts'

/** Formats numbers, sizes and times for display. There is only one language for now. */
const LOCALE = 'en-GB'

const whole = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat(LOCALE, { maximumSignificantDigits: 4 })
const percentage = new Intl.NumberFormat(LOCALE, { style: 'percent', maximumFractionDigits: 1 })
const dateAndTime = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' })

export const formatCount: (count: number) => string = whole.format

/** Formats a measured value with few digits, and with an exponent only if nothing else fits. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  const size = Math.abs(value)
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toExponential(3)
  return Number.isInteger(value) ? whole.format(value) : short.format(value)
}

export const formatPercent: (share: number) => string = percentage.format

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit === 0 || value >= 100 ? whole.format(value) : short.format(Number(value.toPrecision(3)))} ${UNITS[unit]}`
}

export function formatDateTime(iso: string): string {
  return dateAndTime.format(new Date(iso))
}

/** Formats an age roughly: 'just now', '5 min ago', then the date. */
export function formatAge(iso: string, now = Date.now()): string {
  const minutes = Math.round((now - Date.parse(iso)) / 60_000)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  if (minutes < 24 * 60) return `${Math.round(minutes / 60)} h ago`
  return formatDateTime(iso)
}
