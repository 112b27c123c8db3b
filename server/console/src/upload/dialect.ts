import { type Field, parseCsv } from '../csv.ts'
import type { UploadFormat } from './formats.ts'
import { inferType } from './infer.ts'

/** How a text file is written. Detected from its beginning; the user can correct it. */
export interface Dialect {
  readonly delimiter: Delimiter
  readonly decimal: '.' | ','
  readonly encoding: Encoding
  /** `index`: the first line has the names, but the first column has none, as R and pandas write it. */
  readonly header: 'present' | 'index' | 'absent'
  /** How days are written. */
  readonly dates: DateForm
  /** Texts that mean a missing value. */
  readonly nulls: readonly string[]
}

export const DELIMITERS = [',', ';', '\t', '|'] as const
export type Delimiter = (typeof DELIMITERS)[number]

export const ENCODINGS = ['utf-8', 'latin1', 'utf-16'] as const
export type Encoding = (typeof ENCODINGS)[number]

export const DATE_FORMS = ['YYYY-MM-DD', 'D.M.YYYY', 'D/M/YYYY', 'M/D/YYYY'] as const
export type DateForm = (typeof DATE_FORMS)[number]

/** Texts that programs commonly write for missing values. */
const USUAL_NULLS = ['NA', 'N/A', '#N/A', 'NULL', 'null', 'None', '\\N', '-']
/** The number of lines from which the dialect is detected. */
const LINES = 50

/** Detects the dialect of a file. @param bytes the beginning of the file */
export function detectDialect(bytes: Uint8Array, format: 'csv' | 'tsv'): Dialect {
  const encoding = encodingOf(bytes)
  const text = decode(bytes, encoding)
  const delimiter = delimiterOf(text, format)
  const lines = linesOf(text, delimiter)
  const decimal = delimiter === ',' ? '.' : decimalOf(lines)
  const header = hasNames(lines.map((line) => line.map((field) => pointed(field, decimal))))
  const rows = header ? lines.slice(1) : lines
  const dates = dateFormOf(rows)
  return {
    encoding,
    delimiter,
    decimal,
    header: header ? (lines[0]?.[0] ? 'present' : 'index') : 'absent',
    dates,
    nulls: nullsOf(rows.map((row) => row.map((field) => isoDate(pointed(field, decimal), dates)))),
  }
}

/** The upload options for a dialect, without those that have the format's default. */
export function dialectOptions(dialect: Dialect, format: UploadFormat): Readonly<Record<string, string>> {
  const { delimiter, decimal, encoding, header, dates, nulls } = dialect
  return {
    ...(delimiter !== (format === 'tsv' ? '\t' : ',') && {
      delimiter: delimiter === '\t' ? 'tab' : delimiter,
    }),
    ...(decimal !== '.' && { decimal }),
    ...(encoding !== 'utf-8' && { encoding }),
    ...(header === 'absent' && { header }),
    ...(header === 'index' && { names: 'index' }),
    ...(dates !== 'YYYY-MM-DD' && { dates }),
    ...(nulls.length > 0 && { nulls: nulls.join(',') }),
  }
}

/**
 * Decodes the beginning of a file. An incomplete character at the end is ignored. @throws TypeError for invalid bytes
 */
export function decode(bytes: Uint8Array, encoding: Encoding): string {
  if (encoding === 'latin1') return new TextDecoder('windows-1252').decode(bytes)
  const bigEndian = bytes[0] === 0xfe && bytes[1] === 0xff
  const label = encoding === 'utf-16' ? (bigEndian ? 'utf-16be' : 'utf-16le') : 'utf-8'
  return new TextDecoder(label, { fatal: true }).decode(bytes, { stream: true })
}

/** Converts a field as the server does: missing values become null, decimal commas become points, days ISO 8601. */
export function readField(field: Field, dialect: Dialect): Field {
  return isoDate(pointed(readText(field, dialect), dialect.decimal), dialect.dates)
}

const DAY = /^(\d{1,2})([./])(\d{1,2})\2(\d{4})(?:[ T](\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?))?$/

/** A day in a form, and the time after it, as ISO 8601; any other field as it is. */
function isoDate(field: Field, form: DateForm): Field {
  const [, first, sign, second, year, clock] = DAY.exec(field ?? '') ?? []
  if (year === undefined || form[1] !== sign) return field
  const [day, month] = form.startsWith('M') ? [second!, first!] : [first!, second!]
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return clock === undefined ? date : `${date}T${/^\d:/.test(clock) ? '0' : ''}${clock}`
}

/** The form in which some column holds days alone. Where day and month could be either, the user has to say it. */
function dateFormOf(rows: readonly (readonly Field[])[]): DateForm {
  const columns = (rows[0] ?? []).map((_, at) =>
    rows.flatMap((row) => {
      const value = row[at] ?? null
      return value === null || USUAL_NULLS.includes(value) ? [] : [value]
    }),
  )
  const fitting = DATE_FORMS.filter((form) =>
    columns.some(
      (values) =>
        values.length > 0 &&
        values.every((value) => DAY.test(value)) &&
        ['date', 'timestamp'].includes(inferType(values.map((value) => isoDate(value, form)))),
    ),
  )
  return fitting.length === 1 ? fitting[0]! : 'YYYY-MM-DD'
}

const COMMA_NUMBER = /^\s*[-+]?\d*,\d+(?:[eE][-+]?\d+)?\s*$/

function pointed(field: Field, decimal: '.' | ','): Field {
  return decimal === ',' && field !== null && COMMA_NUMBER.test(field)
    ? field.trim().replace(',', '.')
    : field
}

const POINT_NUMBER = /^[-+]?(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?$/

/** Whether a field is a number with a point where numbers have a comma. The server then reads its column as text. */
export function isTextByPoint(field: Field, { decimal, nulls }: Dialect): boolean {
  return decimal === ',' && field !== null && POINT_NUMBER.test(field) && !nulls.includes(field)
}

/** Converts a field of a column of text as the server does: only missing values change. */
export function readText(field: Field, { nulls }: Dialect): Field {
  return field !== null && nulls.includes(field) ? null : field
}

function encodingOf(bytes: Uint8Array): Encoding {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return 'utf-16'
  // In UTF-16, every other byte of Western text is zero. UTF-8 text contains no zeros.
  if (bytes.subarray(0, 200).includes(0)) return 'utf-16'
  try {
    decode(bytes, 'utf-8')
    return 'utf-8'
  } catch {
    return 'latin1'
  }
}

/** The delimiter that splits the lines into the most fields, provided that all lines have the same number. */
function delimiterOf(text: string, format: 'csv' | 'tsv'): Delimiter {
  const usual = format === 'tsv' ? '\t' : ','
  const found = DELIMITERS.map((delimiter) => {
    const lines = linesOf(text, delimiter)
    const width = lines[0]?.length ?? 0
    const isEven = lines.every((line) => line.length === width || (line.length === 1 && line[0] === null))
    return { delimiter, width: isEven ? width : 0 }
  })
  const best = found.reduce((a, b) => (b.width > a.width ? b : a))
  const own = found.find(({ delimiter }) => delimiter === usual)!
  return best.width > Math.max(1, own.width) ? best.delimiter : usual
}

function linesOf(text: string, delimiter: Delimiter): Field[][] {
  try {
    const lines = parseCsv(text, { delimiter, head: true, maxRows: LINES })
    // The last line of a short file may have no line end, so `head` would ignore it.
    return lines.length > 0 ? lines : parseCsv(text, { delimiter, maxRows: 1 })
  } catch {
    return []
  }
}

function decimalOf(lines: readonly (readonly Field[])[]): '.' | ',' {
  let commas = 0
  let points = 0
  for (const field of lines.flat()) {
    if (field === null) continue
    if (COMMA_NUMBER.test(field)) commas += 1
    else if (/^-?\d*\.\d+$/.test(field)) points += 1
  }
  return commas > points ? ',' : '.'
}

/**
 * Whether the first line contains column names. It does unless its values have the same types as the lines below it.
 */
function hasNames(lines: readonly (readonly Field[])[]): boolean {
  const [first = [], ...rest] = lines
  if (rest.length === 0) return true
  const years = first.every((field, at) => at === 0 || /^(?:19|20)\d\d$/.test(field ?? ''))
  if (years) return true
  const types = first.map((field, at) => [
    field === null ? 'string' : inferType([field]),
    inferType(rest.map((row) => row[at] ?? null)),
  ])
  const alike = types.every(([own, below]) => own === below || (own === 'integer' && below === 'double'))
  return !(alike && types.some(([own]) => own !== 'string'))
}

/** Common texts for missing values in columns that would have another type than string without them. */
function nullsOf(rows: readonly (readonly Field[])[]): string[] {
  const found = new Set<string>()
  for (let at = 0; at < (rows[0]?.length ?? 0); at += 1) {
    const values = rows.map((row) => row[at] ?? null)
    if (inferType(values) !== 'string') continue
    const rest = values.filter((value) => value !== null && !USUAL_NULLS.includes(value))
    if (rest.length === 0 || inferType(rest) === 'string') continue
    for (const value of values) if (value !== null && USUAL_NULLS.includes(value)) found.add(value)
  }
  return [...found]
}
