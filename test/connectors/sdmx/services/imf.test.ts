import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../../support/harness.ts'
import type { Routes } from '../../support/upstream.ts'
import { csv } from '../messages.ts'

const urn = (kind: string, id: string) => `urn:sdmx:org.sdmx.infomodel.${kind}=${id}`
const concept = (scheme: string, item: string) => urn('conceptscheme.Concept', `${scheme}(1.0+.0).${item}`)
const codelist = (id: string) => ({ enumeration: urn('codelist.Codelist', `${id}(1.0+.0)`) })
const data = (artefacts: object) => ({ body: { meta: {}, data: artefacts } })

const FLOW = {
  id: 'PCPS',
  agencyID: 'IMF.RES',
  version: '9.0.0',
  name: 'Commodity prices',
  names: { en: 'Commodity prices' },
  description: 'Market prices',
  structure: urn('datastructure.DataStructure', 'IMF.RES:DSD_PCPS(10.0+.0)'),
}
/** Codelists belong to the concepts here, not to the dimensions. */
const DSD = {
  id: 'DSD_PCPS',
  agencyID: 'IMF.RES',
  version: '10.0.0',
  dataStructureComponents: {
    dimensionList: {
      dimensions: [
        { id: 'FREQUENCY', conceptIdentity: concept('IMF:CS_MASTER', 'FREQ'), position: 2 },
        { id: 'COUNTRY', conceptIdentity: concept('IMF:CS_MASTER', 'COUNTRY'), position: 0 },
        { id: 'INDICATOR', conceptIdentity: concept('IMF.RES:CS_PCPS', 'INDICATOR'), position: 1 },
      ],
      timeDimensions: [{ id: 'TIME_PERIOD', position: 3 }],
    },
    attributeList: { attributes: [{ id: 'UNIT', conceptIdentity: concept('IMF:CS_MASTER', 'UNIT') }] },
  },
}
const MASTER = {
  id: 'CS_MASTER',
  agencyID: 'IMF',
  version: '1.0.0',
  concepts: [
    { id: 'COUNTRY', name: 'Country', coreRepresentation: codelist('IMF:CL_COUNTRY') },
    { id: 'FREQ', name: 'Frequency', coreRepresentation: codelist('IMF:CL_FREQ') },
    { id: 'UNIT', name: 'Unit', coreRepresentation: codelist('IMF:CL_UNIT') },
  ],
}
const CS_PCPS = {
  id: 'CS_PCPS',
  agencyID: 'IMF.RES',
  version: '7.0.0',
  concepts: [{ id: 'INDICATOR', name: 'Indicator', coreRepresentation: codelist('IMF.RES:CL_INDICATOR') }],
}
const list = (agencyID: string, id: string, codes: Record<string, string>) => ({
  id,
  agencyID,
  version: '1.0.0',
  codes: Object.entries(codes).map(([code, name]) => ({ id: code, name, names: { en: name } })),
})
const LISTS = [
  list('IMF', 'CL_COUNTRY', { G001: 'World', BRA: 'Brazil' }),
  list('IMF', 'CL_FREQ', { A: 'Annual', M: 'Monthly' }),
  list('IMF', 'CL_UNIT', { USD: 'US dollar' }),
  list('IMF.RES', 'CL_INDICATOR', { PCOAL: 'Coal', PGOLD: 'Gold' }),
]

/** Values are text, times are values and not ids, attributes stand with series and with groups of them. */
const message = (series: object | undefined, countries = [{ id: 'G001' }]) => ({
  meta: {},
  data: {
    dataSets: [
      {
        structure: 0,
        action: 'Replace',
        ...(series && { series }),
        dimensionGroupAttributes: { ':0::': [0, null] },
      },
    ],
    structures: [
      {
        dataSets: [0],
        dimensions: {
          series: [
            { id: 'COUNTRY', keyPosition: 0, values: countries },
            { id: 'INDICATOR', keyPosition: 1, values: [{ id: 'PGOLD' }] },
            { id: 'FREQUENCY', keyPosition: 2, roles: ['FREQ'], values: [{ id: 'A' }] },
          ],
          observation: [
            { id: 'TIME_PERIOD', keyPosition: 3, values: [{ value: '2021-A1' }, { value: '2020-A1' }] },
          ],
        },
        measures: { observation: [{ id: 'OBS_VALUE' }] },
        attributes: {
          dimensionGroup: [
            { id: 'UNIT', values: [{ id: 'USD' }] },
            { id: 'NOTE', values: [] },
          ],
          series: [{ id: 'SCALE', values: [{ id: '6' }] }],
          observation: [{ id: 'STATUS', values: [] }],
        },
      },
    ],
  },
})
const GOLD = {
  '0:0:0': { attributes: [0], observations: { '0': ['1799.63', null], '1': ['1770000000.5', 'E'] } },
}

const BASE = '/external/sdmx/3.0'
const at = (path: string) => `${BASE}/${path}`
const DATA = at('data/dataflow/IMF.RES/PCPS/+')
const routes: Routes = {
  [at('structure/dataflow/all/*/+')]: data({
    dataflows: [FLOW, { ...FLOW, id: 'GFS', agencyID: 'IMF.STA', name: 'Finance', names: {} }],
  }),
  [at('structure/datastructure/IMF.RES/DSD_PCPS/+')]: data({
    dataStructures: [DSD],
    conceptSchemes: [MASTER, CS_PCPS],
    codelists: LISTS,
  }),
  [at('availability/dataflow/IMF.RES/PCPS/+/*/COUNTRY')]: data({
    dataConstraints: [
      { cubeRegions: [{ isIncluded: true, keyValues: [{ id: 'COUNTRY', values: [{ value: 'G001' }] }] }] },
    ],
  }),
  [`${DATA}/G001.PGOLD.A`]: { body: message(GOLD) },
  [`${DATA}/G001.PGOLD.*`]: { body: message(GOLD) },
}
const open = (more: Routes = {}) => harness('imf', { ...routes, ...more }, { base: BASE })
const id = 'IMF.RES,PCPS/G001.PGOLD.A'

describe('imf', () => {
  it('goes from agencies over dataflows and dimensions to a series', async () => {
    await using imf = await open()
    const browse = async (path: string) => (await imf.connectors.browse('imf', path)).categories
    expect((await browse('')).map(({ path }) => path)).toEqual(['agency/IMF.RES', 'agency/IMF.STA'])
    expect(await browse('agency/IMF.RES')).toEqual([
      { path: 'flow/IMF.RES,PCPS', name: 'Commodity prices', description: 'Market prices', series: true },
    ])
    expect(await browse('flow/IMF.RES,PCPS')).toEqual([
      { path: 'flow/IMF.RES,PCPS/G001', name: 'World', description: 'Country: G001', series: true },
    ])
    expect((await browse('flow/IMF.RES,PCPS/G001')).map(({ name }) => name)).toEqual(['Coal', 'Gold'])
    const { series } = await imf.connectors.seriesList('imf', 'flow/IMF.RES,PCPS/G001.PGOLD', {
      limit: 5,
      offset: 0,
    })
    expect(series).toEqual([
      {
        series_id: id,
        name: 'Commodity prices: World, Gold',
        frequency: 'annual',
        unit: 'US dollar',
        start: '2020-01-01',
        end: '2021-01-01',
      },
    ])
    expect(await imf.connectors.series('imf', id)).toMatchObject({ name: 'Commodity prices: World, Gold' })
  })

  it('finds codelists through concepts, asking for what the structure comes without', async () => {
    await using imf = await open({
      [at('structure/datastructure/IMF.RES/DSD_PCPS/+')]: data({ dataStructures: [DSD] }),
      [at('structure/conceptscheme/IMF.RES/CS_PCPS/+')]: data({ conceptSchemes: [CS_PCPS] }),
      [at('structure/codelist/IMF.RES/CL_INDICATOR/+')]: data({ codelists: LISTS.slice(3) }),
    })
    const { categories } = await imf.connectors.browse('imf', 'flow/IMF.RES,PCPS/G001')
    expect(categories.map(({ name }) => name)).toEqual(['Coal', 'Gold'])
  })

  it('reads values that are text and leaves the scale alone, which is a matter of display', async () => {
    await using imf = await open()
    expect(await imf.connectors.series('imf', id)).toMatchObject({
      provider: 'imf',
      series_id: id,
      name: 'Commodity prices: World, Gold',
      frequency: 'annual',
      unit: 'US dollar',
      lastUpdated: null,
      observations: [
        { date: '2020-01-01', period: '2020', value: 1770000000.5 },
        { date: '2021-01-01', period: '2021', value: 1799.63 },
      ],
    })
  })

  it('asks in the words of SDMX 3.0', async () => {
    await using imf = await open()
    await imf.connectors.series('imf', 'IMF.RES,PCPS,+/G001.PGOLD.*', {
      start: '2020-03-01',
      end: '2021-12-31',
    })
    await imf.connectors.series('imf', id, { start: '2020-01-01' })
    const asked = imf.upstream.requests.filter((hit) => hit.path.startsWith(DATA))
    expect(asked.map((hit) => [hit.path.slice(DATA.length), hit.query.get('c[TIME_PERIOD]')])).toEqual([
      // Not every agency there honours a filter of time, and a part must not pass for the whole.
      ['/G001.PGOLD.*', null],
      ['/G001.PGOLD.A', null],
    ])
    expect(Object.fromEntries(asked[0]!.query)).toMatchObject({
      dimensionAtObservation: 'TIME_PERIOD',
      attributes: 'dsd',
      measures: 'all',
    })
  })

  it('reads its structure-specific ML with groups, and CSV', async () => {
    const xml = `<message:StructureSpecificData xmlns:message="m" xmlns:ss="s" xmlns:ns1="n"><message:Header/>
      <message:DataSet ss:dataScope="DataStructure" xsi:type="ns1:DataSetType" action="Replace" UPDATE_DATE="2025-11-19T21:00:00Z">
        <Group xsi:type="ns1:GROUP_INDICATOR" INDICATOR="PCOAL" SERIES_NAME="Coal price" UNIT="XDC"/>
        <Group xsi:type="ns1:GROUP_INDICATOR" INDICATOR="PGOLD" SERIES_NAME="Gold price" UNIT="USD"/>
        <Series COUNTRY="G001" INDICATOR="PGOLD" FREQUENCY="A" OVERLAP="OL" SCALE="9"><Obs TIME_PERIOD="2020" OBS_VALUE="94669000000"/></Series>
      </message:DataSet></message:StructureSpecificData>`
    await using imf = await open({ [`${DATA}/G001.PGOLD.A`]: { type: 'application/xml', body: xml } })
    expect(await imf.connectors.series('imf', id)).toMatchObject({
      name: 'Gold price',
      unit: 'US dollar',
      lastUpdated: '2025-11-19T21:00:00Z',
      observations: [{ date: '2020-01-01', period: '2020', value: 94669000000 }],
    })
    imf.upstream.routes = {
      ...imf.upstream.routes,
      [`${DATA}/G001.PCOAL.A`]: csv(
        'STRUCTURE,STRUCTURE_ID,ACTION,COUNTRY,INDICATOR,FREQUENCY,TIME_PERIOD,OBS_VALUE\n,,,,,,,\n',
      ),
    }
    const failure = await failureOf(imf.connectors.series('imf', 'IMF.RES,PCPS/G001.PCOAL.A'))
    expect(failure).toMatchObject({ code: 'series_not_found' })
  })

  it('names some of the series that a wildcard matches', async () => {
    const two = { ...GOLD, '1:0:0': { observations: { '0': ['1'] } } }
    await using imf = await open({
      [`${DATA}/*.PGOLD.A`]: { body: message(two, [{ id: 'G001' }, { id: 'BRA' }]) },
    })
    const failure = await failureOf(imf.connectors.series('imf', 'IMF.RES,PCPS/*.PGOLD.A'))
    expect(failure).toMatchObject({ code: 'invalid_series_id', status: 404 })
    expect(failure.message).toContain(
      'which differ in COUNTRY: IMF.RES,PCPS/G001.PGOLD.A, IMF.RES,PCPS/BRA.PGOLD.A.',
    )
  })

  it.each([
    ['204 for an unknown dataflow', { status: 204 }, 'series_not_found', 404],
    ['404', { status: 404, body: { errors: [{ code: 404, title: 'Not found' }] } }, 'series_not_found', 404],
    ['200 without series', { body: message(undefined) }, 'series_not_found', 404],
    [
      "the gateway's own refusal",
      { status: 401, body: { statusCode: 401, message: 'Access denied' } },
      'key_required',
      400,
    ],
    [
      'JSON that is cut off',
      { type: 'application/json', body: '{"meta":{},"data":{"dataSets":[{"st' },
      'not_understood',
      500,
    ],
  ])('answers %s with the right error', async (_, reply, code, status) => {
    await using imf = await open({ [`${DATA}/G001.PGOLD.A`]: reply })
    expect(await failureOf(imf.connectors.series('imf', id))).toMatchObject({ code, status, provider: 'imf' })
  })
})
