import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../support/harness.ts'
import type { Hit, Reply } from '../support/upstream.ts'

const daily = {
  'Meta Data': { '1. Information': 'Daily Prices', '2. Symbol': 'IBM', '3. Last Refreshed': '2024-01-03' },
  'Time Series (Daily)': {
    '2024-01-03': {
      '1. open': '160.1',
      '2. high': '161',
      '3. low': '159',
      '4. close': '160.5',
      '5. volume': '4',
    },
    '2024-01-02': {
      '1. open': '162.8',
      '2. high': '163',
      '3. low': '160',
      '4. close': '161.5',
      '5. volume': '5',
    },
  },
}
const open = (reply: Reply | ((hit: Hit) => Reply)) =>
  harness('alphavantage', { '/query': reply }, { base: '/query', key: 'k' })
const observationsOf = async (body: unknown, id: string) => {
  await using at = await open({ body })
  const { observations } = await at.connectors.series('alphavantage', id)
  return observations
}

describe('alphavantage', () => {
  it('goes from its functions to a series', async () => {
    await using at = await open({ body: daily })
    const { connectors } = at
    const root = await connectors.browse('alphavantage', '')
    expect(root.categories.map(({ path }) => path)).toContain('stocks')
    const stocks = await connectors.browse('alphavantage', 'stocks')
    expect(stocks.categories.find(({ path }) => path === 'stocks/TIME_SERIES_DAILY')).toMatchObject({
      series: true,
    })
    const page = await connectors.seriesList('alphavantage', 'stocks/TIME_SERIES_DAILY', {
      limit: 100,
      offset: 4,
    })
    expect(page.series[0]).toMatchObject({ series_id: 'TIME_SERIES_DAILY/IBM', frequency: 'daily' })
    for (const path of ['stocks/NOTHING', 'stocks/constructor'])
      expect(await failureOf(connectors.browse('alphavantage', path))).toMatchObject({ status: 404 })
    // Browsing costs none of the few requests.
    expect(at.upstream.requests).toHaveLength(0)
    expect(await connectors.series('alphavantage', 'TIME_SERIES_DAILY/IBM')).toMatchObject({
      provider: 'alphavantage',
      series_id: 'TIME_SERIES_DAILY/IBM',
      name: 'Daily prices, IBM, close',
      frequency: 'daily',
      unit: null,
      lastUpdated: '2024-01-03',
      observations: [
        { date: '2024-01-02', value: 161.5 },
        { date: '2024-01-03', value: 160.5 },
      ],
    })
    const { query, path } = at.upstream.requests[0]!
    expect(path).toBe('/query')
    expect(Object.fromEntries(query)).toEqual({ function: 'TIME_SERIES_DAILY', symbol: 'IBM', apikey: 'k' })
  })

  it('lists series for each function, of which every id can be read', async () => {
    await using at = await open({ body: { name: 'n', interval: 'monthly', unit: 'u', data: [] } })
    const { connectors } = at
    for (const group of (await connectors.browse('alphavantage', '')).categories) {
      for (const { path } of (await connectors.browse('alphavantage', group.path)).categories) {
        const { series } = await connectors.seriesList('alphavantage', path, { limit: 1000, offset: 0 })
        expect(series.length).toBeGreaterThan(0)
        for (const { series_id } of series) expect(series_id).toMatch(/^[A-Z_]+(\/[\w.]+)*$/)
      }
    }
  })

  it('reads economic series', async () => {
    const data = [
      { date: '2023-10-01', value: '5726.8' },
      { date: '2023-07-01', value: '.' },
    ]
    await using at = await open({
      body: { name: 'Real GDP', interval: 'quarterly', unit: 'billions of dollars', data },
    })
    expect(await at.connectors.series('alphavantage', 'REAL_GDP/quarterly')).toMatchObject({
      name: 'Real GDP',
      unit: 'billions of dollars',
      frequency: 'quarterly',
      observations: [
        { date: '2023-07-01', period: '2023-Q3', value: null },
        { date: '2023-10-01', period: '2023-Q4', value: 5726.8 },
      ],
    })
  })

  it('reads another field, numbered keys with a currency, and indicators by the minute', async () => {
    expect(await observationsOf(daily, 'TIME_SERIES_DAILY/IBM/volume')).toContainEqual({
      date: '2024-01-02',
      value: 5,
    })
    const coin = {
      'Time Series (Digital Currency Daily)': {
        '2024-01-02': { '4a. close (EUR)': '9', '4b. close (USD)': '10' },
      },
    }
    expect(await observationsOf(coin, 'DIGITAL_CURRENCY_DAILY/BTC/EUR')).toEqual([
      { date: '2024-01-02', value: 9 },
    ])
    const sma = {
      'Meta Data': {},
      'Technical Analysis: SMA': { '2017-12-20 14:00': { SMA: '85.2' }, '2017-12-20 13:45': { SMA: '85.1' } },
    }
    expect(await observationsOf(sma, 'SMA/MSFT/15min/10/close')).toEqual([
      { date: '2017-12-20', period: '2017-12-20T13:45', value: 85.1 },
      { date: '2017-12-20', period: '2017-12-20T14:00', value: 85.2 },
    ])
  })

  it('dates monthly prices by the first day of the month', async () => {
    const body = { 'Monthly Time Series': { '2017-12-29': { '4. close': '1' } } }
    expect(await observationsOf(body, 'TIME_SERIES_MONTHLY/IBM')).toEqual([
      { date: '2017-12-01', period: '2017-12', value: 1 },
    ])
  })

  it('reads single quotes', async () => {
    const quote = {
      'Global Quote': { '01. symbol': 'MSFT', '05. price': '112.13', '07. latest trading day': '2018-10-05' },
    }
    expect(await observationsOf(quote, 'GLOBAL_QUOTE/MSFT')).toEqual([{ date: '2018-10-05', value: 112.13 }])
    const rate = {
      'Realtime Currency Exchange Rate': {
        '5. Exchange Rate': '109631.4',
        '6. Last Refreshed': '2017-12-20 19:23:21',
      },
    }
    expect(await observationsOf(rate, 'CURRENCY_EXCHANGE_RATE/BTC/CNY')).toEqual([
      { date: '2017-12-20', period: '2017-12-20T19:23:21', value: 109631.4 },
    ])
  })

  it('reads a change in percent', async () => {
    const fields = { '07. latest trading day': '2018-10-05', '10. change percent': '-0.7694%' }
    await using at = await open({ body: { 'Global Quote': fields } })
    expect(await at.connectors.series('alphavantage', 'GLOBAL_QUOTE/MSFT/change percent')).toMatchObject({
      unit: 'percent',
      observations: [{ date: '2018-10-05', value: -0.7694 }],
    })
  })

  it('finds symbols by what they are called', async () => {
    const bestMatches = [{ '1. symbol': 'BA', '2. name': 'The Boeing Company', '8. currency': 'USD' }]
    await using at = await open({ body: { bestMatches } })
    const { series } = await at.connectors.seriesList('alphavantage', 'symbols/boeing', {
      limit: 9,
      offset: 0,
    })
    expect(series).toMatchObject([
      { series_id: 'TIME_SERIES_DAILY/BA', name: 'The Boeing Company', unit: 'USD' },
    ])
  })

  it('asks for the whole history only where the range needs it', async () => {
    await using at = await open({ body: daily })
    await at.connectors.series('alphavantage', 'TIME_SERIES_DAILY/IBM', { start: '2001-01-01' })
    expect(at.upstream.requests[0]!.query.get('outputsize')).toBe('full')
  })

  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
  it.each([
    ['TIME_SERIES_DAILY/IBM', {}, null],
    ['TIME_SERIES_DAILY/IBM', { start: daysAgo(100) }, null],
    ['TIME_SERIES_DAILY/IBM', { end: '2001-01-01' }, 'full'],
    ['TIME_SERIES_DAILY/IBM', { end: daysAgo(100) }, null],
    ['TIME_SERIES_INTRADAY/IBM/5min', {}, null],
    // Of every five minutes, the last 100 points are of one day or two.
    ['TIME_SERIES_INTRADAY/IBM/5min', { start: daysAgo(10) }, 'full'],
    ['TIME_SERIES_WEEKLY/IBM', { end: '2001-01-01' }, null],
  ])('for %s and %j the size of the answer is %j', async (id, range, size) => {
    await using at = await open({ body: daily })
    await at.connectors.series('alphavantage', id, range)
    expect(at.upstream.requests[0]!.query.get('outputsize')).toBe(size)
  })

  it('does not take the first of the last points for the beginning of the series', async () => {
    await using at = await open({ body: daily })
    const read = (id: string) => at.connectors.series('alphavantage', id)
    expect(await read('TIME_SERIES_DAILY/IBM')).toMatchObject({ start: null, end: '2024-01-03' })
    expect(await read('TIME_SERIES_WEEKLY/IBM')).toMatchObject({ start: '2024-01-02' })
  })

  it.each(['stocks/TIME_SERIES_DAILY/IBM', 'symbols/boeing/x'])('has nothing at %s', async (path) => {
    await using at = await open({ body: daily })
    const page = { limit: 1, offset: 0 }
    expect(await failureOf(at.connectors.seriesList('alphavantage', path, page))).toMatchObject({
      code: 'path_not_found',
    })
  })

  it.each([
    [
      'a spent day',
      {
        Information:
          'We have detected your API key as CANARY and our standard API rate limit is 25 requests per day. premium plans',
      },
      'provider_limit',
      3600,
    ],
    [
      'too many a minute',
      { Note: 'Our standard API call frequency is 5 calls per minute' },
      'provider_limit',
      60,
    ],
    [
      'a bad key',
      { 'Error Message': 'the parameter apikey is invalid or missing.' },
      'key_rejected',
      undefined,
    ],
    [
      'a demo key',
      { Information: 'The **demo** API key is for demo purposes only.' },
      'key_rejected',
      undefined,
    ],
    [
      'a premium function',
      { Information: 'Thank you! This is a premium endpoint.' },
      'key_rejected',
      undefined,
    ],
    ['a bad call', { 'Error Message': 'Invalid API call. Please retry' }, 'series_not_found', undefined],
    ['nothing', {}, 'series_not_found', undefined],
    ['an empty quote', { 'Global Quote': {} }, 'series_not_found', undefined],
  ])('tells %s, with HTTP 200', async (_, body, code, retryAfter) => {
    await using at = await open({ body })
    const error = await failureOf(at.connectors.series('alphavantage', 'TIME_SERIES_DAILY/IBM'))
    expect(error).toMatchObject({ code, retryAfter })
    expect(JSON.stringify(error) + error.message).not.toContain('CANARY')
  })

  it.each([
    ['TIME_SERIES_DAILY', 'invalid_series_id'],
    ['TIME_SERIES_DAILY/IBM/close/more', 'invalid_series_id'],
    ['TIME_SERIES_DAILY/IBM/apikey=x', 'invalid_series_id'],
    ['NO_SUCH_FUNCTION/IBM', 'series_not_found'],
    ['toString', 'series_not_found'],
  ])('refuses the id %s', async (id, code) => {
    await using at = await open({ body: daily })
    expect(await failureOf(at.connectors.series('alphavantage', id))).toMatchObject({ code })
    expect(at.upstream.requests).toHaveLength(0)
  })

  it('takes parameters by name as well', async () => {
    await using at = await open({ body: daily })
    await at.connectors.series('alphavantage', 'function=TIME_SERIES_DAILY&symbol=IBM')
    expect(at.upstream.requests[0]!.query.get('symbol')).toBe('IBM')
  })
})
