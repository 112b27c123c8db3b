import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../../support/harness.ts'
import type { Routes } from '../../support/upstream.ts'
import {
  codelists,
  concepts,
  constraint,
  csv,
  dataflows,
  dataStructure,
  json,
  keysMessage,
  structureMessage,
  xml,
} from '../messages.ts'

const AGENCY = 'OECD.SDD.STES'
const FLOW = 'DSD_STES@DF_CLI'
const LISTS = {
  CL_AREA: { DEU: 'Germany', USA: 'United States' },
  CL_FREQ: { M: 'Monthly', Q: 'Quarterly' },
  CL_MEASURE: { LI: 'Composite leading indicator', BCICP: 'Business confidence' },
}
const structure = structureMessage(
  dataflows([AGENCY, FLOW, 'Leading indicators', 'DSD_STES']),
  dataStructure(AGENCY, 'DSD_STES', { REF_AREA: 'CL_AREA', FREQ: 'CL_FREQ', MEASURE: 'CL_MEASURE' }),
  codelists(AGENCY, LISTS),
  concepts(AGENCY, { REF_AREA: 'Reference area', FREQ: 'Frequency', MEASURE: 'Measure' }),
  constraint(AGENCY, FLOW, { REF_AREA: ['USA', 'DEU'] }),
)

/** Labels in columns of their own, CRLF, periods out of order, a blank value. */
const DATA = [
  'STRUCTURE,STRUCTURE_ID,STRUCTURE_NAME,ACTION,REF_AREA,Reference area,FREQ,Frequency,MEASURE,Measure,TIME_PERIOD,Time period,OBS_VALUE,Observation value,UNIT_MEASURE,Unit of measure,UNIT_MULT,Unit multiplier',
  ...[
    ['2024-03', '100.3'],
    ['2024-01', '99.8'],
    ['2024-02', ''],
  ].map(
    ([period, value]) =>
      `DATAFLOW,${AGENCY}:${FLOW}(4.1),"Leading, and lagging",I,USA,United States,M,Monthly,LI,Composite leading indicator,${period},,${value},,IX,Index,3,Thousands`,
  ),
  '',
].join('\r\n')

/** Structures come as XML to who asks for it by its media type, else as something else. */
const asXml = (body: string) => (hit: { headers: { accept?: string } }) =>
  hit.headers.accept?.includes('structure+xml') ? xml(body) : json('{"resources":[],"references":{}}')

const routes: Routes = {
  '/dataflow/all': asXml(
    structureMessage(dataflows([AGENCY, FLOW, 'Leading indicators'], ['OECD.CFE', 'DSD_T@DF_T', 'Tourism'])),
  ),
  [`/dataflow/${AGENCY}/${FLOW}/latest`]: asXml(structure),
  [`/availableconstraint/${AGENCY},${FLOW},/USA../all/FREQ`]: asXml(
    structureMessage(constraint(AGENCY, FLOW, { FREQ: ['M'] })),
  ),
  [`/data/${AGENCY},${FLOW},/USA.M.LI`]: csv(DATA),
  [`/data/${AGENCY},${FLOW},/USA.M.`]: json(
    JSON.stringify({
      meta: {},
      data: JSON.parse(
        keysMessage(
          'Leading indicators',
          { REF_AREA: LISTS.CL_AREA, FREQ: LISTS.CL_FREQ, MEASURE: LISTS.CL_MEASURE },
          'USA.M.LI',
          'USA.M.BCICP',
        ),
      ),
      errors: [],
    }),
  ),
}

const open = (more: Routes = {}) => harness('oecd', { ...routes, ...more })
const id = `${AGENCY},${FLOW},/USA.M.LI`

describe('oecd', () => {
  it('goes from agencies over dataflows and dimensions to a series', async () => {
    await using at = await open()
    const browse = async (path: string) => (await at.connectors.browse('oecd', path)).categories
    expect(await browse('')).toEqual([
      { path: 'agency/OECD.CFE', name: 'OECD.CFE', description: '1 dataflow', series: false },
      { path: `agency/${AGENCY}`, name: AGENCY, description: '1 dataflow', series: false },
    ])
    const flow = `flow/${AGENCY},${FLOW}`
    expect(await browse(`agency/${AGENCY}`)).toEqual([
      { path: flow, name: 'Leading indicators', description: '', series: true },
    ])
    expect((await browse(flow)).map(({ name }) => name)).toEqual(['Germany', 'United States'])
    expect((await browse(`${flow}/USA`)).map(({ path }) => path)).toEqual([`${flow}/USA.M`])
    const list = await at.connectors.seriesList('oecd', `${flow}/USA.M`, { limit: 10, offset: 0 })
    expect(list.series.map((one) => [one.series_id, one.name, one.frequency])).toEqual([
      [`${AGENCY},${FLOW}/USA.M.BCICP`, 'Leading indicators: United States, Business confidence', 'monthly'],
      [
        `${AGENCY},${FLOW}/USA.M.LI`,
        'Leading indicators: United States, Composite leading indicator',
        'monthly',
      ],
    ])
    expect(await at.connectors.series('oecd', list.series[1]!.series_id)).toMatchObject({
      frequency: 'monthly',
    })
  })

  it('puts periods in order, keeps a blank value as missing, and names all by the labels in the data', async () => {
    await using at = await open()
    expect(await at.connectors.series('oecd', id)).toMatchObject({
      provider: 'oecd',
      series_id: id,
      name: 'Leading, and lagging: United States, Composite leading indicator',
      frequency: 'monthly',
      unit: 'Index, thousands',
      lastUpdated: null,
      observations: [
        { date: '2024-01-01', period: '2024-01', value: 99.8 },
        { date: '2024-02-01', period: '2024-02', value: null },
        { date: '2024-03-01', period: '2024-03', value: 100.3 },
      ],
    })
    expect(at.upstream.requests).toHaveLength(1)
  })

  it('takes ids with an empty version, without version, and without an agency where only one has the dataflow', async () => {
    await using at = await open()
    for (const flow of [`${AGENCY},${FLOW},`, `${AGENCY},${FLOW}`, FLOW]) {
      expect(await at.connectors.series('oecd', `${flow}/USA.M.LI`)).toMatchObject({ frequency: 'monthly' })
    }
    expect(await failureOf(at.connectors.series('oecd', 'NOPE/USA.M.LI'))).toMatchObject({
      code: 'series_not_found',
    })
    const asked = at.upstream.requests.filter((hit) => hit.path.startsWith('/data/'))
    expect(new Set(asked.map(({ path }) => path))).toEqual(new Set([`/data/${AGENCY},${FLOW},/USA.M.LI`]))
  })

  it('offers the codes of the codelist when availability is not to be had', async () => {
    await using at = await open({
      [`/availableconstraint/${AGENCY},${FLOW},/USA../all/FREQ`]: { status: 404 },
    })
    const { categories } = await at.connectors.browse('oecd', `flow/${AGENCY},${FLOW}/USA`)
    expect(categories.map(({ name }) => name)).toEqual(['Monthly', 'Quarterly'])
  })

  it.each([
    ['no results as text', { status: 404, body: 'NoResultsFound' }, 'series_not_found', 404],
    [
      'errors in JSON',
      { body: { meta: {}, data: null, errors: [{ code: 404, title: 'No records' }] } },
      'series_not_found',
      404,
    ],
    ['an answer that is too large', { status: 413, body: '' }, 'answer_too_large', 504],
    ['the limit', { status: 429, body: '' }, 'provider_limit', 429],
    ['a ban', { status: 403, type: 'text/html', body: '<html>Forbidden</html>' }, 'provider_down', 503],
  ])('answers %s with the right error', async (_, reply, code, status) => {
    await using at = await open({ [`/data/${AGENCY},${FLOW},/USA.M.LI`]: reply })
    expect(await failureOf(at.connectors.series('oecd', id))).toMatchObject({
      code,
      status,
      provider: 'oecd',
    })
  })

  it('asks no more than sixty times an hour', async () => {
    await using at = await open()
    expect(at.connectors.limit('oecd')).toMatchObject({ requests: 60, perSeconds: 3600 })
  })
})
