import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../support/harness.ts'
import type { Routes } from '../support/upstream.ts'

const dataset = (more = {}) => ({
  dataset_code: 'GDP',
  database_code: 'FRED',
  name: 'Gross Domestic Product',
  refreshed_at: '2024-01-01T00:00:00.000Z',
  newest_available_date: '2013-12-31',
  oldest_available_date: '2013-09-30',
  column_names: ['Date', 'Value'],
  frequency: 'quarterly',
  data: [
    ['2013-12-31', 17.1],
    ['2013-09-30', null],
  ],
  ...more,
})
const routes: Routes = {
  '/databases/FRED': { body: { database: { database_code: 'FRED', name: 'FRED' } } },
  '/datasets.json': (hit) => {
    const page = Number(hit.query.get('page'))
    const count = Math.max(0, Math.min(Number(hit.query.get('per_page')), 250 - (page - 1) * 100))
    const datasets = Array.from({ length: count }, (_, index) =>
      dataset({ dataset_code: `D${(page - 1) * 100 + index}` }),
    )
    return { body: { datasets, meta: { total_count: 250, current_page: page } } }
  },
  '/datasets/FRED/GDP.json': { body: { dataset: dataset() } },
}
const open = (more: Routes = {}) => harness('nasdaq', { ...routes, ...more }, { key: 'k' })

describe('nasdaq', () => {
  it('goes from a database to a series', async () => {
    await using at = await open()
    const root = await at.connectors.browse('nasdaq', '')
    // FRED is stale there, and WIKI and others are no more.
    expect(root.categories.map(({ path }) => path)).toEqual(['tables', 'EOD', 'FSE', 'MULTPL', 'NSE'])
    expect((await at.connectors.browse('nasdaq', 'FRED')).categories).toEqual([])
    const page = await at.connectors.seriesList('nasdaq', 'FRED', { limit: 150, offset: 60 })
    expect(page.total).toBe(250)
    expect(page.series).toHaveLength(150)
    expect([page.series[0]?.series_id, page.series[149]?.series_id]).toEqual(['FRED/D60', 'FRED/D209'])
    const series = await at.connectors.series('nasdaq', 'FRED/GDP')
    expect(series).toMatchObject({ name: 'Gross Domestic Product', frequency: 'quarterly' })
    // Dated by the last day of the period there, by the first here.
    expect(series.observations).toEqual([
      { date: '2013-07-01', period: '2013-Q3', value: null },
      { date: '2013-10-01', period: '2013-Q4', value: 17.1 },
    ])
    expect(at.upstream.requests.every(({ query }) => query.get('api_key') === 'k')).toBe(true)
  })

  it.each([
    ['FRED/GDP', 'Settle', 3],
    ['FRED/GDP/open', 'Open', 1],
  ])('takes the usual column of several, or that of the id %s', async (id, column, value) => {
    const several = dataset({
      frequency: 'daily',
      column_names: ['Open', 'Date', 'Settle'],
      data: [{ Open: 1, Date: '2024-01-02', Settle: 3 }, ['1', '2024-01-03', '3']],
    })
    await using at = await open({ '/datasets/FRED/GDP.json': { body: { dataset: several } } })
    const series = await at.connectors.series('nasdaq', id)
    expect(series.name).toBe(`Gross Domestic Product, ${column}`)
    expect(series.observations).toEqual([
      { date: '2024-01-02', value },
      { date: '2024-01-03', value },
    ])
  })

  it.each([
    ['QEAx01', 400, 'key_rejected'],
    ['QEPx04', 403, 'key_rejected'],
    ['QECx02', 404, 'series_not_found'],
    ['QELx04', 200, 'provider_limit'],
    ['QELx04', 429, 'provider_limit'],
    ['QEXx01', 400, 'provider_down'],
    ['QEMx01', 422, 'not_understood'],
  ])('reads the error %s with status %i', async (error, status, code) => {
    const body = { quandl_error: { code: error, message: 'You did something' } }
    await using at = await open({ '/datasets/FRED/GDP.json': { status, body } })
    expect(await failureOf(at.connectors.series('nasdaq', 'FRED/GDP'))).toMatchObject({ code })
  })

  it('offers no database that no longer exists or is out of date', async () => {
    await using at = await harness('nasdaq', {}, { key: 'k' })
    const paths = (await at.connectors.browse('nasdaq', '')).categories.map(({ path }) => path)
    expect(paths).toContain('tables')
    for (const dead of ['ECB', 'OECD', 'CHRIS', 'RATEINF', 'USTREASURY', 'WIKI', 'FRED']) {
      expect(paths).not.toContain(dead)
    }
  })

  it('asks for the whole of the period in which a range ends', async () => {
    await using at = await open()
    const range = { start: '2013-10-01', end: '2013-10-01' }
    expect((await at.connectors.series('nasdaq', 'FRED/GDP', range)).observations).toEqual([
      { date: '2013-10-01', period: '2013-Q4', value: 17.1 },
    ])
    const { query } = at.upstream.requests[0]!
    expect([query.get('start_date'), query.get('end_date')]).toEqual(['2013-10-01', '2013-12-31'])
  })

  it('asks for one thing at a time', async () => {
    let underWay = 0
    let most = 0
    await using at = await open({
      '*': async () => {
        most = Math.max(most, ++underWay)
        await new Promise((resolve) => setTimeout(resolve, 10))
        underWay--
        return { body: { dataset: dataset() } }
      },
    })
    await Promise.all(
      Array.from({ length: 10 }, (_, index) => at.connectors.series('nasdaq', `FRED/X${index}`)),
    )
    expect(at.upstream.requests).toHaveLength(10)
    expect(most).toBe(1)
  })
})
