import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../../support/harness.ts'
import type { Routes } from '../../support/upstream.ts'
import { codelists, concepts, csv, dataflows, dataStructure, structureMessage, xml } from '../messages.ts'

const CONTENTS = `"title"\t"code"\t"type"\t"last update of data"\t"last table structure change"\t"data start"\t"data end"\t"values"
"Database by themes"\t"data"\t"folder"\t" "\t" "\t" "\t" "\t
"    Economy and finance"\t"economy"\t"folder"\t" "\t" "\t" "\t" "\t
"        National accounts"\t"na10"\t"folder"\t" "\t" "\t" "\t" "\t
"            GDP, ""main"" components"\t"nama_10_gdp"\t"dataset"\t"23.10.2024"\t"23.10.2024"\t"1975"\t"2023"\t1046573
"        Prices"\t"prc"\t"folder"\t" "\t" "\t" "\t" "\t
"    Population"\t"popul"\t"folder"\t" "\t" "\t" "\t" "\t
"Tables by themes"\t"tables"\t"folder"\t" "\t" "\t" "\t" "\t
`
const STRUCTURE = structureMessage(
  dataflows(['ESTAT', 'NAMA_10_GDP', 'GDP and main components', 'NAMA_10_GDP']),
  codelists('ESTAT', {
    FREQ: { A: 'Annual' },
    UNIT: { CP_MEUR: 'Current prices, million euro' },
    NA_ITEM: { B1GQ: 'Gross domestic product', P3: 'Consumption' },
    GEO: { LU: 'Luxembourg', BE: 'Belgium' },
  }),
  concepts('ESTAT', { freq: 'Time frequency', unit: 'Unit of measure', na_item: 'Indicator', geo: 'Entity' }),
  dataStructure('ESTAT', 'NAMA_10_GDP', { freq: 'FREQ', unit: 'UNIT', na_item: 'NA_ITEM', geo: 'GEO' }),
)
const HEADER = 'DATAFLOW,LAST UPDATE,freq,unit,na_item,geo,TIME_PERIOD,OBS_VALUE,OBS_FLAG\r\n'
const row = (geo: string, period: string, value: string, flag = '') =>
  `ESTAT:NAMA_10_GDP(1.0),23/10/24 11:00:00,A,CP_MEUR,B1GQ,${geo},${period},${value},${flag}\r\n`

const BASE = '/api/dissemination'
const DATA = `${BASE}/sdmx/2.1/data/NAMA_10_GDP`
const routes: Routes = {
  [`${BASE}/catalogue/toc/txt`]: { type: 'text/plain', body: CONTENTS },
  [`${BASE}/sdmx/2.1/dataflow/ESTAT/NAMA_10_GDP/latest`]: xml(STRUCTURE),
  [`${DATA}/A.CP_MEUR.B1GQ.LU`]: (hit) =>
    hit.headers.accept === 'text/csv' || hit.query.get('format') !== 'SDMX-CSV'
      ? { status: 406, body: '' }
      : csv(
          HEADER + row('LU', '2021', '73353.1') + row('LU', '2022', ':') + row('LU', '2023', '79310.2', 'p'),
        ),
  [`${DATA}/A.CP_MEUR..`]: csv(
    'DATAFLOW,LAST UPDATE,freq,unit,na_item,geo\nX,23/10/24 11:00:00,A,CP_MEUR,B1GQ,LU\nX,23/10/24 11:00:00,A,CP_MEUR,B1GQ,BE\n',
  ),
  [`${DATA}/A.CP_MEUR.B1GQ.`]: csv(HEADER + row('LU', '2023', '1') + row('BE', '2023', '2')),
}
const open = (more: Routes = {}) =>
  harness('eurostat', { ...routes, ...more }, { base: BASE, timeouts: { queueMs: 32 } })
const id = 'NAMA_10_GDP/A.CP_MEUR.B1GQ.LU'

describe('eurostat', () => {
  it('goes from its table of contents over datasets and dimensions to a series', async () => {
    await using at = await open()
    const browse = async (path: string) => (await at.connectors.browse('eurostat', path)).categories
    const paths = async (path: string) => (await browse(path)).map((one) => one.path)
    expect(await paths('')).toEqual(['toc/data', 'toc/tables'])
    expect(await paths('toc/data')).toEqual(['toc/economy', 'toc/popul'])
    expect(await paths('toc/economy')).toEqual(['toc/na10', 'toc/prc'])
    expect(await browse('toc/na10')).toEqual([
      {
        path: 'flow/NAMA_10_GDP',
        name: 'GDP, "main" components',
        description: '1975 to 2023, updated 23.10.2024',
        series: true,
      },
    ])
    expect(await paths('toc/prc')).toEqual([])
    expect(await browse('flow/NAMA_10_GDP')).toEqual([
      { path: 'flow/NAMA_10_GDP/A', name: 'Annual', description: 'Time frequency: A', series: true },
    ])
    expect(await paths('flow/NAMA_10_GDP/A')).toEqual(['flow/NAMA_10_GDP/A.CP_MEUR'])
    // From here on the keys of series tell which codes have data.
    expect(await paths('flow/NAMA_10_GDP/A.CP_MEUR')).toEqual(['flow/NAMA_10_GDP/A.CP_MEUR.B1GQ'])
    const list = await at.connectors.seriesList('eurostat', 'flow/NAMA_10_GDP/A.CP_MEUR.B1GQ', {
      limit: 9,
      offset: 0,
    })
    expect(list.series.map((one) => one.series_id)).toEqual(['NAMA_10_GDP/A.CP_MEUR.B1GQ.BE', id])
    expect(list.series[1]).toMatchObject({
      name: 'GDP and main components: Current prices, million euro, Gross domestic product, Luxembourg',
      frequency: 'annual',
      unit: 'Current prices, million euro',
    })
    expect(await failureOf(at.connectors.browse('eurostat', 'toc/nope'))).toMatchObject({
      code: 'path_not_found',
    })
  })

  it('shows all dataflows where there is no table of contents', async () => {
    await using at = await open({
      [`${BASE}/catalogue/toc/txt`]: { status: 404, body: '' },
      [`${BASE}/sdmx/2.1/dataflow/ESTAT/all`]: xml(structureMessage(dataflows(['ESTAT', 'X', 'A dataflow']))),
    })
    const { categories } = await at.connectors.browse('eurostat', '')
    expect(categories).toEqual([{ path: 'flow/X', name: 'A dataflow', description: '', series: true }])
  })

  it('fetches a series with its names from the structure and the date of its last update', async () => {
    await using at = await open()
    expect(
      await at.connectors.series('eurostat', id, { start: '2021-01-01', end: '2023-12-31' }),
    ).toMatchObject({
      provider: 'eurostat',
      series_id: id,
      name: 'GDP and main components: Current prices, million euro, Gross domestic product, Luxembourg',
      frequency: 'annual',
      unit: 'Current prices, million euro',
      lastUpdated: '2024-10-23T11:00:00',
      observations: [
        { date: '2021-01-01', period: '2021', value: 73353.1 },
        { date: '2022-01-01', period: '2022', value: null },
        { date: '2023-01-01', period: '2023', value: 79310.2 },
      ],
    })
    const { query } = at.upstream.requests[0]!
    expect([query.get('startPeriod'), query.get('endPeriod')]).toEqual(['2021', '2023'])
  })

  it('gives the codes for names when the structure is not to be had', async () => {
    const stubs = xml(structureMessage(dataflows(['ESTAT', 'NAMA_10_GDP', 'GDP and main components'])))
    await using at = await open({ [`${BASE}/sdmx/2.1/dataflow/ESTAT/NAMA_10_GDP/latest`]: { status: 404 } })
    expect(await at.connectors.series('eurostat', id)).toMatchObject({
      name: 'NAMA_10_GDP: CP_MEUR, B1GQ, LU',
    })
    await using listed = await open({
      [`${BASE}/sdmx/2.1/dataflow/ESTAT/NAMA_10_GDP/latest`]: { status: 404 },
      [`${BASE}/sdmx/2.1/dataflow/ESTAT/all`]: stubs,
    })
    const { name } = await listed.connectors.series('eurostat', id)
    expect(name).toBe('GDP and main components: CP_MEUR, B1GQ, LU')
  })

  it('reads structure-specific data, whose attributes are in no order', async () => {
    await using at = await open({
      [`${DATA}/A.CP_MEUR.B1GQ.LU`]: xml(
        '<m:StructureSpecificData xmlns:m="m"><u:DataSet xmlns:u="u"><Series geo="LU" na_item="B1GQ" unit="CP_MEUR" freq="A"><Obs TIME_PERIOD="2023" OBS_VALUE="7.5"/></Series></u:DataSet></m:StructureSpecificData>',
      ),
    })
    expect(await at.connectors.series('eurostat', id)).toMatchObject({
      frequency: 'annual',
      unit: 'Current prices, million euro',
      observations: [{ date: '2023-01-01', period: '2023', value: 7.5 }],
    })
  })

  const footer =
    '<m:GenericData xmlns:m="m"><m:Header/><f:Footer xmlns:f="f"><f:Message code="413" severity="Infomation"><c:Text xmlns:c="c">Later</c:Text></f:Message></f:Footer></m:GenericData>'
  it.each([
    [
      'an unknown dataset',
      { status: 404, body: { error: [{ status: 404, id: 4, label: 'ERR_NOT_FOUND' }] } },
      'series_not_found',
      404,
    ],
    [
      'a key that is wrong',
      { status: 400, body: { error: [{ status: 400, id: 150, label: 'Invalid' }] } },
      'invalid_series_id',
      404,
    ],
    [
      'no results',
      {
        status: 400,
        body: '<S:Fault xmlns:S="s"><faultcode>100</faultcode><faultstring>None</faultstring></S:Fault>',
      },
      'series_not_found',
      404,
    ],
    [
      'still in the queue, with 200 and a warning',
      { body: { warning: { status: 413, label: 'ASYNCHRONOUS_RESPONSE' } } },
      'provider_slow',
      504,
    ],
    ['still in the queue, with 200 and a footer', xml(footer), 'provider_slow', 504],
    ['too large, with 413', { status: 413, body: { error: [{ status: 413 }] } }, 'answer_too_large', 504],
    [
      'an error with 200',
      { body: { error: [{ status: 503, id: 1, label: 'UNAVAILABLE' }] } },
      'provider_down',
      503,
    ],
    [
      'HTML with 200',
      { type: 'text/html', body: '<html><body>Maintenance</body></html>' },
      'not_understood',
      500,
    ],
  ])('answers %s with the right error', async (_, reply, code, status) => {
    await using at = await open({ [`${DATA}/A.CP_MEUR.B1GQ.LU`]: reply })
    expect(await failureOf(at.connectors.series('eurostat', id))).toMatchObject({
      code,
      status,
      provider: 'eurostat',
    })
  })
})
