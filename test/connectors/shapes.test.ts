import { describe, expect, it } from 'vitest'
import { csv } from './sdmx/messages.ts'
import { failureOf, harness } from './support/harness.ts'
import type { Routes } from './support/upstream.ts'

describe('CSV of SDMX', () => {
  const bis = (body: string, key: string) =>
    harness('bis', { [`/data/dataflow/BIS/WS_SPP/+/${key}`]: csv(body) })

  it('with a dimension named VALUE has its values in OBS_VALUE', async () => {
    const body = `FREQ,REF_AREA,VALUE,UNIT_MEASURE,TITLE,TIME_PERIOD,OBS_STATUS,OBS_VALUE
Q,BE,R,771,Property prices,2024-Q1,A,101.5
Q,BE,R,771,Property prices,2024-Q2,P,102.25
`
    await using at = await bis(body, 'Q.BE.R.771')
    expect((await at.connectors.series('bis', 'WS_SPP/Q.BE.R.771')).observations).toEqual([
      { date: '2024-01-01', period: '2024-Q1', value: 101.5 },
      { date: '2024-04-01', period: '2024-Q2', value: 102.25, status: 'provisional' },
    ])
  })

  it('none of whose values is a number although there are digits is an error, not a series of gaps', async () => {
    const body = 'FREQ,REF_AREA,TITLE,TIME_PERIOD,OBS_VALUE\nM,BE,T,2024-01,12 345\nM,BE,T,2024-02,12 346\n'
    await using at = await bis(body, 'M.BE')
    const error = await failureOf(at.connectors.series('bis', 'WS_SPP/M.BE'))
    expect(error).toMatchObject({ code: 'not_understood', status: 500 })
  })

  it('of a key that leaves out a dimension says which one tells the series apart', async () => {
    const body = `FREQ,REF_AREA,MATURITY,TITLE,TIME_PERIOD,OBS_VALUE
M,BE,10Y,T,2024-01,1
M,BE,2Y,T,2024-01,2
M,BE,10Y,T,2024-02,3
`
    await using at = await bis(body, 'M.BE')
    const error = await failureOf(at.connectors.series('bis', 'WS_SPP/M.BE'))
    expect(error).toMatchObject({ code: 'invalid_series_id', status: 404 })
    expect(error.message).toContain('which differ in MATURITY: WS_SPP/M.BE.10Y, WS_SPP/M.BE.2Y')
  })

  it('with a blank dimension in its rows is read', async () => {
    const body = `STRUCTURE,STRUCTURE_ID,FREQ,REF_AREA,ACTIVITY,TIME_PERIOD,OBS_VALUE
DATAFLOW,X,M,USA,,2024-01,1.5
DATAFLOW,X,M,USA,,2024-02,2.5
`
    await using at = await harness('oecd', { '/data/OECD.SDD,DF_X,/M.USA._Z': csv(body) })
    const { observations } = await at.connectors.series('oecd', 'OECD.SDD,DF_X,/M.USA._Z')
    expect(observations.map(({ value }) => value)).toEqual([1.5, 2.5])
  })
})

it('a series of FRED none of whose values is a number although there are digits is an error', async () => {
  const observations = [{ date: '2024-01-01', value: '12 345' }]
  const routes = {
    '/series': { body: { seriess: [{ id: 'X', title: 'T' }] } },
    '/series/observations': { body: { count: 1, observations } },
  }
  await using at = await harness('fred', routes, { key: 'k' })
  expect(await failureOf(at.connectors.series('fred', 'X'))).toMatchObject({ code: 'not_understood' })
})

describe('a range', () => {
  it('that a service of the IMF would not understand is cut here, from the whole series', async () => {
    const values = ['2024', '2025', '2026'].map((value) => ({ value }))
    const dimension = (id: string, code: string) => ({ id, values: [{ id: code }] })
    const structure = {
      dimensions: {
        series: [dimension('COUNTRY', 'USA'), dimension('FREQ', 'A')],
        observation: [{ id: 'TIME_PERIOD', values }],
      },
      measures: { observation: [{ id: 'OBS_VALUE' }] },
      attributes: {},
    }
    const series = { '0:0': { observations: { 0: ['1'], 1: ['2'], 2: ['3'] } } }
    await using at = await harness('imf', {
      '/data/dataflow/IMF.RES/WEO/+/USA.A': (hit) =>
        [...hit.query.keys()].some((name) => name.startsWith('c['))
          ? { status: 204 }
          : { body: { data: { dataSets: [{ series }], structures: [structure] } } },
    })
    const range = { start: '2025-01-01', end: '2026-12-31' }
    const { observations } = await at.connectors.series('imf', 'IMF.RES,WEO/USA.A', range)
    expect(observations.map(({ value }) => value)).toEqual([2, 3])
  })

  it('that gives nothing is not answered with the last observation of a list of keys', async () => {
    const rows = 'FREQ,REF_AREA,TITLE,TIME_PERIOD,OBS_VALUE\n'
    await using at = await harness('ilo', {
      '/data/ILO,DF_X/A.BEL': (hit) => {
        if (hit.query.has('startPeriod')) return { status: 404, body: '' }
        return csv(`${rows}${hit.query.has('lastNObservations') ? '' : 'A,BEL,T,2023,1\n'}A,BEL,T,2024,2\n`)
      },
    })
    const range = { start: '2023-01-01' }
    const { observations } = await at.connectors.series('ilo', 'DF_X/A.BEL', range)
    expect(observations.map(({ value }) => value)).toEqual([1, 2])
  })
})

describe('an answer of Eurostat', () => {
  it('that only says to come back for a file is too slow', async () => {
    const body =
      '<env:Envelope xmlns:env="http://schemas.xmlsoap.org/soap/envelope/"><env:Header/><env:Body>' +
      '<ns0:syncResponse xmlns:ns0="http://estat.ec.europa.eu/disschain/soap/extraction"><queued>' +
      '<id>abc</id><status>SUBMITTED</status></queued></ns0:syncResponse></env:Body></env:Envelope>'
    const reply = { type: 'application/xml', body }
    await using at = await harness('eurostat', { '*': reply }, { timeouts: { queueMs: 32 } })
    const error = await failureOf(at.connectors.series('eurostat', 'NAMA_10_GDP/A.CP_MEUR.B1GQ.LU'))
    expect(error).toMatchObject({ code: 'provider_slow', status: 504 })
    expect(error.message).toContain('Eurostat')
  })

  it('about a dataset of trade comes from the service for those', async () => {
    const body = 'DATAFLOW,LAST UPDATE,freq,reporter,TIME_PERIOD,OBS_VALUE,OBS_FLAG\nX,,A,LU,2023,5.5,bp\n'
    const base = '/eurostat/api/dissemination'
    const path = '/eurostat/api/comext/dissemination/sdmx/2.1/data/DS-045409/A.LU'
    await using at = await harness('eurostat', { [path]: csv(body) }, { base })
    expect((await at.connectors.series('eurostat', 'DS-045409/A.LU')).observations).toEqual([
      { date: '2023-01-01', period: '2023', value: 5.5, status: 'break, provisional' },
    ])
  })
})

describe('a series of the Bank of Canada', () => {
  const observations = (...days: string[]) => days.map((d) => ({ d, V39079: { v: '3.75' } }))
  const about = {
    seriesDetail: { V39079: { label: 'Target for the overnight rate', description: 'Since 2009' } },
  }

  it('goes by its label, and a range of one day does not hide its frequency', async () => {
    const path = '/observations/V39079/json'
    await using at = await harness('bank-of-canada', {
      [path]: (hit) => ({
        body: {
          ...about,
          observations: hit.query.has('recent')
            ? observations('2024-01-03', '2024-01-04', '2024-01-05')
            : observations('2024-01-05'),
        },
      }),
    })
    const range = { start: '2024-01-05', end: '2024-01-05' }
    expect(await at.connectors.series('bank-of-canada', 'V39079', range)).toMatchObject({
      name: 'Target for the overnight rate',
      notes: 'Since 2009',
      frequency: 'daily',
      observations: [{ date: '2024-01-05', value: 3.75 }],
    })
  })
})

describe('an intraday series of Alpha Vantage', () => {
  it('keeps the time of midnight', async () => {
    const body = {
      'Meta Data': { '4. Interval': '60min' },
      'Time Series (60min)': {
        '2024-01-02 01:00:00': { '4. close': '3' },
        '2024-01-02 00:00:00': { '4. close': '2' },
        '2024-01-01 23:00:00': { '4. close': '1' },
      },
    }
    await using at = await harness('alphavantage', { '*': { body } }, { key: 'k' })
    const { observations } = await at.connectors.series('alphavantage', 'TIME_SERIES_INTRADAY/IBM/60min')
    expect(observations.map(({ period }) => period)).toEqual([
      '2024-01-01T23:00',
      '2024-01-02T00:00',
      '2024-01-02T01:00',
    ])
  })
})

describe('a table of Statistics Canada', () => {
  const member = (memberId: number) => ({ memberId, memberNameEn: `M${memberId}`, memberUomCode: 17 })
  const metadata = (nbSeriesCube: number, members: number) => ({
    productId: 18100204,
    cubeTitleEn: 'T',
    frequencyCode: 9,
    nbSeriesCube,
    dimension: [
      { dimensionPositionId: 1, dimensionNameEn: 'Place', member: [1, 2, 3].map(member) },
      {
        dimensionPositionId: 2,
        dimensionNameEn: 'Item',
        member: Array.from({ length: members }, (_, i) => member(i + 1)),
      },
    ],
  })
  const success = (object: unknown) => ({ status: 'SUCCESS', object })
  /** The third place has no series. */
  const routes = (nbSeriesCube: number, members: number): Routes => ({
    'POST /getCubeMetadata': { body: [success(metadata(nbSeriesCube, members))] },
    '/getCodeSets': { body: success({ uom: [{ memberUomCode: 17, memberUomEn: 'Index' }] }) },
    'POST /getSeriesInfoFromCubePidCoord': (hit) => ({
      body: (JSON.parse(hit.body) as { coordinate: string }[]).map(({ coordinate }) =>
        coordinate.startsWith('3.')
          ? { status: 'FAILED', object: { coordinate, vectorId: 0, responseStatusCode: 1 } }
          : success({ coordinate, vectorId: 5 }),
      ),
    }),
  })

  it('lists the series that exist, as many as the table says', async () => {
    await using at = await harness('statcan', routes(26, 13))
    const page = await at.connectors.seriesList('statcan', '18/18100204', { limit: 1000, offset: 0 })
    expect(page.total).toBe(26)
    expect(page.series).toHaveLength(26)
    expect(page.series.some(({ series_id }) => series_id.startsWith('18100204/3.'))).toBe(false)
    expect(page.series[0]).toMatchObject({ series_id: '18100204/1.1', unit: 'Index' })
    const last = await at.connectors.seriesList('statcan', '18/18100204', { limit: 5, offset: 24 })
    expect(last.series.map(({ series_id }) => series_id)).toEqual(['18100204/2.12', '18100204/2.13'])
  })

  it('is asked about each combination once, and not about more than a page needs', async () => {
    await using at = await harness('statcan', routes(1200, 600))
    const asked = () => at.upstream.requests.filter(({ path }) => path.includes('getSeriesInfo')).length
    await at.connectors.seriesList('statcan', '18/18100204', { limit: 100, offset: 0 })
    expect(asked()).toBe(1)
    await at.connectors.seriesList('statcan', '18/18100204', { limit: 100, offset: 300 })
    expect(asked()).toBe(2)
  })

  it('says what its codes mean: units, and the status of a value', async () => {
    const point = { refPer: '2024-01-01', frequencyCode: 9, scalarFactorCode: 0 }
    const object = {
      productId: 18100204,
      coordinate: '1.2.0.0.0.0.0.0.0.0',
      vectorDataPoint: [
        { ...point, value: 1.5, symbolCode: 1 },
        { ...point, refPer: '2024-04-01', value: null, statusCode: 1 },
      ],
    }
    const codes = {
      uom: [{ memberUomCode: 17, memberUomEn: 'Index' }],
      status: [{ statusCode: 1, statusDescEn: 'Not available' }],
      symbol: [{ symbolCode: 1, symbolDescEn: 'Preliminary' }],
    }
    await using at = await harness('statcan', {
      ...routes(26, 13),
      '/getCodeSets': { body: success(codes) },
      'POST /getDataFromVectorsAndLatestNPeriods': { body: [success(object)] },
    })
    expect(await at.connectors.series('statcan', 'v5')).toMatchObject({
      unit: 'Index',
      dimensions: [
        { id: '1', name: 'Place', code: '1', label: 'M1' },
        { id: '2', name: 'Item', code: '2', label: 'M2' },
      ],
      observations: [
        { date: '2024-01-01', value: 1.5, status: 'provisional' },
        { date: '2024-04-01', value: null, status: 'not available' },
      ],
    })
  })
})

describe('the closing balance of the U.S. Treasury', () => {
  it('is found where it stands since 2022', async () => {
    const type = 'Treasury General Account (TGA) Closing Balance'
    const row = {
      record_date: '2024-01-02',
      account_type: type,
      open_today_bal: '700',
      close_today_bal: 'null',
    }
    const path = '/v1/accounting/dts/operating_cash_balance'
    await using at = await harness('us-treasury', {
      [path]: { body: { data: [row], meta: { 'total-count': 1 } } },
    })
    const id = `v1/accounting/dts/operating_cash_balance/close_today_bal/account_type=${type}`
    expect(await at.connectors.series('us-treasury', id)).toMatchObject({
      unit: 'millions of U.S. dollars',
      observations: [{ date: '2024-01-02', value: 700 }],
    })
    const fields = at.upstream.requests[0]!.query.get('fields')
    expect(fields).toBe('record_date,close_today_bal,open_today_bal,account_type')
  })
})

describe('Frankfurter', () => {
  it('has the blended rates of its second version beside the reference rates', async () => {
    await using at = await harness('frankfurter', {
      '/v2/currencies': {
        body: [
          { iso_code: 'EUR', name: 'Euro', start_date: '1999-01-04' },
          { iso_code: 'KES', name: 'Kenyan Shilling', start_date: '2001-02-03' },
          { iso_code: 'USD', name: 'US Dollar', start_date: '1971-01-04' },
        ],
      },
      '/v2/rates': {
        body: [
          { date: '2024-01-02', base: 'EUR', quote: 'KES', rate: 171.5 },
          { date: '2024-01-03', base: 'EUR', quote: 'KES', rate: 171.75 },
        ],
      },
    })
    const { categories } = await at.connectors.browse('frankfurter', 'v2')
    expect(categories.map(({ path }) => path)).toEqual(['v2/EUR', 'v2/KES', 'v2/USD'])
    const page = await at.connectors.seriesList('frankfurter', 'v2/EUR', { limit: 9, offset: 0 })
    expect(page.series[0]).toMatchObject({ series_id: 'v2/EUR/KES', start: '2001-02-03' })
    expect(await at.connectors.series('frankfurter', 'v2/EUR/KES')).toMatchObject({
      name: 'Kenyan Shilling for 1 EUR',
      observations: [
        { date: '2024-01-02', value: 171.5 },
        { date: '2024-01-03', value: 171.75 },
      ],
    })
    await at.connectors.series('frankfurter', 'v2/KES/USD').catch(() => undefined)
    await at.connectors.series('frankfurter', 'v2/USD/EUR', { start: '1950-01-01' }).catch(() => undefined)
    const asked = at.upstream.requests.filter(({ path }) => path === '/v2/rates')
    expect(asked.map(({ query }) => query.get('from'))).toEqual(['2001-02-03', '2001-02-03', '1950-01-01'])
  })
})

describe('a table of Nasdaq Data Link', () => {
  const columns = [{ name: 'code' }, { name: 'date' }, { name: 'value' }]
  const page = (data: unknown[], next: string | null) => ({
    body: { datatable: { data, columns }, meta: { next_cursor_id: next } },
  })

  it('is read page after page', async () => {
    await using at = await harness(
      'nasdaq',
      {
        '/datatables/QDL/BCHAIN.json': (hit) =>
          hit.query.get('qopts.cursor_id') === 'c2'
            ? page([['MKPRU', '2024-01-01', 1]], null)
            : page([['MKPRU', '2024-01-02', 2]], 'c2'),
      },
      { key: 'k' },
    )
    const series = await at.connectors.series('nasdaq', 'tables/QDL/BCHAIN/value/code=MKPRU')
    expect(series).toMatchObject({ name: 'Blockchain statistics, MKPRU, value', frequency: 'daily' })
    expect(series.observations.map(({ value }) => value)).toEqual([1, 2])
    expect(at.upstream.requests[0]!.query.get('code')).toBe('MKPRU')
  })

  it('whose rows are of several series a day is refused', async () => {
    const rows = [
      ['A', '2024-01-01', 1],
      ['B', '2024-01-01', 2],
    ]
    await using at = await harness('nasdaq', { '*': page(rows, 'more') }, { key: 'k' })
    const error = await failureOf(at.connectors.series('nasdaq', 'tables/QDL/BCHAIN/value'))
    expect(error).toMatchObject({ code: 'invalid_series_id', status: 404 })
    // The other pages, which may be thousands, are not asked for.
    expect(at.upstream.requests).toHaveLength(1)
  })
})
