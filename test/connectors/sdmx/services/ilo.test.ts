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
  structureMessage,
  xml,
} from '../messages.ts'

const FLOW = 'DF_UNE_TUNE_SEX_NB'
const STRUCTURE = structureMessage(
  dataflows(['ILO', FLOW, 'Unemployment by sex', 'DSD_UNE']),
  dataStructure('ILO', 'DSD_UNE', {
    REF_AREA: 'CL_AREA',
    FREQ: 'CL_FREQ',
    MEASURE: 'CL_MEASURE',
    SEX: 'CL_SEX',
  }),
  codelists('ILO', {
    CL_AREA: { FRA: 'France', NOR: 'Norway' },
    CL_FREQ: { A: 'Annual', Q: 'Quarterly' },
    CL_MEASURE: { UNE_NB: 'Unemployment' },
    CL_SEX: { SEX_T: 'Total', SEX_F: 'Female' },
  }),
  concepts('ILO', { REF_AREA: 'Reference area', FREQ: 'Frequency', MEASURE: 'Measure', SEX: 'Sex' }),
  constraint('ILO', FLOW, { REF_AREA: ['NOR'], FREQ: ['A', 'Q'] }),
)
const HEADER =
  'DATAFLOW,REF_AREA,FREQ,MEASURE,SEX,TIME_PERIOD,OBS_VALUE,OBS_STATUS,UNIT_MEASURE,UNIT_MULT\r\n'
const row = (sex: string, year: string, value: string) =>
  `ILO:${FLOW}(1.0),NOR,A,UNE_NB,${sex},${year},${value},,PS,3\r\n`
const available = (codes: Readonly<Record<string, readonly string[]>>) =>
  xml(structureMessage(constraint('ILO', FLOW, codes)))

const DATA = `/rest/data/ILO,${FLOW}`
const routes: Routes = {
  '/rest/dataflow/ILO': xml(structureMessage(dataflows(['ILO', FLOW, 'Unemployment by sex', 'DSD_UNE']))),
  [`/rest/dataflow/ILO/${FLOW}/latest`]: xml(STRUCTURE),
  [`/rest/availableconstraint/ILO,${FLOW}/NOR.../all/FREQ`]: available({ FREQ: ['A'] }),
  [`/rest/availableconstraint/ILO,${FLOW}/NOR.A../all/MEASURE`]: available({ MEASURE: ['UNE_NB'] }),
  [`${DATA}/NOR.A.UNE_NB.`]: csv(HEADER + row('SEX_T', '2023', '104.3') + row('SEX_F', '2022', '47')),
  [`${DATA}/NOR.A.UNE_NB.SEX_T`]: (hit) =>
    hit.headers.accept === 'text/csv'
      ? csv(HEADER + row('SEX_T', '2023', '104.3') + row('SEX_T', '2022', '93.6') + row('SEX_T', '2021', ''))
      : { status: 406, body: '' },
}
const open = (more: Routes = {}) => harness('ilo', { ...routes, ...more }, { base: '/rest' })
const id = `${FLOW}/NOR.A.UNE_NB.SEX_T`

describe('ilo', () => {
  it('goes from dataflows over dimensions to a series', async () => {
    await using at = await open()
    const browse = async (path: string) => (await at.connectors.browse('ilo', path)).categories
    const names = async (path: string) => (await browse(path)).map(({ name }) => name)
    expect((await browse('')).map(({ path }) => path)).toEqual([`flow/${FLOW}`])
    expect(await names(`flow/${FLOW}`)).toEqual(['Norway'])
    expect(await names(`flow/${FLOW}/NOR`)).toEqual(['Annual'])
    expect(await names(`flow/${FLOW}/NOR.A`)).toEqual(['Unemployment'])
    expect(await names(`flow/${FLOW}/NOR.A.UNE_NB`)).toEqual([])
    const list = await at.connectors.seriesList('ilo', `flow/${FLOW}/NOR.A.UNE_NB`, { limit: 10, offset: 0 })
    expect(list.series.map((one) => [one.series_id, one.name, one.end])).toEqual([
      [`${FLOW}/NOR.A.UNE_NB.SEX_F`, 'Unemployment by sex: Norway, Unemployment, Female', '2022-01-01'],
      [id, 'Unemployment by sex: Norway, Unemployment, Total', '2023-01-01'],
    ])
  })

  it('fetches a series by the short and the long form of its dataflow', async () => {
    await using at = await open()
    for (const form of [id, `ILO,${id}`]) {
      expect(
        await at.connectors.series('ilo', form, { start: '2021-06-01', end: '2023-12-31' }),
      ).toMatchObject({
        provider: 'ilo',
        series_id: form,
        name: 'Unemployment by sex: Norway, Unemployment, Total',
        frequency: 'annual',
        unit: 'PS, thousands',
        lastUpdated: null,
        observations: [
          { date: '2022-01-01', period: '2022', value: 93.6 },
          { date: '2023-01-01', period: '2023', value: 104.3 },
        ],
      })
    }
    const { query } = at.upstream.requests[0]!
    expect([query.get('startPeriod'), query.get('endPeriod')]).toEqual(['2021', '2023'])
  })

  it.each([
    ['404 as text', { status: 404, body: 'NoRecordsFound' }, 'series_not_found', 404],
    ['a key that is wrong', { status: 400, body: 'Not enough dimensions' }, 'invalid_series_id', 404],
    ['too large', { status: 413, body: '' }, 'answer_too_large', 504],
    ['a row that is cut off', csv(`${HEADER}ILO:${FLOW}(1.0),NOR,A`), 'not_understood', 500],
  ])('answers %s with the right error', async (_, reply, code, status) => {
    await using at = await open({ [`${DATA}/NOR.A.UNE_NB.SEX_T`]: reply })
    expect(await failureOf(at.connectors.series('ilo', id))).toMatchObject({ code, status, provider: 'ilo' })
  })
})
