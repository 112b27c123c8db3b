import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../../support/harness.ts'
import type { Routes } from '../../support/upstream.ts'
import {
  categoryScheme,
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

const LISTS = { CL_FREQ: { D: 'Daily', M: 'Monthly' }, CL_AREA: { CH: 'Switzerland', US: 'United States' } }
const DATA = `FREQ,REF_AREA,TIME_FORMAT,DECIMALS,SOURCE_REF,TITLE,UNIT_MEASURE,UNIT_MULT,TIME_PERIOD,OBS_STATUS,OBS_VALUE
M,US,602,3,"Fed, Board","Policy rate, United States",368,0,2024-01,A,5.375
M,US,602,3,"Fed, Board","Policy rate, United States",368,0,2024-02,M,NaN
`

const BASE = '/api/v2'
const routes: Routes = {
  [`${BASE}/structure/categoryscheme/BIS/*/+`]: xml(
    structureMessage(
      categoryScheme('BIS', 'BIS_DP', ['RATES', 'Interest rates'], ['POLICY', 'Policy rates'], 'WS_CBPOL'),
    ),
  ),
  [`${BASE}/structure/dataflow/BIS/*/+`]: xml(
    structureMessage(
      dataflows(['BIS', 'WS_CBPOL', 'Policy rates', 'BIS_CBPOL'], ['BIS.CBS', 'CBS', 'Banking', 'BIS_CBS']),
    ),
  ),
  [`${BASE}/structure/datastructure/BIS/BIS_CBPOL/+`]: xml(
    structureMessage(
      dataStructure('BIS', 'BIS_CBPOL', { FREQ: 'CL_FREQ', REF_AREA: 'CL_AREA' }),
      codelists('BIS', LISTS),
      concepts('BIS', { FREQ: 'Frequency', REF_AREA: 'Reference area' }),
    ),
  ),
  [`${BASE}/availability/dataflow/BIS/WS_CBPOL/+/*/FREQ`]: xml(
    structureMessage(constraint('BIS', 'WS_CBPOL', { FREQ: ['M'] })),
  ),
  [`${BASE}/data/dataflow/BIS/WS_CBPOL/+/M.*`]: json(
    keysMessage('Policy rates', { FREQ: LISTS.CL_FREQ, REF_AREA: LISTS.CL_AREA }, 'M.US', 'M.CH'),
  ),
  [`${BASE}/data/dataflow/BIS/WS_CBPOL/+/M.US`]: csv(DATA),
  [`${BASE}/data/dataflow/BIS/WS_CBPOL/1.0/M.US`]: csv(DATA),
}
const open = (more: Routes = {}) => harness('bis', { ...routes, ...more }, { base: BASE })

describe('bis', () => {
  it('goes from categories over dataflows and dimensions to a series', async () => {
    await using at = await open()
    const browse = async (path: string) => (await at.connectors.browse('bis', path)).categories
    const paths = async (path: string) => (await browse(path)).map((one) => one.path)
    expect(await paths('')).toEqual(['category/BIS,BIS_DP', 'flows'])
    expect(await paths('category/BIS,BIS_DP')).toEqual(['category/BIS,BIS_DP/RATES'])
    expect(await paths('category/BIS,BIS_DP/RATES')).toEqual(['category/BIS,BIS_DP/RATES.POLICY'])
    expect(await paths('category/BIS,BIS_DP/RATES.POLICY')).toEqual(['flow/WS_CBPOL'])
    expect(await paths('flows')).toEqual(['flow/WS_CBPOL', 'flow/BIS.CBS,CBS'])
    expect(await browse('flow/WS_CBPOL')).toEqual([
      { path: 'flow/WS_CBPOL/M', name: 'Monthly', description: 'Frequency: M', series: true },
    ])
    const list = await at.connectors.seriesList('bis', 'flow/WS_CBPOL/M', { limit: 1, offset: 1 })
    expect(list).toMatchObject({
      total: 2,
      series: [{ series_id: 'WS_CBPOL/M.US', name: 'Policy rates: United States' }],
    })
    expect(await at.connectors.series('bis', 'WS_CBPOL/M.US')).toMatchObject({ frequency: 'monthly' })
  })

  it('fetches a series by the short and the long form of its dataflow', async () => {
    await using at = await open()
    for (const id of ['WS_CBPOL/M.US', 'BIS,WS_CBPOL,1.0/M.US']) {
      expect(await at.connectors.series('bis', id)).toMatchObject({
        provider: 'bis',
        series_id: id,
        name: 'Policy rate, United States',
        frequency: 'monthly',
        unit: '368',
        lastUpdated: null,
        observations: [
          { date: '2024-01-01', period: '2024-01', value: 5.375 },
          { date: '2024-02-01', period: '2024-02', value: null },
        ],
      })
    }
  })

  it('shows the dataflows alone where there are no categories, and fails while they are down', async () => {
    await using at = await open({ [`${BASE}/structure/categoryscheme/BIS/*/+`]: { status: 404 } })
    expect((await at.connectors.browse('bis', '')).categories.map(({ path }) => path)).toEqual(['flows'])
    await using down = await open({ [`${BASE}/structure/categoryscheme/BIS/*/+`]: { status: 500 } })
    expect(await failureOf(down.connectors.browse('bis', ''))).toMatchObject({
      code: 'provider_down',
      status: 503,
    })
  })

  it.each([
    ['404', { status: 404, body: '' }, 'series_not_found', 404],
    ['too large', { status: 413, body: '' }, 'answer_too_large', 504],
    ['an empty list', csv('FREQ,REF_AREA,TIME_PERIOD,OBS_VALUE\n'), 'series_not_found', 404],
    [
      'XML that is cut off',
      { type: 'application/xml', body: '<m:GenericData xmlns:m="m"><m:Data' },
      'not_understood',
      500,
    ],
  ])('answers %s with the right error', async (_, reply, code, status) => {
    await using at = await open({ [`${BASE}/data/dataflow/BIS/WS_CBPOL/+/M.US`]: reply })
    expect(await failureOf(at.connectors.series('bis', 'WS_CBPOL/M.US'))).toMatchObject({ code, status })
  })
})
