import type { Observation, Row, Series, SeriesData, SeriesRange } from './connector.ts'
import { ConnectorError, quoted } from './errors.ts'
import { notUnderstood } from './failures.ts'
import { asInstant, comparePeriods, inFrequency, isDate, type Period, parsePeriod } from './periods.ts'
import { type Json, number, text } from './read.ts'

/**
 * Makes observations from rows in any order. In a series of longer periods, a day or a month stands for the period that
 * contains it, whose first day becomes the date. If two rows would then have the same period, they don't follow the
 * frequency, so all stay as they are. Of rows that are the same only one is taken. Rows whose time can't be read are left
 * out, and a value that can't be read is null with a status that says why.
 * @throws ConnectorError `not_understood` if no row has a readable time, or if there are digits but no numbers
 */
function observed(rows: readonly Row[], frequency: string | null): readonly Observation[] {
  const says = ({ time, value, status, known }: Row) =>
    `${text(time)} ${text(value)} ${status} ${known?.from}`
  const distinct = new Map(rows.map((row) => [says(row), row]))
  const parsed = [...distinct.values()].flatMap(({ time, value, status, known }) => {
    const written = parsePeriod(text(time) ?? '')
    return written === undefined
      ? []
      : [{ written, value: number(value), status: statusOfValue(value, status), known }]
  })
  if (hasOnlyUnread(rows.map(({ value }) => value))) throw notUnderstood('none of its values is a number')
  const isIntraday =
    frequency === 'intraday' || parsed.some(({ written }) => written.frequency === 'intraday')
  const read = isIntraday ? parsed.map((row) => ({ ...row, written: asInstant(row.written) })) : parsed
  if (rows.length > 0 && read.length === 0) throw notUnderstood('no row has a time that can be read')
  const periods = read.map(({ written }) => inFrequency(written, frequency))
  const nameOf = ({ date, period }: Pick<Period, 'date' | 'period'>) => period ?? date
  // A period has a row for each of its vintages.
  const count = read.some(({ known }) => known)
    ? new Set(read.map((row) => nameOf(row.written))).size
    : read.length
  const isByPeriod = new Set(periods.map(nameOf)).size === count
  return read.map(({ written, value, status, known }, index) => {
    const { date, period } = isByPeriod ? periods[index]! : written
    return {
      date,
      ...(period === undefined ? {} : { period }),
      value,
      ...(status === undefined ? {} : { status }),
      ...(known && { known_from: known.from, known_to: known.to }),
    }
  })
}

/**
 * Whether no value could be read although there are digits. Then the reader is wrong, and the series is more than gaps.
 */
function hasOnlyUnread(values: readonly (Json | undefined)[]): boolean {
  return values.every((each) => number(each) === null) && values.some((each) => /\d/.test(text(each) ?? ''))
}

/** What is not known of a series, in the order in which JSON has it. */
const UNKNOWN = {
  unit: null,
  seasonalAdjustment: null,
  source: null,
  notes: null,
  dimensions: null,
  start: null,
  end: null,
  lastUpdated: null,
}

/**
 * The complete series: observations in order and within the range, and null for the fields that the provider didn't
 * give.
 */
export function completed(series: SeriesData, range: SeriesRange, id: string): Series {
  const { rows, name, frequency, ...given } = series
  const isCertain = given.frequencyDoubt === undefined
  const observations = arranged(observed(rows, isCertain ? frequency : null), range)
  const isWhole = range.start === undefined && range.end === undefined
  const known = Object.entries(given).filter(([, value]) => value !== undefined)
  const extent = isWhole
    ? { start: observations[0]?.date ?? null, end: observations.at(-1)?.date ?? null }
    : {}
  return { series_id: id, name, frequency, ...UNKNOWN, ...extent, ...Object.fromEntries(known), observations }
}

/**
 * Sorts observations, oldest first, and cuts them to the range, because providers keep to neither. Equal dates keep
 * their order.
 */
export function arranged(
  observations: readonly Observation[],
  { start, end }: SeriesRange,
): readonly Observation[] {
  return observations
    .filter(({ date }) => (start === undefined || date >= start) && (end === undefined || date <= end))
    .sort(isAfter)
}

function isAfter(a: Observation, b: Observation): number {
  if (a.date !== b.date) return a.date < b.date ? -1 : 1
  const [left = '', right = ''] = [a.period, b.period]
  return comparePeriods(left, right)
}

/** The range of a query. Throws `invalid_range`. */
export function checkedRange({ start, end, asOf }: Omit<SeriesRange, 'vintages'>): SeriesRange {
  const range = { start, end, asOf }
  for (const [name, value] of Object.entries(range)) {
    if (value !== undefined && !isDate(value)) {
      throw new ConnectorError('invalid_range', `${name} must be a date as 2024-01-31, not ${quoted(value)}.`)
    }
  }
  if (start !== undefined && end !== undefined && start > end) {
    throw new ConnectorError('invalid_range', `start (${start}) must not be after end (${end}).`)
  }
  return range
}

/** SDMX code list CL_OBS_STATUS 2.2. Eurostat writes the same letters in lower case, and several of them together. */
const WORDS: Readonly<Record<string, string>> = {
  B: 'break',
  C: 'confidential',
  D: 'definition differs',
  E: 'estimated',
  F: 'forecast',
  G: 'experimental',
  H: 'missing, holiday',
  I: 'imputed',
  J: 'derogation',
  K: 'included in another category',
  L: 'missing, not collected',
  M: 'missing, can not exist',
  N: 'not significant',
  O: 'missing',
  P: 'provisional',
  Q: 'missing, suppressed',
  R: 'revised',
  S: 'strike or other special event',
  U: 'low reliability',
  V: 'unvalidated',
  W: 'includes another category',
  X: 'includes another category',
  Z: 'not applicable',
}

/** Labels of `A`, for a value of which nothing needs to be said. */
const NORMAL = /\b(normal|norm|official|actual|reported)/

/**
 * The words for a code. The provider's own label decides, because some providers use the letters of the code list for
 * something else; where it means the same as the list (`Provisional value`), the list's words are used. An unknown code
 * is returned as it is; no code and `A`, a normal value, give undefined.
 */
export function statusOfCode(code: string | null | undefined, label?: string): string | undefined {
  const text = code?.trim() ?? ''
  const own = label?.trim().toLowerCase()
  if (text === '' || (text === 'A' && (own === undefined || NORMAL.test(own)))) return undefined
  const listed = Object.hasOwn(WORDS, text) ? WORDS[text] : undefined
  if (own === undefined || own === '' || (listed !== undefined && shareWord(own, listed)))
    return listed ?? text
  return own
}

/** Whether two texts have a long word in common, whatever its ending and accents: `Value imputed` and `imputed`. */
function shareWord(left: string, right: string): boolean {
  const stems = (text: string) => {
    const plain = text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '')
    return plain.match(/[a-z]{5,}/g)?.map((word) => word.slice(0, 5)) ?? []
  }
  const known = new Set(stems(left))
  return stems(right).some((stem) => known.has(stem))
}

/** The words for Eurostat's flags (`p`, `bep`, `:c`), of which each letter is a flag. */
export function statusOfFlags(flags: string): string | undefined {
  const letters = [...flags.replace(/[\s:]/g, '')].map(
    (letter) => EUROSTAT[letter] ?? statusOfCode(letter.toUpperCase()),
  )
  return letters.length === 0 ? undefined : letters.join(', ')
}

/** The letters that mean something else at Eurostat than in the SDMX code list. */
const EUROSTAT: Readonly<Record<string, string>> = {
  i: 'imputed',
  s: "Eurostat's estimate",
}

/** The codes in parentheses that agencies of the United States write for a value that they don't publish. */
const REASONS: Readonly<Record<string, string>> = {
  D: 'missing, confidential',
  NA: 'missing, not available',
  NM: 'missing, not meaningful',
  S: 'missing, suppressed',
  X: 'missing, not applicable',
}

/** Why a value is missing, from a text that contains such a code; undefined for any other text. */
export function missingReason(text: string | null): string | undefined {
  return REASONS[/\(([A-Z]{1,2})\)/.exec(text ?? '')?.[1] ?? '']
}

/** What providers write where there is no value, in lower case. It says no more than null does. */
const BLANKS = new Set(['.', '..', '...', '-', '--', ':', 'nan', 'null', 'na', 'n/a', 'n.a.'])

/**
 * The status of an observation with this value. A text that is not a number becomes null, and then the status says what
 * stood there: in words for a reason, unless the provider gave a status of its own, and as it was written for anything
 * else, such as `<5`, since it may be more than a gap. A mark such as `.` says nothing.
 */
function statusOfValue(value: Json | undefined, status: string | undefined): string | undefined {
  const written = text(value)
  if (written === null || number(value) !== null || BLANKS.has(written.toLowerCase())) return status
  const meaning = missingReason(written)
  if (meaning !== undefined) return status ?? meaning
  return [status, `reported as ${quoted(written)}`].filter((each) => each !== undefined).join(', ')
}
