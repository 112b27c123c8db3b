import type { Observation, Series } from '../connector.ts'
import { addDays, periodOfDate } from '../periods.ts'
import { addMonths, firstDay, MONTHS_IN } from './calendar.ts'
import { invalid, type Plan } from './options.ts'

type Conversion = NonNullable<Plan['conversion']>

interface Dated {
  readonly first: string
  readonly observation: Observation
}

/**
 * Days at either end of a period that may have no observation, because of holidays and because weeks begin on other
 * days.
 */
const SLACK_DAYS = 7
const NARROW: readonly (string | null)[] = ['daily', 'weekly', 'biweekly', 'intraday']

/**
 * Converts the series to a lower frequency. A period of which something is missing gets the value null and the status
 * `incomplete`. A period made of months is complete if it has all of its months (for `end`: the last one); a period
 * made of days or weeks is complete if the series neither begins nor ends within it.
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
  const isFiner = NARROW.includes(from) || (months !== undefined && months < MONTHS_IN[to]!)
  if (!isFiner || (months !== undefined && MONTHS_IN[to]! % months !== 0)) {
    const own = from === null ? 'has no known frequency' : `is ${from}`
    throw invalid(`The series ${series.series_id} can't be made ${to}: it ${own}.`, series.provider)
  }
  const dated = series.observations.map((observation) => ({
    first: firstDay(observation, from),
    observation,
  }))
  const groups = Map.groupBy(dated, ({ first }) => periodOfDate(first, to).date)
  const isWhole = (start: string, group: readonly Dated[]) =>
    months === undefined ? reachesBothEnds(dated, start, to) : hasEach(group, start, months, conversion)
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

function reachesBothEnds(all: readonly Dated[], start: string, frequency: string): boolean {
  const end = addDays(addMonths(start, MONTHS_IN[frequency]!), -1)
  const [first = '9999', last = ''] = [all[0]?.first, all.at(-1)?.first]
  return first <= addDays(start, SLACK_DAYS - 1) && last >= addDays(end, 1 - SLACK_DAYS)
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
