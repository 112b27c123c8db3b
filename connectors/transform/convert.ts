import type { Observation, Series } from '../connector.ts'
import { invalid } from '../errors.ts'
import { addDays, addMonths, firstDay, MONTHS_IN, periodOfDate } from '../periods.ts'
import type { Plan } from './options.ts'

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
export function converted(
  series: Series & { readonly provider: string },
  conversion: Conversion,
): Series['observations'] {
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
  switch (aggregate) {
    case 'mean':
      return { ...at, value: sum(values) / values.length, ...status }
    case 'sum':
      return { ...at, value: sum(values), ...status }
    case 'end':
      return { ...at, value: values.at(-1)!, ...status }
    default:
      return aggregate satisfies never
  }
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
