/** A provider's period in our terms. */
export interface Period {
  /** The first day of the period, ISO. */
  readonly date: string
  /**
   * `2024`, `2024-S1`, `2024-Q1`, `2024-01`, `2024-W05`, or an instant as `2024-01-05T13:45`, with its offset if the
   * provider writes one (`2024-01-05T13:45-05:00`); absent for a day.
   */
  readonly period?: string
  /** As in `Series.frequency`; `intraday` for an instant. */
  readonly frequency: string
  /** The offset of midnight, which is a day or an instant depending on the series. */
  readonly offset?: string
}

const DAY = 86_400_000
const NOTATION =
  /^(?<year>\d{4})(?:-?(?<letter>[ABDHMQSTW])(?<ordinal>\d{1,3})|-(?<month>\d{1,2})(?:-(?<day>\d{1,2}))?|(?<mm>\d{2})(?<dd>\d{2})?)?$/
const INSTANT =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2})(?::(\d{2})(?::(\d{2})(?:\.\d+)?)?)?(?:Z|([+-]\d{2})(?::?(\d{2}))?)?$/

/** Number of months in a period, for each frequency whose periods are whole months. */
export const MONTHS_IN: Readonly<Record<string, number>> = {
  triennial: 36,
  biennial: 24,
  annual: 12,
  semiannual: 6,
  'four-monthly': 4,
  quarterly: 3,
  bimonthly: 2,
  monthly: 1,
}

/** The frequencies of periods that begin anew with each year, by the letter in their notation. */
const LETTERS: Readonly<Record<string, string>> = {
  A: 'annual',
  S: 'semiannual',
  H: 'semiannual',
  T: 'four-monthly',
  Q: 'quarterly',
  B: 'bimonthly',
  M: 'monthly',
}

/**
 * Reads the notations that providers use: `2024`, `2024-A1`, `2024-S1`, `2024-H1`, `2024S1`, `2024-Q1`, `2024Q1`,
 * `2024-01`, `202401`, `2024-M01`, `2020M01`, `2024-W05` (ISO 8601: begins on a Monday), `2024-D032`, `2024-01-31`,
 * `20240131` and date-times, some of them (`2024-01-31T05-06`) without minutes. Date and time stay those of the provider's
 * own time zone; their offset tells the two hours apart that a clock shows twice when summer time ends. Returns undefined
 * for anything else.
 */
export function parsePeriod(text: string): Period | undefined {
  const trimmed = text.trim()
  if (isDate(trimmed)) return { date: trimmed, frequency: 'daily' }
  const instant = INSTANT.exec(trimmed)
  if (instant !== null) {
    const [, date = '', hour, minute = '00', seconds, offset, past = '00'] = instant
    return instantPeriod(date, `${hour}:${minute}`, seconds, offset && `${offset}:${past}`)
  }
  const match = NOTATION.exec(trimmed.toUpperCase())
  if (match === null) return undefined
  const { year = '', letter, ordinal, mm, dd, month = mm, day = dd } = match.groups!
  if (letter !== undefined) return lettered(Number(year), letter, Number(ordinal))
  if (month === undefined) return wholeMonths(Number(year), 'A', 1)
  return day === undefined ? wholeMonths(Number(year), 'M', Number(month)) : calendarDay(year, month, day)
}

/** Midnight in a series of instants is an instant, although `parsePeriod` reads it as a day. */
export function asInstant(period: Period): Period {
  if (period.period !== undefined) return period
  const { date, offset = '' } = period
  return { date, period: `${date}T00:00${offset}`, frequency: 'intraday' }
}

/** The order of two periods or dates as they are written; instants with an offset are in the order of time. */
export function comparePeriods(left: string, right: string): number {
  const [a, b] = [left, right].map((text) =>
    /T.*[+-]\d{2}:\d{2}$/.test(text) ? Date.parse(text) : Number.NaN,
  )
  return a! - b! || (left < right ? -1 : Number(left > right))
}

function instantPeriod(
  date: string,
  minutes: string,
  seconds: string | undefined,
  offset: string | undefined,
): Period | undefined {
  if (!isDate(date)) return undefined
  const time = seconds === undefined || seconds === '00' ? minutes : `${minutes}:${seconds}`
  return time === '00:00'
    ? { date, frequency: 'daily', ...(offset && { offset }) }
    : { date, period: `${date}T${time}${offset ?? ''}`, frequency: 'intraday' }
}

function lettered(year: number, letter: string, ordinal: number): Period | undefined {
  if (letter === 'W') {
    const monday = mondayOfWeek(year, ordinal)
    const date = isoDate(monday)
    const period = `${pad(year, 4)}-W${pad(ordinal, 2)}`
    return ordinal > 0 && isoWeek(date) === period ? { date, period, frequency: 'weekly' } : undefined
  }
  if (letter === 'D') {
    const date = isoDate(utc(year, 0, ordinal))
    return ordinal > 0 && date.startsWith(pad(year, 4)) ? { date, frequency: 'daily' } : undefined
  }
  return wholeMonths(year, letter, ordinal)
}

function wholeMonths(year: number, letter: string, ordinal: number): Period | undefined {
  const frequency = LETTERS[letter]!
  const months = MONTHS_IN[frequency]!
  if (ordinal < 1 || ordinal * months > 12) return undefined
  const date = isoDate(utc(year, (ordinal - 1) * months, 1))
  return { date, period: label(year, letter, ordinal), frequency }
}

function calendarDay(year: string, month: string, day: string): Period | undefined {
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return isDate(date) ? { date, frequency: 'daily' } : undefined
}

function label(year: number, letter: string, ordinal: number): string {
  if (letter === 'A') return pad(year, 4)
  if (letter === 'M') return `${pad(year, 4)}-${pad(ordinal, 2)}`
  return `${pad(year, 4)}-${letter === 'H' ? 'S' : letter}${ordinal}`
}

/**
 * For a provider that dates a period by any day in it (its first, its last, a trading day): the first day of the period
 * and the notation for that frequency. A weekly date stays as it is, because weeks begin on different days at different
 * providers; so does a date whose frequency is not a calendar period.
 */
export function periodOfDate(date: string, frequency: string | null): Period {
  const name = frequency ?? 'daily'
  if (name === 'weekly') return { date, period: isoWeek(date), frequency: name }
  const letter = Object.keys(LETTERS).find((each) => LETTERS[each] === name)
  if (letter === undefined) return { date, frequency: name }
  const [year = 0, month = 1] = date.split('-').map(Number)
  return wholeMonths(year, letter, Math.floor((month - 1) / MONTHS_IN[name]!) + 1)!
}

/** A day or a month in a series of longer periods stands for the period that contains it. */
export function inFrequency(period: Period, frequency: string | null): Period {
  if (frequency === null || frequency === 'daily') return period
  if (frequency === 'intraday') return asInstant(period)
  const isPart = period.frequency === 'daily' || isPartOf(period.frequency, frequency)
  return isPart ? periodOfDate(period.date, frequency) : period
}

/** Whether a year is divided into both periods, and the longer into the shorter. */
export function isPartOf(shorter: string, longer: string): boolean {
  const [short = 0, long = 0] = [MONTHS_IN[shorter], MONTHS_IN[longer]]
  return short > 0 && short < long && long <= MONTHS_IN['annual']!
}

/** `2024-W05` for the ISO week that contains a date; the year is that of the week's Thursday. */
function isoWeek(date: string): string {
  const time = Date.parse(date)
  const thursday = new Date(time + (3 - ((new Date(time).getUTCDay() + 6) % 7)) * DAY)
  const year = thursday.getUTCFullYear()
  const week = Math.floor((thursday.getTime() - utc(year, 0, 1)) / DAY / 7) + 1
  return `${pad(year, 4)}-W${pad(week, 2)}`
}

function mondayOfWeek(year: number, week: number): number {
  // 4 January is always in week 1.
  const fourth = utc(year, 0, 4)
  return fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY + (week - 1) * 7 * DAY
}

/** The first day of an observation's period: some providers date a period by its last day. */
export function firstDay(
  { date, period }: Pick<Period, 'date' | 'period'>,
  frequency: string | null,
): string {
  const read = period === undefined ? undefined : parsePeriod(period)
  if (read !== undefined && read.frequency === frequency && frequency !== 'weekly') return read.date
  return frequency !== null && frequency in MONTHS_IN ? periodOfDate(date, frequency).date : date
}

/** Whether a text is an ISO date that exists in the calendar, such as `2024-02-29`. */
export function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []
  if (year === undefined || Number(month) < 1 || Number(month) > 12 || Number(day) < 1) return false
  return Number(day) <= daysIn(Number(year), Number(month))
}

/** Number of days in a month, which is counted from 1 and may be of another year. */
function daysIn(year: number, month: number): number {
  return new Date(utc(year, month, 0)).getUTCDate()
}

/** The ISO date a number of days later, or earlier if the number is negative. */
export function addDays(date: string, days: number): string {
  return isoDate(Date.parse(date) + days * DAY)
}

/** The date a number of months later, or earlier if negative. The first day of a month stays a first day. */
export function addMonths(date: string, months: number): string {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number)
  // 29 February doesn't exist a year before: the last day is the 28th then.
  return isoDate(utc(year, month - 1 + months, Math.min(day, daysIn(year, month + months))))
}

/** Years before 0 and after 9999 have a sign and six digits. */
export function isoDate(time: number): string {
  return new Date(time).toISOString().split('T', 1)[0]!
}

/** `Date.UTC` reads the years 0 to 99 as 1900 to 1999. */
function utc(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day)
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0')
}

const FREQUENCIES: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^(a|annual|annually|annuel(le)?|yearly|year|y|p1y)$/, 'annual'],
  [/^(s|h|(semi|bi)-?annual(ly)?|half[- ]?yearly|semester|semestriel(le)?|p6m)$/, 'semiannual'],
  [/^(t|four-?monthly|trimester|p4m)$/, 'four-monthly'],
  [/^(q|quarterly|quarter|trimestriel(le)?|p3m)$/, 'quarterly'],
  [/^((bi|two)-?monthly|bimestriel(le)?|p2m)$/, 'bimonthly'],
  [/^(m|monthly|month|mensuel(le)?|p1m)$/, 'monthly'],
  [/^(bw|bi-?weekly|p2w)$/, 'biweekly'],
  [/^(w|weekly|week|hebdomadaire|p7d|p1w)$/, 'weekly'],
  [
    /^(b|d|daily( [-–] business ?week)?|day|business(-day| day)?s?|weekdays?|quotidien(ne)?|journalier|p1d)$/,
    'daily',
  ],
  [/^(n|(local-)?hourly|minutely|intraday|\d+ ?min|pt.+)$/, 'intraday'],
  [/^(biennial|every (2|two) years|p2y)$/, 'biennial'],
  [/^(triennial|tri-?annual|every (3|three) years|p3y)$/, 'triennial'],
  [/^(irregular|irr[ée]guli(er|[èe]re)|aperiodic|ap[ée]riodique|pluri-?annual|event)$/, 'irregular'],
]

/**
 * Our name for a provider's frequency: a letter of SDMX' CL_FREQ (`B`, business days, counts as daily), an English
 * word, or a phrase that begins with one, such as FRED's `Weekly, Ending Friday`. null for anything else.
 */
export function frequencyName(text: string | null | undefined): string | null {
  const word = (text ?? '').split(/[,(]/, 1)[0]!.trim().toLowerCase()
  return FREQUENCIES.find(([pattern]) => pattern.test(word))?.[1] ?? null
}

/**
 * For a provider that doesn't give the frequency: the one that the gaps between dates (oldest first) suggest, or null.
 */
export function inferFrequency(dates: readonly string[]): string | null {
  const gaps = dates.slice(1).map((date, index) => (Date.parse(date) - Date.parse(dates[index]!)) / DAY)
  if (gaps.length === 0) return null
  const median = gaps.sort((a, b) => a - b)[gaps.length >> 1]!
  if (median <= 0) return null
  if (median <= 4) return 'daily'
  if (median <= 8) return 'weekly'
  if (median <= 16) return 'biweekly'
  if (median <= 32) return 'monthly'
  if (median <= 63) return 'bimonthly'
  if (median <= 93) return 'quarterly'
  if (median <= 190) return 'semiannual'
  return median <= 370 ? 'annual' : null
}
