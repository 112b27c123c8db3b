import { EngineError } from '../../errors.ts'
import { type ColumnType, decimalParts } from '../../types/index.ts'
import { fitsInt64 } from './text-kinds.ts'

/**
 * Whether a text of one of the `possible` kinds (`acceptedKinds`) is exactly a value of a declared type, without being
 * rounded or wrapped around.
 */
export function acceptsValue(type: ColumnType, text: string): boolean {
  switch (type) {
    case 'boolean':
      return text === '0' || text === '1'
    case 'integer':
      return fitsInt64(text.replace(/\..*$/s, ''))
    case 'uuid':
      return UUID.test(text)
    case 'binary':
      return BASE64.test(text)
    case 'json':
      return isJson(text)
    case 'double':
    case 'string':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return false
    default:
      return fitsDecimal(text, decimalParts(type)!)
  }
}

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const NUMBER = /^[-+]?(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d+))?$/

function fitsDecimal(text: string, { precision, scale }: { precision: number; scale: number }): boolean {
  const match = NUMBER.exec(text)
  if (!match) return false
  const whole = match[1]!
  const digits = (whole + (match[2] ?? '')).replace(/^0+/, '')
  // A loop, not a regular expression: one that ends in $ would start anew at every zero of a long row of zeros, which
  // takes time by the square of its length.
  let end = digits.length
  while (digits[end - 1] === '0') end--
  const significant = digits.slice(0, end)
  if (significant === '') return true
  // The number is 0.digits × 10^places.
  const places =
    whole.length - (whole.length + (match[2] ?? '').length - digits.length) + Number(match[3] ?? 0)
  return places <= precision - scale && significant.length - places <= scale
}

const SHOWN = 60

/** Quotes a value for an error message: escaped, and shortened to fit in a line. */
export function quoteValue(text: string): string {
  const quoted = JSON.stringify(text.length > SHOWN ? text.slice(0, SHOWN) : text)
  return text.length > SHOWN ? `${quoted}…` : quoted
}

const ARTICLE: Readonly<Record<string, string>> = { integer: 'an' }

/** The error for a value that its column's type does not accept. `row` counts data rows from 1. */
export function badValue(row: number, column: string, text: string, type: ColumnType): EngineError {
  const message = `Row ${row}, column ${JSON.stringify(column)}: ${quoteValue(text)} is not ${ARTICLE[type] ?? 'a'} ${type}.`
  return new EngineError('invalid_upload', message, { details: { row, column, type } })
}

/** The error for a value out of its type's range, where the value itself can't be shown or would not help. */
export function outOfRange(row: number, column: string, type: ColumnType): EngineError {
  const message = `Row ${row}, column ${JSON.stringify(column)}: the value is not ${ARTICLE[type] ?? 'a'} ${type}${RANGE[type] ?? ''}.`
  return new EngineError('invalid_upload', message, { details: { row, column, type } })
}

export const FINEST = 'Columns hold microseconds: send those, or ask for nanoseconds=truncate.'

export function tooFine(row: number, column: string): EngineError {
  const message = `Row ${row}, column ${JSON.stringify(column)}: the time is finer than a microsecond. ${FINEST}`
  return new EngineError('invalid_upload', message, { details: { row, column } })
}

const YEARS = ' of the years 1 to 9999'
const RANGE: Readonly<Record<string, string>> = {
  date: YEARS,
  timestamp: YEARS,
  timestamptz: YEARS,
  time: ' from 00:00:00 to 23:59:59.999999',
}

export function missingValue(row: number, column: string): EngineError {
  const message = `Row ${row}, column ${JSON.stringify(column)}: a value is missing, but the column is not nullable.`
  return new EngineError('invalid_upload', message, { details: { row, column } })
}

/** The error for any other defect in the form of an upload. */
export function malformed(message: string, details?: Readonly<Record<string, unknown>>): EngineError {
  return new EngineError('invalid_upload', message, { details })
}
