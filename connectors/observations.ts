import type { Observation, Row, Series, SeriesData, SeriesRange } from './connector.ts'
import { ConnectorError, quoted } from './errors.ts'
import { notUnderstood } from './failures.ts'
import { statusOfValue } from './observation-status.ts'
import { asInstant, isDate, parsePeriod, periodOfDate } from './periods.ts'
import { type Json, number, text } from './read.ts'

/**
 * Makes observations from rows in any order. In a series with a lower frequency than daily, a plain date stands for its
 * period, and the first day of the period becomes the date. If two rows would then have the same period, the dates don't
 * follow the frequency, so all dates stay as they are. Rows whose time can't be read are left out, and a value that can't
 * be read is null with a status that says why.
 * @throws ConnectorError `not_understood` if no row has a readable time, or if there are digits but no numbers
 */
export function observed(rows: readonly Row[], frequency: string | null): readonly Observation[] {
  const parsed = rows.flatMap(({ time, value, status }) => {
    const written = parsePeriod(text(time) ?? '')
    return written === undefined
      ? []
      : [{ written, value: number(value), status: statusOfValue(value, status) }]
  })
  if (hasOnlyUnread(rows.map(({ value }) => value))) throw notUnderstood('none of its values is a number')
  const isIntraday =
    frequency === 'intraday' || parsed.some(({ written }) => written.frequency === 'intraday')
  const read = isIntraday ? parsed.map((row) => ({ ...row, written: asInstant(row.written) })) : parsed
  if (rows.length > 0 && read.length === 0) throw notUnderstood('no row has a time that can be read')
  const periods = read.map(({ written }) =>
    written.period === undefined ? periodOfDate(written.date, frequency) : written,
  )
  const named = new Set(periods.map(({ date, period }) => period ?? date))
  const isByPeriod = named.size === periods.length
  return read.map(({ written, value, status }, index) => {
    const { date, period } = isByPeriod ? periods[index]! : written
    return {
      date,
      ...(period === undefined ? {} : { period }),
      value,
      ...(status === undefined ? {} : { status }),
    }
  })
}

/**
 * Whether no value could be read although there are digits. Then the reader is wrong, and the series is more than gaps.
 */
export function hasOnlyUnread(values: readonly (Json | undefined)[]): boolean {
  return values.every((each) => number(each) === null) && values.some((each) => /\d/.test(text(each) ?? ''))
}

/**
 * The complete series: observations in order and within the range, and null for the fields that the provider didn't
 * give.
 */
export function completed(series: SeriesData, range: SeriesRange, id: string): Series {
  const own = 'rows' in series ? observed(series.rows, series.frequency) : series.observations
  const observations = arranged(own, range)
  const isWhole = range.start === undefined && range.end === undefined
  return {
    series_id: series.series_id ?? id,
    name: series.name,
    frequency: series.frequency,
    ...(series.frequencyDoubt === undefined ? {} : { frequencyDoubt: series.frequencyDoubt }),
    unit: series.unit ?? null,
    seasonalAdjustment: series.seasonalAdjustment ?? null,
    source: series.source ?? null,
    notes: series.notes ?? null,
    dimensions: series.dimensions ?? null,
    start: series.start === undefined && isWhole ? (observations[0]?.date ?? null) : (series.start ?? null),
    end: series.end === undefined && isWhole ? (observations.at(-1)?.date ?? null) : (series.end ?? null),
    lastUpdated: series.lastUpdated ?? null,
    observations,
  }
}

/**
 * Sorts observations, oldest first, and cuts them to the range, because providers keep to neither. Equal dates keep
 * their order.
 */
export function arranged(
  observations: readonly Observation[],
  { start, end }: SeriesRange,
): readonly Observation[] {
  const within = observations.filter(
    ({ date }) => (start === undefined || date >= start) && (end === undefined || date <= end),
  )
  const isInOrder = within.every((each, index) => index === 0 || isAfter(each, within[index - 1]!) >= 0)
  return isInOrder ? within : within.sort(isAfter)
}

function isAfter(a: Observation, b: Observation): number {
  if (a.date !== b.date) return a.date < b.date ? -1 : 1
  const [left = '', right = ''] = [a.period, b.period]
  return left === right ? 0 : left < right ? -1 : 1
}

/** Returns the range, or throws `invalid_range`. */
export function checkedRange(range: SeriesRange): SeriesRange {
  const { start, end, asOf } = range
  for (const [name, value] of Object.entries({ start, end, asOf })) {
    if (value !== undefined && !isDate(value)) {
      throw new ConnectorError('invalid_range', `${name} must be a date as 2024-01-31, not ${quoted(value)}.`)
    }
  }
  if (start !== undefined && end !== undefined && start > end) {
    throw new ConnectorError('invalid_range', `start (${start}) must not be after end (${end}).`)
  }
  return {
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
    ...(asOf === undefined ? {} : { asOf }),
  }
}
