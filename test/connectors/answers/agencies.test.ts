import { describe, expect, it } from 'vitest'
import { tableOf } from '../../../connectors/table.ts'
import { failureOf, harness } from '../support/harness.ts'
import type { Routes } from '../support/upstream.ts'

describe('hours of local time at the EIA', () => {
  const open = (data: object[], frequency = 'local-hourly') =>
    harness(
      'eia',
      { '*': { body: { response: { total: String(data.length), frequency, data } } } },
      { key: 'k' },
    )
  const hour = (period: string, value: string) => ({ period, value, 'value-units': 'megawatthours' })

  it('carry their offset, so that both hours stay apart when summer time ends', async () => {
    await using at = await open([
      hour('2026-11-01T02-05', '4'),
      hour('2026-11-01T01-05', '3'),
      hour('2026-11-01T01-04', '2'),
      hour('2026-11-01T00-04', '1'),
    ])
    const series = await at.connectors.series('eia', 'EBA.X.D.HL')
    expect(series.frequency).toBe('intraday')
    expect(series.observations).toEqual([
      { date: '2026-11-01', period: '2026-11-01T00:00-04:00', value: 1 },
      { date: '2026-11-01', period: '2026-11-01T01:00-04:00', value: 2 },
      { date: '2026-11-01', period: '2026-11-01T01:00-05:00', value: 3 },
      { date: '2026-11-01', period: '2026-11-01T02:00-05:00', value: 4 },
    ])
    const { rows } = tableOf([{ ...series, provider: 'eia' }], 'wide', false)
    expect(rows.map(([, period, value]) => [period, value])).toEqual([
      ['2026-11-01T00:00-04:00', 1],
      ['2026-11-01T01:00-04:00', 2],
      ['2026-11-01T01:00-05:00', 3],
      ['2026-11-01T02:00-05:00', 4],
    ])
  })

  it('are in the order of time east of Greenwich as well', async () => {
    await using at = await open([hour('2026-10-25T02+01', '2'), hour('2026-10-25T02+02', '1')])
    const { observations } = await at.connectors.series('eia', 'EBA.X.D.HL')
    expect(observations.map(({ value }) => value)).toEqual([1, 2])
  })

  it('are hours too in an id that ends with H, where the answer names no frequency', async () => {
    await using at = await open([hour('2026-11-01T05', '1')], '')
    expect((await at.connectors.series('eia', 'EBA.X.D.H')).frequency).toBe('intraday')
  })

  it('have the meaning of the marks that stand for values', async () => {
    const marks = ['W', 'NM', 'NA', '-', '--', '7']
    await using at = await open(
      marks.map((value, month) => hour(`2026-0${month + 1}`, value)),
      'monthly',
    )
    const { observations } = await at.connectors.series('eia', 'ELEC.X.M')
    expect(observations.map(({ value, status }) => [value, status])).toEqual([
      [null, 'missing, withheld'],
      [null, 'missing, not meaningful'],
      [null, 'missing, not available'],
      [null, 'missing, not reported'],
      [null, 'missing, not applicable'],
      [7, undefined],
    ])
  })
})

describe('a figure of a company in several documents', () => {
  const fact = (form: string, filed: string, val: number, more: object = {}) => ({
    start: '2025-01-01',
    end: '2025-12-31',
    val,
    form,
    filed,
    ...more,
  })
  const open = (...facts: object[]) =>
    harness(
      'sec',
      { '*': { body: { entityName: 'EXAMPLE', label: 'Net income', units: { USD: facts } } } },
      { key: 'Ada a@example.org' },
    )
  const ID = '1/us-gaap/NetIncomeLoss/USD/A'
  const proxy = fact('DEF 14A', '2026-04-07', 319_000, { frame: 'CY2025' })

  it('is that of the annual report, and what contradicts it later is told', async () => {
    await using at = await open(fact('10-K', '2026-02-25', 319_000_000), proxy)
    expect((await at.connectors.series('sec', ID)).observations).toEqual([
      {
        date: '2025-01-01',
        period: '2025',
        value: 319_000_000,
        status: 'contradicted by DEF 14A of 2026-04-07: 319000',
      },
    ])
  })

  it.each(['10-K/A', '10-KT', '20-F', '40-F', '40-F/A'])('may be amended by a later %s', async (form) => {
    await using at = await open(
      fact('10-K', '2026-02-25', 1),
      proxy,
      fact(form, '2026-05-01', 2, { frame: 'CY2025' }),
    )
    const { observations } = await at.connectors.series('sec', ID)
    expect(observations).toEqual([{ date: '2025-01-01', period: '2025', value: 2 }])
  })

  it('is that of another document if there is no report, and has no status where both agree', async () => {
    await using alone = await open(proxy)
    expect((await alone.connectors.series('sec', ID)).observations).toMatchObject([{ value: 319_000 }])
    await using same = await open(fact('10-K', '2026-02-25', 319_000), proxy)
    expect((await same.connectors.series('sec', ID)).observations).toEqual([
      { date: '2025-01-01', period: '2025', value: 319_000 },
    ])
  })

  it('is as it was filed until a day, and not there before', async () => {
    await using at = await open(
      fact('10-K', '2026-02-25', 1),
      fact('10-K/A', '2026-05-01', 2, { frame: 'CY2025' }),
    )
    const asOf = async (day: string) =>
      (await at.connectors.series('sec', ID, { asOf: day })).observations.map(({ value }) => value)
    expect(await asOf('2026-02-25')).toEqual([1])
    expect(await asOf('2026-05-01')).toEqual([2])
    expect(await failureOf(at.connectors.series('sec', ID, { asOf: '2026-02-24' }))).toMatchObject({
      code: 'series_not_found',
      message: expect.stringContaining('as they were on that day'),
    })
  })
})

describe('an indicator of the World Bank in another database', () => {
  const missing = { body: [{ message: [{ id: '175', key: 'Invalid format', value: '(not found)' }] }] }
  const head = { page: 1, pages: 1, per_page: 20000, total: 1 }
  const about = (source: string) => ({
    body: [head, [{ id: '123.T', name: 'Demo', unit: '', source: { id: source, value: 'x' } }]],
  })
  const data = {
    body: [
      head,
      [
        {
          indicator: { id: '123.T', value: 'Demo' },
          country: { id: '1W', value: 'World' },
          countryiso3code: 'WLD',
          date: '2017',
          value: 5,
        },
      ],
    ],
  }
  const routes = (source: string): Routes => ({
    '/indicator/123.T': about(source),
    '/indicator': about(source),
    '/source/78/indicator': about(source),
    '/country': { body: [head, [{ id: 'WLD', name: 'World' }]] },
    '/country/WLD/indicator/123.T': ({ query }) => ((query.get('source') ?? '2') === source ? data : missing),
  })

  it('is asked for there, as lists and searches name it', async () => {
    await using at = await harness('worldbank', routes('78'))
    const { connectors } = at
    const list = await connectors.seriesList('worldbank', 'source/78', { limit: 1, offset: 0 })
    const countries = await connectors.seriesList('worldbank', 'source/78/123.T', { limit: 1, offset: 0 })
    const found = await connectors.search('worldbank', 'demo', { limit: 1, offset: 0 })
    const ids = [list, countries, found].map(({ series }) => series[0]!.series_id)
    expect(ids).toEqual(['WLD/123.T', 'WLD/123.T', 'WLD/123.T'])
    expect((await connectors.series('worldbank', ids[0]!)).observations).toMatchObject([{ value: 5 }])
  })

  it('is asked for without a source in the main one', async () => {
    await using at = await harness('worldbank', routes('2'))
    await at.connectors.series('worldbank', 'WLD/123.T')
    expect(at.upstream.requests.at(-1)!.query.has('source')).toBe(false)
  })
})

describe('the columns of the Census Bureau', () => {
  it('are found whatever their case', async () => {
    const names = [
      'CELL_VALUE',
      'data_type_code',
      'TIME_SLOT_ID',
      'ERROR_DATA',
      'Category_Code',
      'SEASONALLY_ADJ',
      'TIME',
      'us',
    ]
    const rows = [
      ['7', 'TOTAL', '0', 'no', 'APERMITS', 'yes', '2026-01', '1'],
      ['0.1', 'TOTAL', '0', 'yes', 'APERMITS', 'yes', '2026-01', '1'],
    ]
    await using at = await harness('census', { '*': { body: [names, ...rows] } }, { key: 'k' })
    const series = await at.connectors.series('census', 'resconst/APERMITS.TOTAL.yes')
    expect(series).toMatchObject({ frequency: 'monthly', observations: [{ date: '2026-01-01', value: 7 }] })
  })
})
