import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../../support/harness.ts'
import type { Routes } from '../../support/upstream.ts'
import { codelists, concepts, csv, dataflows, dataStructure, structureMessage, xml } from '../messages.ts'

const FLOWS = dataflows(['NB', 'EXR', 'Exchange rates', 'DSD_EXR'], ['NB', 'SEC', 'Securities', 'DSD_SEC'])
const STRUCTURE = structureMessage(
  FLOWS,
  dataStructure('NB', 'DSD_EXR', {
    FREQ: 'CL_FREQ',
    BASE_CUR: 'CL_CUR',
    QUOTE_CUR: 'CL_CUR',
    TENOR: 'CL_TENOR',
  }),
  codelists('NB', {
    CL_FREQ: { B: 'Business', M: 'Monthly' },
    CL_CUR: { DKK: 'Danish krone', NOK: 'Norwegian krone', USD: 'US dollar' },
    CL_TENOR: { SP: 'Spot' },
  }),
  concepts('NB', {
    FREQ: 'Frequency',
    BASE_CUR: 'Base currency',
    QUOTE_CUR: 'Quote currency',
    TENOR: 'Tenor',
  }),
)
const HEADER =
  'FREQ,BASE_CUR,QUOTE_CUR,TENOR,DECIMALS,CALCULATED,UNIT_MULT,COLLECTION,TIME_PERIOD,OBS_VALUE\n'
const row = (currency: string, multiplier: number, date: string, value: string) =>
  `B,${currency},NOK,SP,4,false,${multiplier},C,${date},${value}\n`

/** Without a parameter that says otherwise there is the last observation alone. */
const data = (currency: string, multiplier: number, values: readonly string[]): Routes[string] => {
  return ({ query }) => {
    const all = values.map((value, i) => row(currency, multiplier, `2024-01-0${i + 2}`, value))
    return csv(HEADER + (query.has('startPeriod') ? all : all.slice(-1)).join(''))
  }
}

const KEYS = {
  body: {
    meta: {},
    data: {
      dataSets: [
        {
          series: {
            '0:0:0:0': { attributes: [0], observations: { '0': ['149.21'] } },
            '0:1:0:0': { attributes: [1], observations: { '0': ['9.7134'] } },
          },
        },
      ],
      structure: {
        name: 'Exchange rates',
        dimensions: {
          dataset: [],
          series: [
            { id: 'FREQ', keyPosition: 0, values: [{ id: 'B', name: 'Business' }] },
            {
              id: 'BASE_CUR',
              keyPosition: 1,
              values: [
                { id: 'DKK', name: 'Danish krone' },
                { id: 'USD', name: 'US dollar' },
              ],
            },
            { id: 'QUOTE_CUR', keyPosition: 2, values: [{ id: 'NOK', name: 'Norwegian krone' }] },
            { id: 'TENOR', keyPosition: 3, values: [{ id: 'SP', name: 'Spot' }] },
          ],
          observation: [
            {
              id: 'TIME_PERIOD',
              keyPosition: 4,
              role: 'time',
              values: [{ id: '2024-01-03', name: '2024-01-03' }],
            },
          ],
        },
        attributes: {
          dataset: [],
          series: [
            {
              id: 'UNIT_MULT',
              values: [
                { id: '2', name: 'Hundreds' },
                { id: '0', name: 'Units' },
              ],
            },
          ],
          observation: [],
        },
      },
    },
  },
}

const routes: Routes = {
  '/api/dataflow/NB': xml(structureMessage(FLOWS)),
  '/api/dataflow/NB/EXR': xml(STRUCTURE),
  '/api/data/EXR/all': KEYS,
  '/api/data/EXR/B.DKK..': KEYS,
  '/api/data/EXR/B.DKK.NOK.': KEYS,
  '/api/data/EXR/B.DKK.NOK.SP': data('DKK', 2, ['149.21', '0.1', '']),
  '/api/data/EXR/B.USD.NOK.SP': data('USD', 0, ['9.7134', '9.6028']),
  '/api/data/EXR/B..NOK.SP': csv(
    HEADER + row('USD', 0, '2024-01-02', '9.7') + row('DKK', 2, '2024-01-02', '149.2'),
  ),
  '/api/data/SEC/B.X': csv(
    'FREQ;ISIN;UNIT_MULT;UNIT_MEASURE;TIME_PERIOD;OBS_VALUE\r\nB;X;6;NOK;2024-01-02;1.25\r\n',
  ),
}
const open = (more: Routes = {}) => harness('norges-bank', { ...routes, ...more }, { base: '/api' })

describe('norges-bank', () => {
  it('goes from dataflows over dimensions to a series', async () => {
    await using at = await open()
    const browse = async (path: string) => (await at.connectors.browse('norges-bank', path)).categories
    expect((await browse('')).map(({ path, name }) => [path, name])).toEqual([
      ['flow/EXR', 'Exchange rates'],
      ['flow/SEC', 'Securities'],
    ])
    expect((await browse('flow/EXR')).map(({ name }) => name)).toEqual(['Business', 'Monthly'])
    expect((await browse('flow/EXR/B')).map(({ path }) => path)).toContain('flow/EXR/B.DKK')
    expect((await browse('flow/EXR/B.DKK')).map(({ path }) => path)).toEqual(['flow/EXR/B.DKK.NOK'])
    const list = await at.connectors.seriesList('norges-bank', 'flow/EXR/B.DKK.NOK', { limit: 10, offset: 0 })
    expect(list.series).toEqual([
      {
        series_id: 'EXR/B.DKK.NOK.SP',
        name: 'Exchange rates: Danish krone, Norwegian krone, Spot',
        frequency: 'daily',
        unit: 'Norwegian krone',
        start: null,
        end: '2024-01-03',
      },
    ])
  })

  it('gives the price of one where the bank gives that of a hundred, digit for digit', async () => {
    await using at = await open()
    expect(await at.connectors.series('norges-bank', 'EXR/B.DKK.NOK.SP')).toMatchObject({
      provider: 'norges-bank',
      series_id: 'EXR/B.DKK.NOK.SP',
      name: 'Exchange rates: Danish krone, Norwegian krone, Spot',
      frequency: 'daily',
      unit: 'Norwegian krone',
      lastUpdated: null,
      observations: [
        { date: '2024-01-02', value: 1.4921 },
        { date: '2024-01-03', value: 0.001 },
        { date: '2024-01-04', value: null },
      ],
    })
    const { observations } = await at.connectors.series('norges-bank', 'EXR/B.USD.NOK.SP')
    expect(observations.map(({ value }) => value)).toEqual([9.7134, 9.6028])
  })

  it('multiplies in other dataflows, as SDMX has it, and reads semicolons', async () => {
    await using at = await open()
    expect(await at.connectors.series('norges-bank', 'SEC/B.X')).toMatchObject({
      unit: 'NOK',
      observations: [{ date: '2024-01-02', value: 1250000 }],
    })
  })

  it('asks for all observations unless a range is given, in English', async () => {
    await using at = await open()
    await at.connectors.series('norges-bank', 'EXR/B.USD.NOK.SP')
    await at.connectors.series('norges-bank', 'EXR/B.USD.NOK.SP', { end: '2024-01-02' })
    await at.connectors.series('norges-bank', 'EXR/B.USD.NOK.SP', { start: '2024-01-03', end: '2024-01-04' })
    const asked = at.upstream.requests.filter((hit) => hit.path === '/api/data/EXR/B.USD.NOK.SP')
    expect(
      asked.map(({ query }) => [query.get('startPeriod'), query.get('endPeriod'), query.get('locale')]),
    ).toEqual([
      ['1800-01-01', null, 'en'],
      ['1800-01-01', '2024-01-02', 'en'],
      ['2024-01-03', '2024-01-04', 'en'],
    ])
  })

  it('names the series that a wildcard matches', async () => {
    await using at = await open()
    const failure = await failureOf(at.connectors.series('norges-bank', 'EXR/B..NOK.SP'))
    expect(failure).toMatchObject({ code: 'invalid_series_id', status: 404 })
    expect(failure.message).toContain(
      'which differ in Base currency (BASE_CUR): EXR/B.USD.NOK.SP, EXR/B.DKK.NOK.SP.',
    )
  })

  it.each([
    ['404', { status: 404, body: '' }, 'series_not_found', 404],
    ['500 for ever', { status: 500, body: '' }, 'provider_down', 503],
    ['HTML', { type: 'text/html', body: '<!doctype html><p>Hei' }, 'not_understood', 500],
  ])('answers %s with the right error', async (_, reply, code, status) => {
    await using at = await open({ '/api/data/EXR/B.USD.NOK.SP': reply })
    expect(await failureOf(at.connectors.series('norges-bank', 'EXR/B.USD.NOK.SP'))).toMatchObject({
      code,
      status,
    })
  })
})
