import { EngineError } from '../../errors.ts'
import type { ColumnType } from '../../types/index.ts'
import { kindOf, ZONED } from './text-kinds.ts'

const SHOWN = 60

/** Quotes a value for an error message: escaped, and shortened to fit in a line. */
export function quoteValue(text: string): string {
  const quoted = JSON.stringify(text.length > SHOWN ? text.slice(0, SHOWN) : text)
  return text.length > SHOWN ? `${quoted}…` : quoted
}

const ARTICLE: Readonly<Record<string, string>> = { integer: 'an' }

/** The error for a value that its column's type does not accept. `row` counts data rows from 1. */
export function badValue(
  row: number,
  column: string,
  text: string,
  type: ColumnType,
  isText = true,
): EngineError {
  const message = `Row ${row}, column ${JSON.stringify(column)}: ${quoteValue(text)} is not ${ARTICLE[type] ?? 'a'} ${type}.${hint(text, type, isText)}`
  return new EngineError('invalid_upload', message, { details: { row, column, type } })
}

/** What would be right, where the value alone does not show it. */
function hint(text: string, type: ColumnType, isText: boolean): string {
  if (type === 'timestamp' && kindOf(text) & ZONED) {
    return ' A timestamp has no offset: declare the column as timestamptz, or send the time without the offset.'
  }
  if (type === 'binary') {
    return isText ? ' Bytes are sent in base64, padded with =.' : ' Bytes are sent as text in base64.'
  }
  return !isText && type === 'uuid' ? ' A uuid is sent as text.' : ''
}

/** The error for a value out of its type's range, where the value itself can't be shown or would not help. */
export function outOfRange(row: number, column: string, type: ColumnType): EngineError {
  const message = `Row ${row}, column ${JSON.stringify(column)}: the value is not ${ARTICLE[type] ?? 'a'} ${type}${RANGE[type] ?? ''}.`
  return new EngineError('invalid_upload', message, { details: { row, column, type } })
}

export const FINEST = 'Columns hold microseconds: send those, or ask for nanoseconds=truncate.'

/** What to do about bytes that are not UTF-8. */
export const OTHER_ENCODING = 'Say what it is, for example encoding=latin1, or save the file as UTF-8.'

export const LATE_QUOTE = 'there is a blank before an opening quote; the quote has to come first in its field'
export const LONE_RETURN =
  'there is a carriage return that no line feed follows; lines end with LF or CR LF, and fields that hold one are quoted'

export function tooFine(row: number, column: string): EngineError {
  const message = `Row ${row}, column ${JSON.stringify(column)}: the time is finer than a microsecond. ${FINEST}`
  return new EngineError('invalid_upload', message, { details: { row, column } })
}

export function dayWithTime(row: number, column: string): EngineError {
  const message = `Row ${row}, column ${JSON.stringify(column)}: the date has a time of day. Send it as a timestamp, or at midnight.`
  return new EngineError('invalid_upload', message, { details: { row, column } })
}

export function notUtf8(row: number, column: string): EngineError {
  const message = `Row ${row}, column ${JSON.stringify(column)}: the text is not valid UTF-8.`
  return new EngineError('invalid_upload', message, { details: { row, column } })
}

/** The error for a nested value that contains one out of its type's range. */
export function outOfRangeInside(row: number, column: string): EngineError {
  const message =
    `Row ${row}, column ${JSON.stringify(column)}: a value within it is out of range. Dates are of the years 1 to 9999, ` +
    'times from 00:00:00 to 23:59:59.999999, and decimals have no more digits than their type.'
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
