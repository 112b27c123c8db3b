import { EngineError, hint, type Said, type Words } from '../../errors.ts'
import { libraryWords } from '../../library-words.ts'
import type { Column, ColumnType } from '../../types/index.ts'
import { kindOf, TEXT_KIND, ZONED } from './text-kinds.ts'

type Details = Readonly<Record<string, unknown>>

const SHOWN = 60

/** A warning for a file that has blank rows where its footer is: these are not counted. */
export function countedFooter(footer: number, first: string): string {
  return `${hint(`footer=${footer}`)} counts rows that are not blank: the first that it leaves out is ${quoteValue(first)}.`
}

/** A warning for a column of doubles, which do not keep all digits of its numbers. @param first such a number */
export function roundedNumber(column: string, { row, value }: TextReason): string {
  return (
    `Row ${row}, column ${JSON.stringify(column)}: ${quoteValue(value)} has more digits than a double ` +
    `keeps. Declare the column as decimal(p,s), or as string, to keep them.`
  )
}

/** Quotes a value for an error message: escaped, and shortened to fit in a line. */
export function quoteValue(text: string): string {
  const quoted = JSON.stringify(text.length > SHOWN ? text.slice(0, SHOWN) : text)
  return text.length > SHOWN ? `${quoted}…` : quoted
}

/** The error for a defect in the form of an upload. */
export function malformed(message: string, details?: Details): EngineError {
  return new EngineError('invalid_upload', message, { details })
}

/** The error for a defect of a row. Rows count from 1, without the header. */
export function badRow(row: number, what: string, details: Details = {}): EngineError {
  return malformed(`Row ${row}${what}`, { row, ...details })
}

/** The error for a row with fewer fields than the header. @param line as it is in the file */
export function shortRow(row: number, fields: number, width: number, line: string): EngineError {
  const help = fields === 1 ? 'Remove the line if it is a note' : 'Missing values need their delimiters, too'
  return badRow(row, `: it has ${fields} of the ${width} fields of the header: ${quoteValue(line)}. ${help}.`)
}

/** The error for a row with more fields than the header. @param field the first that is too many */
export function longRow(row: number, width: number, field: string): EngineError {
  const first = `the first that is too many is ${quoteValue(field)}`
  const help = `Quote fields that contain the delimiter; ${hint('names=index')} is for rows that begin with a name of their own`
  return badRow(row, `: it has more fields than the ${width} of the header; ${first}. ${help}.`)
}

/** The error for a defect of a value. */
export function badCell(row: number, column: string, what: string, details: Details = {}): EngineError {
  return badRow(row, `, column ${JSON.stringify(column)}: ${what}`, { column, problem: what, ...details })
}

const ofType = (type: ColumnType) => `is not ${type === 'integer' ? 'an' : 'a'} ${type}`

/** The error for a value that its column's type does not accept. */
export function badValue(
  row: number,
  column: string,
  text: string,
  type: ColumnType,
  isText = true,
): EngineError {
  const beyond = { integer: beyond64Bits, double: betweenDoubles }[type as string]
  const wrong = (WHOLE.test(text) && beyond?.(text)) || `${ofType(type)}.`
  const what = `${quoteValue(text)} ${wrong}${advice(text, type, isText)}`
  const option = lacksZone(text, type) ? { option: 'zone' } : {}
  return badCell(row, column, what, { type, value: text.slice(0, SHOWN), ...option })
}

const WHOLE = /^[-+]?\d+(\.0*)?$/

function beyond64Bits(text: string): string {
  const other = text.replace(/^[-+]?0*|\..*/g, '').length > 38 ? 'string' : 'decimal(38,0)'
  return (
    `is out of range of a 64-bit integer (${-(2n ** 63n)} to ${2n ** 63n - 1n}). ` +
    `Declare the column as ${other}.`
  )
}

function betweenDoubles(text: string): string | undefined {
  const nearest = Number(text)
  if (!Number.isFinite(nearest)) return undefined
  return (
    `is not a double: the nearest one is ${BigInt(nearest)}. Send that, or declare the column as decimal(p,s), ` +
    'which keeps all digits.'
  )
}

const lacksZone = (text: string, type: ColumnType) =>
  type === 'timestamptz' && kindOf(text) === TEXT_KIND.timestamp

/** A comma that can't be one between thousands. */
const DECIMAL_COMMA = /^[-+]?(?![1-9]\d{0,2},\d{3}$)\d+,\d+$/

/** What would be right, where the value alone does not show it. */
function advice(text: string, type: ColumnType, isText: boolean): string {
  if (type === 'timestamp' && kindOf(text) & ZONED) {
    return ' A timestamp has no offset: declare the column as timestamptz, or send the time without the offset.'
  }
  if (lacksZone(text, type)) {
    return ` Add its offset, such as Z or +02:00; for a whole upload, ${hint('zone=Europe/Berlin')} says which zone's clocks show it.`
  }
  if (text.includes('\u2212') && /^(integer|double|decimal)/.test(type)) {
    return ' Its minus is the character U+2212: send a hyphen, -.'
  }
  if (DECIMAL_COMMA.test(text) && /^(double|decimal)/.test(type)) {
    return ` Write ${text.replace(',', '.')}.`
  }
  if (type === 'binary') {
    return isText ? ' Bytes are sent in base64, padded with =.' : ' Bytes are sent as text in base64.'
  }
  return !isText && type === 'uuid' ? ' A uuid is sent as text.' : ''
}

/** The error for a time of a zone that its clocks do not show once. @param fault what is wrong with it */
export function badTime(row: number, column: string, text: string, fault: string): EngineError {
  const what = `${quoteValue(text)} ${fault}. Add its offset, such as Z or +02:00.`
  return badCell(row, column, what, { value: text.slice(0, SHOWN), option: 'zone' })
}

/** The error for a value out of its type's range, where the value itself can't be shown or would not help. */
export function outOfRange(row: number, column: string, type: ColumnType): EngineError {
  return badCell(row, column, `the value ${ofType(type)}${RANGE[type] ?? ''}.`, { type })
}

const YEARS = ' of the years 1 to 9999'
const RANGE: Readonly<Record<string, string>> = {
  date: YEARS,
  timestamp: YEARS,
  timestamptz: YEARS,
  time: ' from 00:00:00 to 23:59:59.999999',
}

/** Longer records are refused, because DuckDB holds several whole records in memory at a time. */
export const LONGEST_RECORD = 64 * 1024 * 1024
/** What is wrong with such a row. */
export const TOO_LONG = ` is longer than ${LONGEST_RECORD >> 20} MiB.`

export const FINEST = `Columns hold microseconds: send those, or ask for ${hint('nanoseconds=truncate')}.`

/** What to send in JSON for numbers that it does not have. */
export const NOT_FINITE = 'JSON has no NaN and no Infinity: send null, or the texts "NaN", "INF" and "-INF"'

/** Whether JSON.parse failed at one of them, by its message. */
export const failedAtNotFinite = (message: string) => /token '[NI]'/.test(message)

export const LATE_QUOTE = 'there is a blank before an opening quote; the quote has to come first in its field'
export const LONE_RETURN =
  'there is a carriage return that no line feed follows; lines end with LF or CR LF, and fields that hold one are quoted'

/** Errors for values, by what is wrong with them. */
export const tooFine = cellError(`the time is finer than a microsecond. ${FINEST}`)
export const dayWithTime = cellError('the date has a time of day. Send it as a timestamp, or at midnight.')
export const notUtf8 = cellError('the text is not valid UTF-8.')
export const missingValue = cellError('a value is missing, but the column is not nullable.')
/** For a nested value that contains one out of its type's range. */
export const outOfRangeInside = cellError(
  'a value within it is out of range. Dates are of the years 1 to 9999, times from 00:00:00 to 23:59:59.999999, ' +
    'and decimals have no more digits than their type.',
)

/** For Parquet, where only the schema of Arrow says that whole numbers are durations. */
export function durationsWithin(column: string): EngineError {
  const what = 'has durations within it, which Parquet holds as whole numbers without a unit'
  const hint = 'Send the file as Arrow, or the durations as text or in a column of their own'
  return malformed(`Column ${JSON.stringify(column)} ${what}. ${hint}.`, { column })
}

function cellError(what: string): (row: number, column: string) => EngineError {
  return (row, column) => badCell(row, column, what)
}

/** Why a column is text: the first value that no narrower type of the column holds. Rows count from 1. */
export interface TextReason {
  readonly row: number
  readonly value: string
  /** The type of the values above it, unless they are text or missing. Then the value may be in a row of totals. */
  readonly above?: ColumnType
  /**
   * Options with which the value may be what was meant, as they are written here: `{ decimal: ',', thousands: '.' }`.
   * HTTP, and a reason before it is shown, has them as in a query string: `decimal=,&thousands=.`.
   */
  readonly try?: string
  /** Other options with which it may be, too: `2.500` may be 2500 as well as 2.5. */
  readonly or?: string
}

/** How much of such a value is kept to be shown. */
export const KEPT = 200

/** @param above the type that the column would have without this value and those after it */
export function plainReason(row: number, value: string, above: ColumnType = 'string'): TextReason {
  return { row, value: value.slice(0, KEPT), ...(above !== 'string' && { above }) }
}

/** The words of options that are lists, which a new value would replace. */
interface ListedWords {
  readonly nulls?: readonly string[] | undefined
  readonly symbols?: readonly string[] | undefined
}

/** The same suggestions with the words that the upload was read with, so that they can be followed as they are. */
export function keepingWords(reason: TextReason, words: ListedWords): TextReason {
  const keeping = (suggestion: string) =>
    suggestion.replace(/^(nulls|symbols)=([^&]*)/, (_, name: keyof ListedWords, word: string) => {
      const all = new Set([...(words[name] ?? []).map(encodeURIComponent), word])
      return `${name}=${[...all].join()}`
    })
  return suggesting(reason, keeping)
}

/** The same suggestions once the column is stored as text, which it stays until the columns are replaced. */
export function replacing(reason: TextReason): TextReason {
  return suggesting(reason, (suggestion) => `${suggestion}&columns=replace`)
}

function suggesting(
  { try: one, or, ...reason }: TextReason,
  change: (suggestion: string) => string,
): TextReason {
  return {
    ...reason,
    ...(one !== undefined && { try: change(one) }),
    ...(or !== undefined && { or: change(or) }),
  }
}

/** A column of an upload, with the reason why it is text. */
export interface ExplainedColumn extends Column {
  readonly because?: TextReason
}

/** @param words how the reasons name options, which they have as in a query string */
export function explainedColumns(
  columns: readonly Column[],
  reasons: readonly (TextReason | undefined)[] = [],
  words: Words = libraryWords,
): ExplainedColumn[] {
  return columns.map((column, index) => {
    const because = reasons[index]
    return because ? { ...column, because: suggesting(because, words) } : column
  })
}

/** One of the things that are wrong with an upload. */
export interface UploadFault {
  readonly row?: number
  readonly column?: string
  readonly value?: string
  readonly error: string
  /** The options that `error` names; see `ErrorFields`. */
  readonly hints?: readonly string[]
}

/** How many faults of an upload one error lists. */
export const MOST_FAULTS = 20
/** How many bytes behind the first fault are looked at for others. */
const LOOK_BYTES = 8 << 20

/** Collects faults of an upload, so that one error lists the first twenty of them. */
export class Faults {
  readonly #found: EngineError[] = []
  #looked = 0

  /**
   * Reads bytes of the file, and gives their number as `read` does.
   * @throws EngineError `invalid_upload` if the first fault is far behind them, or if nothing can be read any more; then
   * with the faults before
   */
  during(read: () => number): number {
    try {
      const bytes = read()
      if (this.#found.length > 0) this.#looked += bytes
      if (this.#looked > LOOK_BYTES) this.check()
      return bytes
    } catch (error) {
      const isFault = error instanceof EngineError && error.code === 'invalid_upload'
      if (this.#found.length === 0 || !isFault || error.details?.['errors'] !== undefined) throw error
      this.#found.push(error)
      this.check()
      throw error
    }
  }

  /** @throws EngineError `invalid_upload` if there are enough */
  add(fault: EngineError): void {
    this.#found.push(fault)
    if (this.#found.length >= MOST_FAULTS) this.check()
  }

  /** @throws EngineError `invalid_upload` if there are any */
  check(): void {
    const [first] = this.#found
    if (!first) return
    const errors = this.#found.flatMap(({ marked }) => faultsOf(marked))
    throw withDetails(first, { errors })
  }
}

/** The same error with more details, and perhaps another message. */
export function withDetails(
  { code, cause, marked }: EngineError,
  more: Readonly<Record<string, unknown>>,
  message = marked.message,
): EngineError {
  return new EngineError(code, message, { cause, details: { ...marked.details, ...more } })
}

/** What is wrong with an upload, according to its error, or what that says in other words. */
export function faultsOf({ message, details = {} }: Said): readonly UploadFault[] {
  const { row, column, value, hints, errors } = details as Partial<UploadFault> & {
    readonly errors?: readonly UploadFault[]
  }
  if (errors) return errors
  return [
    {
      ...(row !== undefined && { row }),
      ...(column !== undefined && { column }),
      ...(value !== undefined && { value }),
      error: message,
      ...(hints && { hints }),
    },
  ]
}
