import { describe, expect, it } from 'vitest'
import { addDays } from '../../../connectors/periods.ts'
import { alfred, REVISED, type Vintage } from '../support/alfred.ts'
import { failureOf, harness } from '../support/harness.ts'

const open = (values: readonly Vintage[], frequency?: string) =>
  harness('fred', alfred(values, frequency), { base: '/fred', key: 'k1' })

describe('vintages of FRED', () => {
  it('are the values that each period had, each with its days', async () => {
    await using at = await open(REVISED)
    const series = await at.connectors.series('fred', 'GDP', { vintages: 'all' })
    expect(series).toMatchObject({ name: 'Gross Product', frequency: 'quarterly', start: '2024-01-01' })
    expect(series.observations).toEqual([
      { date: '2024-01-01', period: '2024-Q1', value: 100, known_from: '2024-04-25', known_to: '2024-05-30' },
      { date: '2024-01-01', period: '2024-Q1', value: 101.5, known_from: '2024-05-30', known_to: null },
      {
        date: '2024-04-01',
        period: '2024-Q2',
        value: null,
        known_from: '2024-05-30',
        known_to: '2024-07-25',
      },
      { date: '2024-04-01', period: '2024-Q2', value: 103, known_from: '2024-07-25', known_to: null },
    ])
  })

  it('are the first of each period, those of the newest vintages, or those of a range', async () => {
    await using at = await open(REVISED)
    const values = async (query: object) =>
      (await at.connectors.series('fred', 'GDP', query)).observations.map((one) => [
        one.value,
        one.known_from,
      ])
    expect(await values({ vintages: 'first' })).toEqual([
      [100, '2024-04-25'],
      [null, '2024-05-30'],
    ])
    expect(await values({ vintages: 'latest:1' })).toEqual([
      [101.5, '2024-07-25'],
      [103, '2024-07-25'],
    ])
    expect(await values({ vintages: 'latest:99' })).toHaveLength(4)
    expect(await values({ vintages: 'all', start: '2024-04-01' })).toEqual([
      [null, '2024-05-30'],
      [103, '2024-07-25'],
    ])
  })

  it('are asked for in as many requests as their number takes, and what these cut apart is one value', async () => {
    const days = Array.from({ length: 4500 }, (_, day) => addDays('2005-01-03', day))
    const daily = days.map((date, day): Vintage => {
      const value = String(day)
      return { date, value, realtime_start: addDays(date, 1), realtime_end: '9999-12-31' }
    })
    await using at = await open(daily, 'Daily')
    const { observations } = await at.connectors.series('fred', 'DGS10', { vintages: 'all' })
    expect(
      observations.map(({ date, value, known_from, known_to }) => [date, value, known_from, known_to]),
    ).toEqual(daily.map(({ date, value, realtime_start }) => [date, Number(value), realtime_start, null]))
    const asked = at.upstream.requests.filter(({ path }) => path.endsWith('/observations'))
    expect(asked.map(({ query }) => [query.get('realtime_start'), query.get('realtime_end')])).toEqual([
      [addDays('2005-01-04', 0), addDays('2005-01-04', 1999)],
      [addDays('2005-01-04', 2000), addDays('2005-01-04', 3999)],
      [addDays('2005-01-04', 4000), '9999-12-31'],
    ])
  })

  it('of a series without an archive, of other providers, and with other options are rejected', async () => {
    await using at = await open([])
    const failure = async (slug: string, query: object) => {
      const { code, message } = await failureOf(at.connectors.series(slug, 'X', query))
      return `${code} ${message}`
    }
    expect(await failure('fred', { vintages: 'all' })).toContain('series_not_found FRED keeps no version')
    expect(await failure('bls', { vintages: 'all' })).toMatch(
      /^invalid_option vintages are not available from .*; providers that have them: .*fred/,
    )
    expect(await failure('fred', { vintages: 'latest:0' })).toContain(
      'vintages must be all, first or latest:5',
    )
    for (const other of [{ asOf: '2024-01-01' }, { transform: 'yoy' }, { frequency: 'annual' }]) {
      expect(await failure('fred', { vintages: 'all', ...other })).toContain(
        `vintages can't be combined with ${Object.keys(other)[0]}`,
      )
    }
  })
})
