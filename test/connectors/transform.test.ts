import { describe, expect, it } from 'vitest'
import type { Series } from '../../connectors/index.ts'
import { planOf, reachOf, type SeriesQuery, transformed } from '../../connectors/transform/transform.ts'

const seriesOf = (
  frequency: string | null,
  rows: readonly (readonly [string, number | null, string?])[],
) => ({
  provider: 'p',
  series_id: 'S',
  name: 'S',
  frequency,
  unit: 'euros',
  seasonalAdjustment: null,
  source: null,
  notes: null,
  dimensions: null,
  start: null,
  end: null,
  lastUpdated: null,
  observations: rows.map(([date, value, status]) => ({ date, value, ...(status && { status }) })),
})
const made = (series: Series & { provider: string }, query: SeriesQuery) => {
  const { start, end } = query
  const range = { ...(start && { start }), ...(end && { end }) }
  return transformed(series, planOf(query), range)
}
const rows = (series: Series & { provider: string }, query: SeriesQuery) =>
  made(series, query).observations.map(({ date, value }) => [date, value])

/** February is missing, and May has no value. */
const MONTHS = seriesOf('monthly', [
  ['2023-01-01', 100],
  ['2023-03-01', 110],
  ['2023-04-01', 121],
  ['2023-05-01', null],
  ['2023-06-01', 50],
  ['2024-01-01', 150],
  ['2024-03-01', 99],
])

describe('a transformation, by hand', () => {
  it.each([
    ['none', [100, 110, 121, null, 50, 150, 99], 'euros'],
    // Only April has the month before: after a gap there is no change.
    ['change', [null, null, 11, null, null, null, null], 'euros'],
    ['percent', [null, null, 10, null, null, null, null], 'percent change'],
    ['yoy', [null, null, null, null, null, 50, -10], 'percent change from a year ago'],
    ['index:2023-03-31', [90.9091, 100, 110, null, 45.4545, 136.3636, 90], 'index, 2023-03-31 = 100'],
    ['log', [4.6052, 4.7005, 4.7958, null, 3.912, 5.0106, 4.5951], 'natural logarithm of euros'],
  ] as const)('%s of months', (transform, expected, unit) => {
    const { observations, unit: given } = made(MONTHS, { transform })
    const rounded = observations.map(({ value }) => (value === null ? null : Number(value.toFixed(4))))
    expect(rounded).toEqual(expected)
    expect(given).toBe(unit)
  })

  it('of quarters and years goes by their own periods', () => {
    const quarters = seriesOf('quarterly', [
      ['2023-10-01', 4],
      ['2024-01-01', 5],
      ['2024-07-01', 8],
      ['2024-10-01', 6],
    ])
    expect(rows(quarters, { transform: 'change' }).map(([, value]) => value)).toEqual([null, 1, null, -2])
    expect(rows(quarters, { transform: 'yoy' }).map(([, value]) => value)).toEqual([null, null, null, 50])
    const years = seriesOf('annual', [
      ['2020-01-01', 2],
      ['2021-01-01', 3],
    ])
    expect(rows(years, { transform: 'percent' }).map(([, value]) => value)).toEqual([null, 50])
  })

  it('of days is from the observation before, and a year ago from the last one up to that day', () => {
    const days = seriesOf('daily', [
      ['2023-01-06', 10],
      ['2024-01-05', 11],
      ['2024-01-08', 12],
    ])
    expect(rows(days, { transform: 'change' }).map(([, value]) => value)).toEqual([null, 1, 1])
    expect(rows(days, { transform: 'yoy' }).map(([, value]) => value)).toEqual([null, null, 20])
  })

  it('of the first year that can be written has none before it', () => {
    const ancient = seriesOf('daily', [
      ['0000-05-15', 1],
      ['0001-05-15', 2],
    ])
    expect(rows(ancient, { transform: 'yoy' }).map(([, value]) => value)).toEqual([null, 100])
  })

  it('of weeks is from seven days and from 52 weeks before', () => {
    const weeks = seriesOf('weekly', [
      ['2023-01-06', 10],
      ['2024-01-05', 15],
      ['2024-01-12', 18],
    ])
    expect(rows(weeks, { transform: 'change' }).map(([, value]) => value)).toEqual([null, null, 3])
    expect(rows(weeks, { transform: 'yoy' }).map(([, value]) => value)).toEqual([null, 50, null])
  })

  it('divides by nothing, and takes no logarithm of what has none', () => {
    const odd = seriesOf('annual', [
      ['2020-01-01', 0],
      ['2021-01-01', -5],
      ['2022-01-01', 5],
    ])
    expect(rows(odd, { transform: 'percent' }).map(([, value]) => value)).toEqual([null, null, -200])
    expect(rows(odd, { transform: 'log' }).map(([, value]) => value)).toEqual([null, null, Math.log(5)])
  })
})

describe('another frequency, by hand', () => {
  const months = seriesOf('monthly', [
    ['2023-01-01', 1],
    ['2023-02-01', 2],
    ['2023-03-01', 6, 'provisional'],
    ['2023-04-01', 4],
    ['2023-05-01', null],
    ['2023-06-01', 5],
    ['2023-07-01', 7],
  ])

  it.each([
    ['mean', [3, null, null]],
    ['sum', [9, null, null]],
    ['end', [6, 5, null]],
  ] as const)('of months to quarters by %s; a quarter with a gap is not given as a whole one', (aggregate, values) => {
    const { observations, frequency } = made(months, { frequency: 'quarterly', aggregate })
    expect(frequency).toBe('quarterly')
    expect(observations.map(({ value }) => value)).toEqual(values)
    expect(observations[0]).toMatchObject({ date: '2023-01-01', period: '2023-Q1', status: 'provisional' })
    expect(observations[2]).toMatchObject({ period: '2023-Q3', status: 'incomplete' })
  })

  it('of days to months leaves out holidays, and the months in which the series begins and ends', () => {
    const days = seriesOf('daily', [
      ['2023-01-20', 9],
      ['2023-01-27', 9],
      ['2023-02-01', 1],
      ['2023-02-08', 2],
      ['2023-02-14', null],
      ['2023-02-15', 2],
      ['2023-02-22', 3],
      ['2023-02-28', 4],
      ['2023-03-06', 7],
    ])
    expect(rows(days, { frequency: 'monthly' })).toEqual([
      ['2023-01-01', null],
      ['2023-02-01', 2.4],
      ['2023-03-01', null],
    ])
  })

  const from = (first: string, step: number, count: number) =>
    Array.from({ length: count }, (_, index) => {
      const day = new Date(Date.parse(first) + index * step * 86_400_000)
      return [day.toISOString().slice(0, 10), 10] as const
    })
  const without = (all: readonly (readonly [string, number])[], ...days: readonly string[]) =>
    all.map(([day, value]) => [day, days.includes(day) ? null : value] as const)

  it.each([
    ['weekly', from('2023-01-06', 7, 13), 40],
    ['weekly', without(from('2023-01-06', 7, 13), '2023-02-10'), null],
    ['weekly', from('2023-01-06', 7, 13).filter(([day]) => day !== '2023-02-10'), null],
    ['biweekly', from('2023-01-13', 14, 6), 20],
    ['biweekly', without(from('2023-01-13', 14, 6), '2023-02-10'), null],
    ['daily', from('2023-01-01', 1, 90), 280],
    ['daily', without(from('2023-01-01', 1, 90), '2023-02-10'), null],
  ] as const)('of %s values to months tells a hole in the middle of a month', (frequency, values, sum) => {
    const query = { frequency: 'monthly', aggregate: 'sum' }
    const { observations } = made(seriesOf(frequency, values), query)
    const february = observations.find(({ date }) => date === '2023-02-01')
    expect(february?.value).toBe(sum)
    expect(february?.status).toBe(sum === null ? 'incomplete' : undefined)
  })

  it('of days by their last value needs only the end of the month', () => {
    const values = from('2023-01-01', 1, 90).filter(([day]) => day < '2023-02-05' || day > '2023-02-20')
    const query = { frequency: 'monthly', aggregate: 'end' }
    expect(rows(seriesOf('daily', values), query).map(([, value]) => value)).toEqual([10, 10, 10])
    const late = values.filter(([day]) => day < '2023-02-25' || day > '2023-03-10')
    expect(rows(seriesOf('daily', late), query).map(([, value]) => value)).toEqual([10, null, 10])
  })

  it('comes before the transformation, and the range after both', () => {
    const quarters = seriesOf('quarterly', [
      ['2022-01-01', 1],
      ['2022-04-01', 1],
      ['2022-07-01', 1],
      ['2022-10-01', 1],
      ['2023-01-01', 2],
      ['2023-04-01', 2],
      ['2023-07-01', 2],
      ['2023-10-01', 2],
    ])
    const query = { frequency: 'annual', aggregate: 'sum', transform: 'percent', start: '2023-01-01' }
    expect(rows(quarters, query)).toEqual([['2023-01-01', 100]])
  })

  it.each([
    ['annual', 'monthly'],
    [null, 'annual'],
    ['weekly', 'daily'],
  ])('of %s to %s is refused', (from, to) => {
    expect(() => made(seriesOf(from, [['2023-01-01', 1]]), { frequency: to })).toThrow(
      /can't be made|must be one of/,
    )
  })
})

describe('the options', () => {
  it.each([
    [{ transform: 'pct' }, 'transform must be one of none, change, percent, yoy, log, index:2015-01-01'],
    [{ transform: 'index:2015' }, 'transform=index must name a date'],
    [{ frequency: 'weekly' }, 'frequency must be one of monthly, quarterly, annual'],
    [{ frequency: 'annual', aggregate: 'max' }, 'aggregate must be one of mean, sum, end'],
    [{ aggregate: 'sum' }, 'needs the parameter frequency'],
  ])('that make no sense are refused: %j', (query, message) => {
    expect(() => planOf(query)).toThrow(message)
  })

  it('reach as far back as the first period needs, and to the end of the last', () => {
    const reach = (query: SeriesQuery) => reachOf({ start: '2020-05-01', end: '2021-02-01' }, planOf(query))
    expect(reach({})).toEqual({ start: '2020-05-01', end: '2021-02-01' })
    expect(reach({ transform: 'yoy' })).toEqual({ start: '2018-01-01', end: '2021-12-31' })
    expect(reach({ frequency: 'annual' })).toEqual({ start: '2020-01-01', end: '2021-12-31' })
    expect(reach({ transform: 'index:2015-06-30' })).toEqual({ start: '2015-01-01', end: '2021-12-31' })
  })
})
