import type { Observation, Series, SeriesRange } from '../connector.ts'
import { invalid } from '../errors.ts'
import { arranged } from '../observations.ts'
import { addDays, addMonths, firstDay, MONTHS_IN, periodOfDate } from '../periods.ts'
import { converted } from './convert.ts'
import type { Plan } from './options.ts'

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
  const isConverted = conversion !== undefined && conversion.frequency !== series.frequency
  const frequency = isConverted ? conversion.frequency : series.frequency
  const all = conversion === undefined ? series.observations : converted(series, conversion)
  const made = { ...series, frequency, observations: all }
  const { observations, unit } = applied(made, transform)
  return { ...made, unit, observations: arranged(observations, range) }
}

function applied(series: Whole, transform: Plan['transform']): Pick<Series, 'observations' | 'unit'> {
  const { observations, unit } = series
  const each = (value: (observation: Observation, index: number) => number | null) =>
    observations.map((one, index) => ({ ...one, value: finite(value(one, index)) }))
  switch (transform.kind) {
    case 'none':
      return { observations, unit }
    case 'change': {
      const before = beforeOf(series)
      const change = (one: Observation, index: number) =>
        combined(one, before(one, index), (now, then) => now - then)
      return { observations: each(change), unit }
    }
    case 'percent': {
      const before = beforeOf(series)
      return {
        observations: each((one, index) => combined(one, before(one, index), percent)),
        unit: 'percent change',
      }
    }
    case 'yoy': {
      const before = yearBeforeOf(series)
      return {
        observations: each((one) => combined(one, before(one), percent)),
        unit: 'percent change from a year ago',
      }
    }
    case 'log':
      return {
        observations: each(({ value }) => (value === null || value <= 0 ? null : Math.log(value))),
        unit: unit === null ? 'natural logarithm' : `natural logarithm of ${unit}`,
      }
    case 'index': {
      const base = baseOf(series, transform.date)
      return {
        observations: each(({ value }) => (value === null ? null : (value / base) * 100)),
        unit: `index, ${transform.date} = 100`,
      }
    }
    default:
      return transform satisfies never
  }
}

const percent = (now: number, then: number) => (then === 0 ? null : ((now - then) / then) * 100)

function combined(
  { value }: Observation,
  before: number | null,
  work: (now: number, then: number) => number | null,
): number | null {
  return value === null || before === null ? null : work(value, before)
}

function finite(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null
}

/** The value of the period before an observation; null if there is none. */
function beforeOf({ observations, frequency }: Series): (one: Observation, index: number) => number | null {
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
function yearBeforeOf(series: Whole): (one: Observation) => number | null {
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
