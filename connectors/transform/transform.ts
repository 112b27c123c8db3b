import type { Observation, Series, SeriesRange } from '../connector.ts'
import { invalid, quoted } from '../errors.ts'
import { arranged } from '../observations.ts'
import { addDays, addMonths, firstDay, isDate, MONTHS_IN, periodOfDate } from '../periods.ts'

export const CONVERSIONS = ['monthly', 'quarterly', 'annual'] as const
export const AGGREGATES = ['mean', 'sum', 'end'] as const
const PLAIN = ['none', 'change', 'percent', 'yoy', 'log'] as const

/** How a series is changed: first to another frequency, then by a transformation of the result. */
export interface SeriesQuery extends Omit<SeriesRange, 'vintages'> {
  /**
   * `change`: difference to the period before; `percent`: the same in percent; `yoy`: in percent from a year ago;
   * `log`: the natural logarithm; `index:2015-01-01`: 100 in the period of that date.
   */
  readonly transform?: string | undefined
  readonly frequency?: string | undefined
  /** How the values of a period are combined into one. Default `mean`. */
  readonly aggregate?: string | undefined
  /** `all`, `first` or `latest:5`. For one series, with a range alone. */
  readonly vintages?: string | undefined
}

type Plan = ReturnType<typeof planOf>

/** The parsed options. Throws `invalid_option`. */
export function planOf({ transform = 'none', frequency, aggregate }: SeriesQuery) {
  if (aggregate !== undefined && frequency === undefined) {
    throw invalid(
      'aggregate says how values are combined into a lower frequency, so it needs the parameter frequency.',
    )
  }
  const conversion =
    frequency === undefined
      ? undefined
      : {
          frequency: oneOf('frequency', frequency, CONVERSIONS),
          aggregate: oneOf('aggregate', aggregate ?? 'mean', AGGREGATES),
        }
  const date = /^index:(.*)$/s.exec(transform)?.[1]
  if (date === undefined) {
    const shapes = [...PLAIN, 'index:2015-01-01']
    const kind = PLAIN.find((each) => each === transform)
    if (kind === undefined)
      throw invalid(`transform must be one of ${shapes.join(', ')}, not ${quoted(transform)}.`)
    return { transform: { kind }, conversion }
  }
  if (!isDate(date)) {
    throw invalid(`transform=index must name a date, as index:2015-01-01, not ${quoted(transform)}.`)
  }
  return { transform: { kind: 'index' as const, date }, conversion }
}

/** The vintages that a query wants. Throws `invalid_option`. */
export function vintagesOf({ vintages, ...others }: SeriesQuery): SeriesRange['vintages'] {
  if (vintages === undefined) return undefined
  const [other] = (['asOf', 'transform', 'frequency', 'aggregate'] as const).filter(
    (name) => others[name] !== undefined,
  )
  if (other !== undefined) throw invalid(`vintages can't be combined with ${other}.`)
  if (vintages === 'all' || vintages === 'first') return vintages
  const [, number] = /^latest:([1-9]\d{0,4})$/.exec(vintages) ?? []
  if (number !== undefined) return Number(number)
  throw invalid(`vintages must be all, first or latest:5, not ${quoted(vintages)}.`)
}

/** The dates that must be requested so that the first and the last wanted period can be calculated. */
export function reachOf(range: SeriesRange, { transform, conversion }: Plan): SeriesRange {
  const isPlain = transform.kind === 'none' || transform.kind === 'log'
  if (isPlain && conversion === undefined) return range
  const looksBack = transform.kind === 'change' || transform.kind === 'percent' || transform.kind === 'yoy'
  const base = transform.kind === 'index' ? [transform.date] : []
  const starts = range.start === undefined ? [] : [range.start, ...base]
  const ends = range.end === undefined ? [] : [range.end, ...base]
  const [start] = starts.sort()
  const end = ends.sort().at(-1)
  return {
    ...range,
    start: start && `${pad(yearOf(start) - (looksBack ? 2 : 0))}-01-01`,
    end: end && `${pad(yearOf(end))}-12-31`,
  }
}

function oneOf<T extends string>(name: string, value: string, known: readonly T[]): T {
  const found = known.find((each) => each === value)
  if (found === undefined) throw invalid(`${name} must be one of ${known.join(', ')}, not ${quoted(value)}.`)
  return found
}

const yearOf = (date: string) => Number(date.slice(0, 4))
const pad = (year: number) => String(Math.max(0, year)).padStart(4, '0')

type Whole = Series & { readonly provider: string }

/** Transformations that look for other periods than an observation's own. */
const COUNTS_PERIODS: ReadonlySet<string> = new Set(['change', 'percent', 'yoy', 'index'])

/** How many days before the same day a year ago the last observation may be: that day may have been a holiday. */
const YEAR_SLACK_DAYS = 7

/**
 * Transforms the series as the plan says and cuts it to the range. The previous period is found by the calendar and not
 * by the row before, so that there is no change across a gap. Daily data have no such calendar, so for them it is the
 * previous observation. Throws `invalid_option` if the series can't be transformed like this.
 */
export function transformed<T extends Whole>(
  { frequencyDoubt, ...series }: T,
  plan: Plan,
  range: SeriesRange,
): Omit<T, 'frequencyDoubt'> {
  const { conversion, transform } = plan
  if (frequencyDoubt !== undefined && (conversion !== undefined || COUNTS_PERIODS.has(transform.kind))) {
    const what = conversion === undefined ? transform.kind : 'conversion'
    const sentence = `The series ${series.series_id} allows no ${what}, because its frequency is uncertain. ${frequencyDoubt}`
    throw invalid(sentence, series.provider)
  }
  const frequency = conversion?.frequency ?? series.frequency
  const all = conversion === undefined ? series.observations : converted(series, conversion)
  const made = { ...series, frequency, observations: all }
  if (transform.kind === 'none') return { ...made, observations: arranged(all, range) }
  const { work, unit } = workOf(made, transform)
  const observations = all.map((one, index) => {
    const value = work(one, index)
    return { ...one, value: value !== null && Number.isFinite(value) ? value : null }
  })
  return { ...made, unit, observations: arranged(observations, range) }
}

type Work = (one: Observation, index: number) => number | null

/** The value that a transformation gives to an observation, and the unit of the result. */
function workOf(series: Whole, transform: Plan['transform']): { work: Work; unit: string | null } {
  const { unit } = series
  switch (transform.kind) {
    case 'none':
      return { work: ({ value }) => value, unit }
    case 'change':
      return { work: compared(beforeOf(series), (now, then) => now - then), unit }
    case 'percent':
      return { work: compared(beforeOf(series), percent), unit: 'percent change' }
    case 'yoy':
      return { work: compared(yearBeforeOf(series), percent), unit: 'percent change from a year ago' }
    case 'log':
      return {
        work: ({ value }) => (value === null || value <= 0 ? null : Math.log(value)),
        unit: unit === null ? 'natural logarithm' : `natural logarithm of ${unit}`,
      }
    case 'index': {
      const base = baseOf(series, transform.date)
      return {
        work: ({ value }) => (value === null ? null : (value / base) * 100),
        unit: `index, ${transform.date} = 100`,
      }
    }
    default:
      return transform satisfies never
  }
}

const percent = (now: number, then: number) => (then === 0 ? null : ((now - then) / then) * 100)

function compared(earlier: Work, work: (now: number, then: number) => number | null): Work {
  return (one, index) => {
    const then = earlier(one, index)
    return one.value === null || then === null ? null : work(one.value, then)
  }
}

/** The value of the period before an observation; null if there is none. */
function beforeOf({ observations, frequency }: Series): Work {
  const months = MONTHS_IN[frequency ?? '']
  const days = frequency === 'weekly' ? 7 : frequency === 'biweekly' ? 14 : undefined
  if (months === undefined && days === undefined) return (_, index) => observations[index - 1]?.value ?? null
  const byFirstDay = valuesByFirstDay(observations, frequency)
  return (one) => {
    const first = firstDay(one, frequency)
    return byFirstDay.get(months === undefined ? addDays(first, -days!) : addMonths(first, -months)) ?? null
  }
}

/** The value of the same period a year ago: for weeks 52 weeks before, for days the last one up to the same day. */
function yearBeforeOf(series: Whole): Work {
  const { observations, frequency } = series
  if (frequency === 'intraday') {
    throw invalid(
      `The series ${series.series_id} is intraday: it has no corresponding period a year before.`,
      series.provider,
    )
  }
  const byFirstDay = valuesByFirstDay(observations, frequency)
  if (frequency !== null && frequency in MONTHS_IN) {
    return (one) => byFirstDay.get(addMonths(firstDay(one, frequency), -12)) ?? null
  }
  if (frequency === 'weekly' || frequency === 'biweekly') {
    return (one) => byFirstDay.get(addDays(firstDay(one, frequency), -364)) ?? null
  }
  return ({ date }) => {
    const day = addMonths(date, -12)
    for (let back = 0; back <= YEAR_SLACK_DAYS; back++) {
      const value = byFirstDay.get(addDays(day, -back))
      if (value !== undefined && value !== null) return value
    }
    return null
  }
}

/** The value of the period that contains a date; for days the last one up to the date. */
function baseOf(series: Whole, date: string): number {
  const { frequency, observations } = series
  const isPeriod = frequency !== null && frequency in MONTHS_IN
  const wanted = isPeriod ? periodOfDate(date, frequency).date : date
  const from = isPeriod ? wanted : addDays(date, -YEAR_SLACK_DAYS)
  const known = observations.filter((one) => {
    const first = firstDay(one, frequency)
    return one.value !== null && first >= from && first <= wanted
  })
  const base = known.at(-1)?.value ?? 0
  if (base !== 0) return base
  const sentence = `The series ${series.series_id} has no value other than 0 at ${date} to use as 100.`
  throw invalid(sentence, series.provider)
}

function valuesByFirstDay(
  observations: readonly Observation[],
  frequency: string | null,
): ReadonlyMap<string, number | null> {
  return new Map(observations.map((one) => [firstDay(one, frequency), one.value]))
}

type Conversion = NonNullable<Plan['conversion']>

interface Dated {
  readonly first: string
  readonly observation: Observation
}

/**
 * Series that are not made of months: the days between two values, and the longest gap, in days, in which nothing is
 * missing. Around a holiday a week may be dated by another day, and business days may be holidays.
 */
interface Pace {
  readonly days: number
  readonly longest: number
}
const PACES: Readonly<Record<string, Pace>> = {
  daily: { days: 7, longest: 7 },
  intraday: { days: 7, longest: 7 },
  weekly: { days: 7, longest: 10 },
  biweekly: { days: 14, longest: 17 },
}
const EVERY_DAY: Pace = { days: 1, longest: 1 }
/** A daily series with at least this share of its values on Saturdays and Sundays has a value for every day. */
const WEEKEND_SHARE = 1 / 7

/**
 * Converts the series to a lower frequency. A period of which something is missing gets the value null and the status
 * `incomplete`. A period made of months is complete if it has all of its months (for `end`: the last one); a period
 * made of days or weeks is complete if there is no longer gap in it than holidays make (for `end`: none at its end).
 * Throws `invalid_option` if the series itself has a lower frequency or if its frequency is unknown.
 */
function converted(series: Whole, conversion: Conversion): Series['observations'] {
  const { frequency: from } = series
  const { frequency: to } = conversion
  if (from === to) return series.observations
  const months = MONTHS_IN[from ?? '']
  const isNarrow = from !== null && Object.hasOwn(PACES, from)
  const isFiner = isNarrow || (months !== undefined && months < MONTHS_IN[to]!)
  if (!isFiner || (months !== undefined && MONTHS_IN[to]! % months !== 0)) {
    const own = from === null ? 'has no known frequency' : `is ${from}`
    throw invalid(`The series ${series.series_id} can't be made ${to}: it ${own}.`, series.provider)
  }
  const dated = series.observations.map((observation) => ({
    first: firstDay(observation, from),
    observation,
  }))
  const groups = Map.groupBy(dated, ({ first }) => periodOfDate(first, to).date)
  const days = months === undefined ? daysWithValues(dated) : []
  const pace = from === 'daily' && isEveryDay(days) ? EVERY_DAY : PACES[from!]!
  const isWhole = (start: string, group: readonly Dated[]) =>
    months === undefined ? !hasGap(days, start, pace, conversion) : hasEach(group, start, months, conversion)
  return [...groups].map(([start, group]) => aggregated(start, group, conversion, isWhole(start, group)))
}

function aggregated(
  start: string,
  group: readonly Dated[],
  { frequency, aggregate }: Conversion,
  isWhole: boolean,
): Observation {
  const { date, period } = periodOfDate(start, frequency)
  const at = { date, ...(period === undefined ? {} : { period }) }
  const values = group.flatMap(({ observation: { value } }) => (value === null ? [] : [value]))
  if (!isWhole || values.length === 0) {
    return { ...at, value: null, status: isWhole ? 'missing' : 'incomplete' }
  }
  const statuses = [...new Set(group.flatMap(({ observation: { status } }) => status ?? []))]
  const status = statuses.length === 0 ? {} : { status: statuses.join(', ') }
  return { ...at, value: COMBINED[aggregate](values), ...status }
}

const COMBINED: Readonly<Record<Conversion['aggregate'], (values: readonly number[]) => number>> = {
  mean: (values) => sum(values) / values.length,
  sum,
  end: (values) => values.at(-1)!,
}

function hasEach(
  group: readonly Dated[],
  start: string,
  months: number,
  { frequency, aggregate }: Conversion,
): boolean {
  const has = new Set(group.filter(({ observation }) => observation.value !== null).map(({ first }) => first))
  const count = MONTHS_IN[frequency]! / months
  const parts = Array.from({ length: count }, (_, index) => addMonths(start, index * months))
  return aggregate === 'end' ? has.has(parts.at(-1)!) : parts.every((part) => has.has(part))
}

/** The days that have a value, oldest first. */
function daysWithValues(all: readonly Dated[]): readonly string[] {
  return all.flatMap(({ first, observation }) => (observation.value === null ? [] : [first])).sort()
}

function isEveryDay(days: readonly string[]): boolean {
  const weekend = days.filter((day) => [0, 6].includes(new Date(day).getUTCDay()))
  return weekend.length >= days.length * WEEKEND_SHARE
}

/** Whether too long a gap lies in a period (for `end`: at its end). */
function hasGap(
  days: readonly string[],
  start: string,
  pace: Pace,
  { frequency, aggregate }: Conversion,
): boolean {
  const last = addDays(addMonths(start, MONTHS_IN[frequency]!), -1)
  const inside = days.filter((day) => day >= start && day <= last)
  // A week that began in the month before may be the first of a month. Where the series itself begins or ends, its first
  // or last value may be as far from the end of the month as one value is from the next.
  const before = days.findLast((day) => day < start) ?? addDays(start, pace.days - 1 - pace.longest)
  const after = days.find((day) => day > last) ?? addDays(last, 1 - pace.days + pace.longest)
  const all = [before, ...inside, after]
  const gaps = all.slice(1).map((day, index) => (Date.parse(day) - Date.parse(all[index]!)) / 86_400_000)
  return aggregate === 'end' ? gaps.at(-1)! > pace.longest : gaps.some((gap) => gap > pace.longest)
}

/**
 * Sums of floating-point numbers such as 0.1 and 0.2 have rounding errors. They are collected and added at the end
 * (Neumaier).
 */
function sum(values: readonly number[]): number {
  let total = 0
  let lost = 0
  for (const value of values) {
    const next = total + value
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total
    total = next
  }
  return total + lost
}
