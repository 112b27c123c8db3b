import { describe, expect, it } from 'vitest'
import { csv, dataflows, structureMessage, xml } from '../sdmx/messages.ts'
import { failureOf, harness } from '../support/harness.ts'
import type { Hit } from '../support/upstream.ts'

describe('the Bundesbank', () => {
  const dimension = (id: string, code: string, name: string) => ({ id, values: [{ id: code, name }] })
  const structure = {
    name: 'Exchange rates',
    dimensions: {
      series: [
        { ...dimension('BBK_STD_FREQ', 'M', 'Monthly'), keyPosition: 0 },
        { ...dimension('BBK_STD_CURRENCY', 'USD', 'US dollar'), keyPosition: 1 },
      ],
      observation: [{ id: 'TIME_PERIOD', values: [{ id: '2024-01' }, { id: '2024-02' }] }],
    },
    attributes: {
      series: [
        { id: 'BBK_TITLE_ENG', values: [{ name: 'Dollar per euro' }] },
        { id: 'BBK_UNIT', values: [{ name: 'US-Dollar' }] },
        { id: 'BBK_UNIT_ENG', values: [] },
        { id: 'BBK_UNIT_MULT', values: [{ name: '6' }] },
        { id: 'BBK_COMM_GEN_ENG', values: [{ name: 'Reference rates' }] },
      ],
      observation: [],
    },
  }
  const series = { '0:0': { attributes: [0, 0, null, 0, 0], observations: { 0: [1.09], 1: [1.08] } } }

  it('is read from JSON, with structures below metadata', async () => {
    await using at = await harness(
      'bundesbank',
      {
        '/rest/data/BBEX3/M.USD': { body: { data: { dataSets: [{ series }], structure } } },
        '/rest/metadata/dataflow/BBK': xml(
          structureMessage(dataflows(['BBK', 'BBEX3', 'Exchange rates', 'BBK_ERX'])),
        ),
      },
      { base: '/rest' },
    )
    expect((await at.connectors.browse('bundesbank', '')).categories).toMatchObject([{ path: 'flow/BBEX3' }])
    expect(await at.connectors.series('bundesbank', 'BBEX3/M.USD')).toMatchObject({
      name: 'Dollar per euro',
      frequency: 'monthly',
      unit: 'US-Dollar, millions',
      notes: 'Reference rates',
      observations: [
        { period: '2024-01', value: 1.09 },
        { period: '2024-02', value: 1.08 },
      ],
    })
  })
})

describe('INSEE', () => {
  it('is read from structure-specific ML, a series by its idbank', async () => {
    const body =
      '<message:StructureSpecificData xmlns:message="m" xmlns:ss="s"><message:Header/><message:DataSet ss:dataScope="DataStructure">' +
      '<Series IDBANK="001769682" FREQ="M" TITLE_FR="Indice" TITLE_EN="Consumer price index" UNIT_MEASURE="INDICE" UNIT_MULT="0" LAST_UPDATE="2025-11-14">' +
      '<Obs TIME_PERIOD="2025-10" OBS_VALUE="121.31" OBS_STATUS="A"/><Obs TIME_PERIOD="2025-09" OBS_VALUE="121.2" OBS_STATUS="P"/>' +
      '</Series></message:DataSet></message:StructureSpecificData>'
    await using at = await harness('insee', {
      '/data/SERIES_BDM/001769682': { type: 'application/xml', body },
    })
    expect(await at.connectors.series('insee', 'SERIES_BDM/001769682')).toMatchObject({
      name: 'Consumer price index',
      frequency: 'monthly',
      lastUpdated: '2025-11-14',
      observations: [
        { period: '2025-09', value: 121.2, status: 'provisional' },
        { period: '2025-10', value: 121.31 },
      ],
    })
  })
})

const LABELLED = `DATAFLOW,FREQ: Frequency,REGION: Region,TIME_PERIOD: Time Period,OBS_VALUE: Value,UNIT_MEASURE: Unit
ABS:CPI(1.0): Prices,Q: Quarterly,50: Australia,2024-Q1,137.4,IN: Index Numbers
`

describe.each([
  ['abs', 'CPI/Q.50', '/data/ABS,CPI,/Q.50'],
  ['unicef', 'CPI/Q.50', '/data/UNICEF,CPI,latest/Q.50'],
  ['istat', 'CPI/Q.50', '/data/CPI/Q.50'],
])('%s', (slug, id, path) => {
  it('is read from CSV with its own names', async () => {
    await using at = await harness(slug, { [path]: csv(LABELLED) })
    expect(await at.connectors.series(slug, id)).toMatchObject({
      name: 'Prices: Australia',
      unit: 'Index Numbers',
      frequency: 'quarterly',
      observations: [{ date: '2024-01-01', period: '2024-Q1', value: 137.4 }],
    })
  })
})

describe('UNdata', () => {
  it('is read from generic ML, with the provider behind the key', async () => {
    const value = (id: string, text: string) => `<g:Value id="${id}" value="${text}"/>`
    const body =
      '<m:GenericData xmlns:m="m" xmlns:g="g"><m:Header/><m:DataSet><g:Series>' +
      `<g:SeriesKey>${value('FREQ', 'A')}${value('REF_AREA', '418')}</g:SeriesKey>` +
      `<g:Attributes>${value('TITLE', 'Population')}</g:Attributes>` +
      '<g:Obs><g:ObsDimension value="2010"/><g:ObsValue value="6.2"/></g:Obs></g:Series></m:DataSet></m:GenericData>'
    const path = '/data/UNSD,DF_UNDATA,1.0/A.418/ALL'
    await using at = await harness('undata', { [path]: { type: 'application/xml', body } })
    expect(await at.connectors.series('undata', 'DF_UNDATA/A.418')).toMatchObject({
      name: 'Population',
      frequency: 'annual',
      observations: [{ period: '2010', value: 6.2 }],
    })
  })
})

describe('EIA', () => {
  const data = [
    {
      period: '2024-01-03',
      value: '72.7',
      units: '$/BBL',
      'series-description': 'Cushing, OK WTI Spot Price',
    },
    {
      period: '2024-01-02',
      value: 70.38,
      units: '$/BBL',
      'series-description': 'Cushing, OK WTI Spot Price',
    },
  ]
  it('goes from routes to a series, newest first there and oldest first here', async () => {
    await using at = await harness(
      'eia',
      {
        '/v2/petroleum': { body: { response: { id: 'petroleum', routes: [{ id: 'pri', name: 'Prices' }] } } },
        '/v2/seriesid/PET.RWTC.D': { body: { response: { total: '2', frequency: 'daily', data } } },
      },
      { base: '/v2', key: 'k' },
    )
    expect((await at.connectors.browse('eia', 'petroleum')).categories).toMatchObject([
      { path: 'petroleum/pri', name: 'Prices' },
    ])
    expect(await at.connectors.series('eia', 'PET.RWTC.D')).toMatchObject({
      name: 'Cushing, OK WTI Spot Price',
      unit: '$/BBL',
      frequency: 'daily',
      observations: [
        { date: '2024-01-02', value: 70.38 },
        { date: '2024-01-03', value: 72.7 },
      ],
    })
  })

  it('reads hours', async () => {
    const hours = ['2024-02-01T05', '2024-02-01T00', '2024-01-31T23'].map((period, value) => ({
      period,
      value,
    }))
    const units = { 'value-units': 'megawatthours' }
    const response = { total: '3', frequency: 'hourly', data: hours.map((hour) => ({ ...hour, ...units })) }
    await using at = await harness('eia', { '*': { body: { response } } }, { key: 'k' })
    expect(await at.connectors.series('eia', 'EBA.US48-ALL.D.H')).toMatchObject({
      unit: 'megawatthours',
      frequency: 'intraday',
      observations: [
        { period: '2024-01-31T23:00', value: 2 },
        { period: '2024-02-01T00:00', value: 1 },
        { period: '2024-02-01T05:00', value: 0 },
      ],
    })
  })

  it('reads a series that is longer than a page, and refuses a part of one', async () => {
    const day = (n: number) => new Date(Date.UTC(2000, 0, 1 + n)).toISOString().slice(0, 10)
    const days = Array.from({ length: 5001 }, (_, n) => ({ period: day(n), value: n, units: 'x' }))
    let pages = (offset: number) => days.slice(offset, offset + 5000)
    const body = (offset: number) => ({ response: { total: 5001, frequency: 'daily', data: pages(offset) } })
    const routes = { '*': (hit: Hit) => ({ body: body(Number(hit.query.get('offset') ?? 0)) }) }
    await using at = await harness('eia', routes, { key: 'k' })
    const { observations } = await at.connectors.series('eia', 'PET.X.D')
    expect(observations).toHaveLength(5001)
    expect(observations.at(-1)).toEqual({ date: day(5000), value: 5000 })
    pages = (offset) => (offset === 0 ? days.slice(0, 5000) : [])
    expect(await failureOf(at.connectors.series('eia', 'PET.Y.D'))).toMatchObject({ code: 'not_understood' })
  })

  it.each([
    [{ status: 403, body: { error: { code: 'API_KEY_INVALID', message: 'x' } } }, 'key_rejected'],
    [{ status: 429, body: { error: { code: 'OVER_RATE_LIMIT' } } }, 'provider_limit'],
    [{ status: 404, body: { error: 'Series not found', code: 404 } }, 'series_not_found'],
    [{ body: { response: { data: [] } } }, 'series_not_found'],
  ])('tells %j', async (reply, code) => {
    await using at = await harness('eia', { '*': reply }, { key: 'k' })
    expect(await failureOf(at.connectors.series('eia', 'X'))).toMatchObject({ code })
  })
})
