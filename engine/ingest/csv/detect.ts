import { readStart } from '../file.ts'
import type { UploadFormat, UploadOptions } from '../request.ts'
import { needsNumbers } from '../targets.ts'
import { inferType, kindOf, TEXT_KIND } from '../text/text-kinds.ts'
import { decoderOf, encodingOf, type FieldReader, fieldReader } from './syntax.ts'
import { type Field, Tokenizer } from './tokenizer.ts'

const SAMPLE_BYTES = 64 * 1024
const SAMPLE_RECORDS = 100

const DELIMITERS = [',', ';', '\t', '|'] as const
/** So many lines above the header are looked at for titles. */
const MOST_TITLES = 20
/** Texts that programs commonly write for missing values, with those of Excel's errors. */
const USUAL_NULLS = [
  ...['NA', 'N/A', 'n/a', '#N/A', 'NULL', 'null', 'None', '\\N', '-', '--', '–', '—', '.', '..', ':'],
  ...['#DIV/0!', '#NAME?', '#NULL!', '#NUM!', '#REF!', '#VALUE!'],
]
const USUAL_SYMBOLS = ['€', '$', '£', '¥', '円', '%', 'EUR', 'USD', 'GBP', 'JPY', 'CHF']
const USUAL_BOOLEANS = ['t', 'f']
const DATE_FORMS = [
  ...['D.M.YYYY', 'D/M/YYYY', 'M/D/YYYY', 'D-M-YYYY', 'M-D-YYYY'],
  ...['YYYY/M/D', 'YYYY-M-D', 'YYYY.M.D', 'YYYY年M月D日'],
  ...['D.M.YY', 'D/M/YY', 'M/D/YY', 'D MMM YYYY', 'D-MMM-YYYY', 'D-MMM-YY', 'MMM D, YYYY'],
]
const POINTS = [{}, { thousands: ',' }, { thousands: "'" }] as const
const COMMAS = [{ decimal: ',' }, { decimal: ',', thousands: '.' }, { decimal: ',', thousands: ' ' }] as const
/** What values may be, while other options are tried. */
const LENIENT = { nulls: USUAL_NULLS, symbols: USUAL_SYMBOLS }

/**
 * The options with which a person would read a csv file that begins like this one: `given`, and those that differ from
 * the format's rules. What can't be told, such as the month of 01/02/2024, stays text.
 */
export async function detectDialect(
  file: string,
  format: UploadFormat,
  given: UploadOptions,
): Promise<UploadOptions> {
  const bytes = await readStart(file, SAMPLE_BYTES)
  const { dialect: _, ...known } = given
  const encoding = known.encoding ?? encodingOf(bytes)
  const whole = bytes.length < SAMPLE_BYTES
  const text = decoderOf({ encoding }, bytes, { fatal: false }).decode(bytes, { stream: !whole })
  const usual = format === 'tsv' ? '\t' : ','
  const { skip, delimiter, records } = layoutOf(text, usual, known)
  const heading = (records[0] ?? []).map(({ text }) => text)
  const width = Math.max(heading.length, records[1]?.length ?? 0)
  const even = records.filter(({ length }, at) => length === width || at === 0)
  const header = known.header ?? (hasNames(even, known, delimiter) ? 'present' : 'absent')
  const names = header === 'absent' ? undefined : (known.names ?? namesFor(heading, even.slice(1)))
  return {
    ...known,
    ...(encoding !== 'utf-8' && { encoding }),
    ...(delimiter !== usual && { delimiter }),
    ...(skip > 0 && { skip }),
    ...(header === 'absent' ? { header } : names && { names }),
    ...valuesOf(header === 'present' ? even.slice(1) : even, known, delimiter),
  }
}

/** How the values of these rows are written. */
function valuesOf(rows: readonly Field[][], known: UploadOptions, delimiter: string): UploadOptions {
  const numbers = numbersOf(rows, known, delimiter)
  // The last row may be one of totals, which is not in the sample of a longer file.
  const inDates = (some: readonly Field[][]) => datesOf(some, { ...known, ...numbers })
  const dates = known.dates ?? inDates(rows) ?? (rows.length > 2 ? inDates(rows.slice(0, -1)) : undefined)
  const options = { ...known, ...numbers, ...(dates && { dates }) }
  const symbols = known.symbols ?? usefulOf(rows, { ...LENIENT, ...options, symbols: [] }, 'symbols')
  const booleans = known.booleans ?? usefulOf(rows, { ...LENIENT, ...options }, 'booleans')
  const nulls = known.nulls ?? usefulOf(rows, { ...options, symbols, nulls: [] }, 'nulls')
  return {
    ...numbers,
    ...(dates && { dates }),
    ...(symbols.length > 0 && { symbols }),
    ...(booleans.length === 2 && { booleans: known.booleans ?? USUAL_BOOLEANS }),
    ...(nulls.length > 0 && { nulls }),
  }
}

/** The first records, without blank lines and without one that is cut off; none if they are malformed. */
function recordsOf(text: string, delimiter: string): Field[][] {
  const records: Field[][] = []
  const bytes = Buffer.from(`${text}\r`)
  const tokenizer = new Tokenizer(delimiter, (what) => new Error(what))
  try {
    for (let at = 0; records.length < SAMPLE_RECORDS; ) {
      const final = records.length === 0 && !bytes.includes('\n', at)
      const next = tokenizer.read(bytes, at, bytes.length - 1, final)
      if (next === at) break
      at = next
      if (!tokenizer.isBlank) records.push(tokenizer.fields(bytes))
    }
    return records
  } catch {
    return []
  }
}

interface Layout {
  readonly skip: number
  readonly delimiter: string
  readonly records: readonly Field[][]
}

/**
 * Where the header is, and the delimiter that splits the records below it into the most fields, provided that all have
 * the same number of them.
 */
function layoutOf(text: string, usual: string, known: UploadOptions): Layout {
  const delimiters = known.delimiter
    ? [known.delimiter]
    : [usual, ...DELIMITERS.filter((one) => one !== usual)]
  const lines = text.split('\n')
  const from = (skip: number) => lines.slice(skip).join('\n')
  const isBlank = (line: string) => line === '' || line === '\r'
  const filled = lines.findIndex((line) => !isBlank(line))
  const first = known.skip ?? Math.max(0, filled)
  const last = known.skip ?? Math.min(MOST_TITLES, lines.length) - 1
  for (let skip = first; skip <= last; skip++) {
    if (skip > first && isBlank(lines[skip]!)) continue
    const below = from(skip)
    const layouts = delimiters.map((delimiter) => ({ skip, delimiter, records: recordsOf(below, delimiter) }))
    const best = layouts.reduce((a, b) => (widthOf(b.records) > widthOf(a.records) ? b : a))
    const width = widthOf(best.records)
    const isTitle = best.records.length > 1 && isNote(best.records[0]!, width)
    const areNotes = lines
      .slice(first, skip)
      .every((line) => line.trim() === '' || isNote(recordsOf(line, best.delimiter)[0], width))
    // Lines above a single record are no titles of it: more likely they are the table.
    const isTable = skip === first || best.records.length > 1
    if (width > 1 && isTable && !isTitle && areNotes) return best
    // A header is no title because a row is too short: that row is the error.
    const ragged = skip === first && layouts.find(({ records }) => isRagged(records))
    if (ragged) return ragged
  }
  const [delimiter = usual] = delimiters
  return { skip: first, delimiter, records: recordsOf(from(first), delimiter) }
}

/** Whether a record above a table of this width may be a title or a comment, and no header. */
function isNote(record: readonly Field[] | undefined, width: number): boolean {
  if (!record) return false
  const filled = record.filter(({ text }) => text.trim() !== '').length
  const [first] = record
  return filled < width / 2 || (filled === 1 && first!.text !== '') || first!.text.startsWith('# ')
}

/**
 * The number of fields that all records have; 0 if they have different ones. Rows may have one field more than the
 * header, and lines with a single one may follow them.
 */
function widthOf(records: readonly Field[][]): number {
  const [first = [], second = first] = records
  const table = records.slice(1, 1 + records.findLastIndex(({ length }) => length > 1))
  const isEven = second.length - first.length <= 1 && table.every(({ length }) => length === second.length)
  return isEven && second.length >= first.length ? first.length : 0
}

/**
 * Whether records of different lengths may be a table whose first one is the header: more than half have as many fields
 * as it, or all are split, and it has not much fewer fields than the others.
 */
function isRagged(records: readonly Field[][]): boolean {
  const [first = []] = records
  const same = records.filter(({ length }) => length === first.length)
  if (same.length > records.length / 2) return first.length > 1 && !isNote(first, first.length)
  const widest = Math.max(0, ...records.map(({ length }) => length))
  return records.length > 2 && records.every(({ length }) => length > 1) && !isNote(first, widest)
}

/** How columns are called that have no name, or the same one. */
function namesFor(heading: readonly string[], rows: readonly Field[][]): UploadOptions['names'] {
  const more = rows.length > 0 && rows.every(({ length }) => length > heading.length)
  if (more) return rows.every((row) => row.at(-1)!.text === '') ? 'number' : 'index'
  if (heading.length < 2 || !needsNumbers(heading)) return undefined
  return heading[0] === '' && !needsNumbers(heading.slice(1)) ? 'index' : 'number'
}

const NOTHING: Field = { text: '', quoted: false }

/** The separators with which the most columns are numbers; the format's own if no others have more. */
function numbersOf(rows: readonly Field[][], known: UploadOptions, delimiter: string): UploadOptions {
  if (known.decimal || known.thousands) return {}
  const choices = delimiter === ';' ? [{}, ...COMMAS, ...POINTS.slice(1)] : [...POINTS, ...COMMAS]
  const scored = choices.map((options) => {
    const types = typesOf(rows, { ...LENIENT, ...known, ...options })
    return { options, score: types.filter((type) => type !== 'string').length }
  })
  return scored.reduce((a, b) => (b.score > a.score ? b : a)).options
}

/** Whether the first record has names: it does unless its values have the same types as those below it. */
function hasNames(
  [first = [], ...rest]: readonly Field[][],
  known: UploadOptions,
  delimiter: string,
): boolean {
  if (rest.length === 0) return true
  if (first.every(({ text }, at) => at === 0 || /^(?:19|20)\d\d$/.test(text))) return true
  const options = { ...LENIENT, ...known, ...numbersOf(rest, known, delimiter) }
  const own = typesOf([first], options)
  const below = typesOf(rest, options)
  const alike = own.every((type, at) => type === below[at] || (type === 'integer' && below[at] === 'double'))
  return !(alike && own.some((type) => type !== 'string'))
}

/** The form in which some column of text holds days alone; undefined if day and month could be either. */
function datesOf(rows: readonly Field[][], known: UploadOptions): string | undefined {
  const options = { ...LENIENT, ...known }
  const plain = typesOf(rows, options)
  const fitting = DATE_FORMS.filter((dates) =>
    typesOf(rows, { ...options, dates }).some(
      (type, at) => type !== plain[at] && (type === 'date' || type === 'timestamp'),
    ),
  )
  return fitting.length === 1 ? fitting[0] : undefined
}

const USUAL = { nulls: USUAL_NULLS, symbols: USUAL_SYMBOLS, booleans: USUAL_BOOLEANS }

/** The usual texts of an option that occur in columns which have another type with them. */
function usefulOf(rows: readonly Field[][], options: UploadOptions, option: keyof typeof USUAL): string[] {
  const plain = typesOf(rows, options)
  const other = typesOf(rows, { ...options, [option]: USUAL[option] })
  const found = new Set<string>()
  for (const row of rows) {
    row.forEach(({ text, quoted }, at) => {
      if (plain[at] === other[at] || (option === 'nulls' && quoted)) return
      for (const one of USUAL[option]) {
        if (option === 'symbols' ? text.includes(one) : text === one) found.add(one)
      }
    })
  }
  return [...found]
}

/** The types that the columns of these rows would get. */
function typesOf(rows: readonly Field[][], options: UploadOptions) {
  const reader = fieldReader(options)
  return (rows[0] ?? []).map((_, at) =>
    inferType(rows.reduce((mask, row) => mask | kindIn(row[at] ?? NOTHING, reader), 0)),
  )
}

function kindIn(field: Field, { isMissing, isPointed, value }: FieldReader): number {
  if (isMissing(field)) return TEXT_KIND.null
  const { text } = field
  if (isPointed(text)) return TEXT_KIND.text
  return kindOf(value(text, false) ?? text)
}
