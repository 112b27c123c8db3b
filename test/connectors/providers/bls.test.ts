import { describe, expect, it } from 'vitest'
import { bls } from '../../../connectors/providers/bls.ts'
import { failureOf, harness } from '../support/harness.ts'
import type { Reply, Routes } from '../support/upstream.ts'

const answered = (results: unknown, message: unknown = []) => ({
  status: 'REQUEST_SUCCEEDED',
  responseTime: 1,
  message,
  Results: results,
})
const point = (year: number, period: string, value: string) => ({
  year: String(year),
  period,
  periodName: 'x',
  value,
  footnotes: [{}],
})
const series = (...data: unknown[]) => ({ series: [{ seriesID: 'CUUR0000SA0', data }] })

const DATA = 'POST /timeseries/data/'
const routes: Routes = {
  '/surveys': {
    body: answered({ survey: [{ survey_abbreviation: 'CU', survey_name: 'Consumer Price Index' }] }),
  },
  '/timeseries/popular': {
    body: answered({ series: [{ seriesID: 'CUUR0000SA0' }, { seriesID: 'CUUR0000AA0' }] }),
  },
  [DATA]: {
    body: answered(
      series(
        point(2024, 'M13', '9'),
        point(2024, 'M02', '310.3'),
        point(2024, 'M01', '308.4'),
        point(2023, 'M12', '-'),
      ),
    ),
  },
}

const open = (data?: Reply | Routes[string], key?: string) =>
  harness('bls', data === undefined ? routes : { ...routes, [DATA]: data }, key === undefined ? {} : { key })

describe('bls', () => {
  it('goes from surveys to a series', async () => {
    await using at = await open()
    const { categories } = await at.connectors.browse('bls', '')
    expect(categories).toEqual([{ path: 'CU', name: 'Consumer Price Index', description: '', series: true }])
    const page = await at.connectors.seriesList('bls', 'CU', { limit: 1, offset: 1 })
    expect(page).toMatchObject({ total: 2, series: [{ series_id: 'CUUR0000AA0' }] })
    expect(at.upstream.requests.at(-1)!.query.get('survey')).toBe('CU')
    expect(await at.connectors.series('bls', 'CUUR0000SA0')).toMatchObject({
      provider: 'bls',
      series_id: 'CUUR0000SA0',
      name: 'CUUR0000SA0',
      frequency: 'monthly',
      unit: null,
      lastUpdated: null,
      observations: [
        { date: '2023-12-01', period: '2023-12', value: null },
        { date: '2024-01-01', period: '2024-01', value: 308.4 },
        { date: '2024-02-01', period: '2024-02', value: 310.3 },
      ],
    })
  })

  it('is asked over version 2 without a key as well, because version 1 lacks surveys', async () => {
    expect(bls.info.baseUrl).toMatch(/\/v2$/)
    await using at = await open()
    await at.connectors.series('bls', 'CUUR0000SA0')
    expect(at.upstream.requests[0]!.body).not.toContain('registrationkey')
  })

  it('has title and unit from the catalogue with a key, and sends the key in the body', async () => {
    const catalog = { series_title: 'All items', measure_data_type: 'All employees, thousands' }
    const found = { seriesID: 'CUUR0000SA0', catalog, data: [point(2024, 'M01', '1')] }
    await using at = await open({ body: answered({ series: [found] }) }, 'mine')
    expect(await at.connectors.series('bls', 'CUUR0000SA0')).toMatchObject({
      name: 'All items',
      unit: 'thousands',
    })
    expect(JSON.parse(at.upstream.requests[0]!.body)).toMatchObject({
      registrationkey: 'mine',
      catalog: true,
    })
  })

  it.each([
    ['without a key', undefined, ['2015-2024', '2005-2014', '2001-2004']],
    ['with a key', 'mine', ['2005-2024', '2001-2004']],
  ])('asks several times for more years than one query may span, %s', async (_, key, spans) => {
    await using at = await open((hit) => {
      const year = Number(JSON.parse(hit.body).endyear)
      return { body: answered(series(point(year, 'Q05', '0'), point(year, 'Q04', '2'))) }
    }, key)
    const range = { start: '2001-01-01', end: '2024-12-31' }
    const { observations, frequency } = await at.connectors.series('bls', 'CUUR0000SA0', range)
    const asked = at.upstream.requests.map(({ body }) => JSON.parse(body))
    expect(asked.map(({ startyear, endyear }) => `${startyear}-${endyear}`)).toEqual(spans)
    expect(frequency).toBe('quarterly')
    expect(observations.map(({ period }) => period)).toEqual(
      spans.map((span) => `${span.slice(5)}-Q4`).reverse(),
    )
  })

  it('leaves out the averages of half years among months', async () => {
    const data = [point(2024, 'S01', '9'), point(2024, 'M02', '310.3'), point(2024, 'M01', '308.4')]
    await using at = await open({ body: answered(series(...data)) })
    expect(await at.connectors.series('bls', 'CUUR0000SA0')).toMatchObject({
      frequency: 'monthly',
      observations: [
        { period: '2024-01', value: 308.4 },
        { period: '2024-02', value: 310.3 },
      ],
    })
  })

  it('stops asking for years before the series began', async () => {
    await using at = await open((hit) => {
      const isLast = JSON.parse(hit.body).endyear === '2024'
      const message = ['No Data Available for Series CUUR0000SA0 Year: 2014']
      return { body: isLast ? answered(series(point(2024, 'A01', '1'))) : answered(series(), message) }
    })
    await at.connectors.series('bls', 'CUUR0000SA0', { start: '1950-01-01', end: '2024-12-31' })
    expect(at.upstream.requests).toHaveLength(2)
  })

  it('asks for no years before there were figures', async () => {
    await using at = await open({ body: answered(series()) }, 'mine')
    const range = { start: '0001-01-01', end: '1999-12-31' }
    expect((await at.connectors.series('bls', 'CUUR0000SA0', range)).observations).toEqual([])
    expect(at.upstream.requests).toHaveLength(5)
  })

  it('reads results in a list, as documented, as well as an object', async () => {
    await using at = await open({ body: answered([series(point(2024, 'S01', '1.5'))]) })
    const { observations, frequency } = await at.connectors.series('bls', 'CUUR0000SA0')
    expect(frequency).toBe('semiannual')
    expect(observations).toEqual([{ date: '2024-01-01', period: '2024-S1', value: 1.5 }])
  })

  const failed = (message: string, status = 'REQUEST_NOT_PROCESSED') => ({
    body: { status, responseTime: 0, message: [message], Results: {} },
  })

  it.each([
    [
      'a spent quota',
      failed(
        '… as the daily threshold for total number of requests allocated to the user with registration key  has been reached.',
      ),
      'provider_limit',
      429,
    ],
    ['a bad key', failed('The key:5555 provided by the User is invalid.'), 'key_rejected', 400],
    ['a failure', failed('Unable to process'), 'provider_down', 503],
    [
      'an unknown series',
      { body: answered(series(), ['Series does not exist for Series CUUR0000SA0']) },
      'series_not_found',
      404,
    ],
    ['no series', { body: answered({ series: [] }, 'Invalid Series for Series X') }, 'series_not_found', 404],
    ['another status', failed('?', 'REQUEST_FAILED'), 'not_understood', 500],
    ['a body cut off', { body: '{"status":"REQUEST_SUCC' }, 'not_understood', 500],
  ])('tells %s, with HTTP 200', async (_, reply, code, status) => {
    await using at = await open(reply)
    const error = await failureOf(at.connectors.series('bls', 'CUUR0000SA0'))
    expect(error).toMatchObject({ code, status, provider: 'bls' })
    expect(error.message).not.toContain('5555')
  })

  it('asks no more once the quota is spent, and a user with a key goes on', async () => {
    await using at = await open((hit) =>
      JSON.parse(hit.body).registrationkey === 'mine'
        ? { body: answered(series(point(2024, 'M01', '1'))) }
        : failed('daily threshold reached'),
    )
    await failureOf(at.connectors.series('bls', 'A1'))
    const error = await failureOf(at.connectors.series('bls', 'A2'))
    expect(error.message).toContain('BLS')
    expect(error.retryAfter).toBeGreaterThan(3000)
    expect(at.upstream.requests).toHaveLength(1)
    const own = { userKey: { owner: 'ann', key: 'mine' } }
    expect((await at.connectors.series('bls', 'A2', {}, own)).observations).toHaveLength(1)
  })
})
