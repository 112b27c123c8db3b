import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../support/harness.ts'
import type { Routes } from '../support/upstream.ts'

const head = (total: number) => ({ page: 1, pages: 1, per_page: '50', total, lastupdated: '2024-05-30' })
const indicator = { id: 'NY.GDP.MKTP.CD', value: 'GDP (current US$)' }
const row = (date: string, value: number | null, extra = {}) => ({
  indicator,
  country: { id: 'US', value: 'United States' },
  countryiso3code: 'USA',
  date,
  value,
  unit: '',
  decimal: 0,
  ...extra,
})
const listed = {
  id: indicator.id,
  name: indicator.value,
  unit: '',
  sourceNote: 'The sum of gross value added',
}

const routes: Routes = {
  '/v2/topic': { body: [head(1), [{ id: '3', value: 'Economy & Growth', sourceNote: 'Growth is central' }]] },
  '/v2/source': { body: [head(1), [{ id: '2', name: 'World Development Indicators', description: '' }]] },
  '/v2/topic/3/indicator': (hit) => ({
    body: [
      head(9),
      Number(hit.query.get('page')) < 3 ? [listed, { ...listed, id: `P${hit.query.get('page')}` }] : [],
    ],
  }),
  '/v2/country': {
    body: [
      head(2),
      [
        { id: 'ABW', name: 'Aruba' },
        { id: 'USA', name: 'United States' },
      ],
    ],
  },
  '/v2/indicator/NY.GDP.MKTP.CD': { body: [head(1), [listed]] },
  '/v2/country/US/indicator/NY.GDP.MKTP.CD': {
    body: [head(3), [row('2023', null), row('2022', 25439700000000), row('2021', 23315080560000)]],
  },
}

const open = (more: Routes = {}) => harness('worldbank', { ...routes, ...more }, { base: '/v2' })

describe('worldbank', () => {
  it('goes from topics to a series', async () => {
    await using at = await open()
    const root = await at.connectors.browse('worldbank', '')
    expect(root.categories.map(({ path }) => path)).toEqual(['topic', 'source', 'indicator'])
    const topics = await at.connectors.browse('worldbank', 'topic')
    expect(topics.categories).toEqual([
      { path: 'topic/3', name: 'Economy & Growth', description: 'Growth is central', series: true },
    ])
    const indicators = await at.connectors.browse('worldbank', 'topic/3')
    expect(indicators.categories[0]).toEqual({
      path: 'topic/3/NY.GDP.MKTP.CD',
      name: 'GDP (current US$)',
      description: 'The sum of gross value added',
      series: true,
    })
    const countries = await at.connectors.seriesList('worldbank', 'topic/3/NY.GDP.MKTP.CD', {
      limit: 1,
      offset: 1,
    })
    expect(countries.total).toBe(2)
    expect(countries.series).toEqual([
      {
        series_id: 'USA/NY.GDP.MKTP.CD',
        name: 'GDP (current US$), United States',
        frequency: null,
        unit: 'current US$',
        start: null,
        end: null,
      },
    ])
    const series = await at.connectors.series('worldbank', 'US/NY.GDP.MKTP.CD')
    expect(series).toMatchObject({
      provider: 'worldbank',
      series_id: 'US/NY.GDP.MKTP.CD',
      name: 'GDP (current US$), United States',
      frequency: 'annual',
      unit: 'current US$',
      lastUpdated: '2024-05-30',
      observations: [
        { date: '2021-01-01', period: '2021', value: 23315080560000 },
        { date: '2022-01-01', period: '2022', value: 25439700000000 },
        { date: '2023-01-01', period: '2023', value: null },
      ],
    })
  })

  it('lists the indicators of a topic for the world, at any offset', async () => {
    await using at = await open()
    const page = await at.connectors.seriesList('worldbank', 'topic/3', { limit: 2, offset: 1 })
    expect(page.total).toBe(9)
    expect(page.series.map(({ series_id }) => series_id)).toEqual(['WLD/P1', 'WLD/NY.GDP.MKTP.CD'])
  })

  it.each([
    ['2020M01', '2020-01-01', '2020-01', 'monthly'],
    ['2020Q2', '2020-04-01', '2020-Q2', 'quarterly'],
  ])('reads the period %s', async (written, date, period, frequency) => {
    await using at = await open({
      '/v2/country/US/indicator/X': { body: [head(1), [row(written, 1, { unit: 'index' })]] },
    })
    const series = await at.connectors.series('worldbank', 'US/X')
    expect(series).toMatchObject({ frequency, unit: 'index', observations: [{ date, period, value: 1 }] })
  })

  it('does not give the series of another country', async () => {
    await using at = await open({ '/v2/country/MX/indicator/X': { body: [head(1), [row('2020', 1)]] } })
    expect(await failureOf(at.connectors.series('worldbank', 'MX/X'))).toMatchObject({ status: 404 })
  })

  it('reads all pages', async () => {
    await using at = await open({
      '/v2/country/US/indicator/X': (hit) => ({
        body: [
          { page: hit.query.get('page'), pages: 2, total: 2 },
          [row(hit.query.get('page') === '1' ? '2021' : '2020', 1)],
        ],
      }),
    })
    const { observations } = await at.connectors.series('worldbank', 'US/X')
    expect(observations.map(({ period }) => period)).toEqual(['2020', '2021'])
  })

  it.each([
    [
      'an unknown id',
      { body: [{ message: [{ id: '120', key: 'Invalid value', value: 'not valid' }] }] },
      'series_not_found',
    ],
    ['no rows', { body: [{ page: 0, pages: 0, per_page: 0, total: 0 }, null] }, 'series_not_found'],
    [
      'a failure',
      { body: [{ message: [{ id: '105', key: 'Service currently unavailable' }] }] },
      'provider_down',
    ],
    ['another error', { body: [{ message: [{ id: '140', key: 'x', value: 'y' }] }] }, 'not_understood'],
    ['markup', { body: '<html>Maintenance</html>', type: 'text/html' }, 'not_understood'],
    ['a body cut off', { body: '[{"page":1,"pages":1},[{"ind', type: 'application/json' }, 'not_understood'],
  ])('tells %s from data, with HTTP 200', async (_, reply, code) => {
    await using at = await open({ '/v2/country/US/indicator/X': reply })
    expect(await failureOf(at.connectors.series('worldbank', 'US/X'))).toMatchObject({ code })
  })

  it.each(['US', 'all/NY.GDP.MKTP.CD', 'US;CN/X', 'US/', '/X', 'US/a/b'])('refuses the id %s', async (id) => {
    await using at = await open()
    expect(await failureOf(at.connectors.series('worldbank', id))).toMatchObject({
      code: 'invalid_series_id',
    })
    expect(at.upstream.requests).toHaveLength(0)
  })
})
