import { describe, expect, it } from 'vitest'
import { harness } from '../support/harness.ts'
import type { Reply, Routes } from '../support/upstream.ts'
import { csv, xml } from './messages.ts'

/** Data for every key, and no structures. */
const only = (reply: Reply): Routes => ({
  '*': (hit) => (/\/data\//.test(hit.path) ? reply : { status: 404, body: '' }),
})

async function read(slug: string, id: string, reply: Reply) {
  await using at = await harness(slug, only(reply))
  return await at.connectors.series(slug, id)
}

describe('a unit', () => {
  const rows = (...cells: readonly string[]) =>
    csv(`FREQ,REF_AREA,TIME_PERIOD,OBS_VALUE,UNIT_MULT,UNIT_MEASURE\n${cells.join('\n')}\n`)

  it('holds for all values, also where the multiplier changes from one to the next', async () => {
    const reply = rows('A,BEL,2023,1.5,3,PS', 'A,BEL,2024,1600,0,PS')
    expect(await read('ilo', 'DF_X/A.BEL', reply)).toMatchObject({
      unit: 'PS',
      observations: [{ value: 1500 }, { value: 1600 }],
    })
  })

  it('and its multiplier are those of rows with a value: the others may leave them empty', async () => {
    const reply = rows('A,BEL,2022,,,', 'A,BEL,2023,1.5,6,PS')
    expect(await read('ilo', 'DF_X/A.BEL', reply)).toMatchObject({
      unit: 'PS, millions',
      observations: [{ value: null }, { value: 1.5 }],
    })
  })

  it('and its multiplier may be in rows of their own, for one series or for several', async () => {
    const reply = rows('A,BEL,,,6,', 'A,,,,,PS', 'M,,,,,X', 'A,BEL,2022,2.5,,', 'A,BEL,2023,1.5,,')
    expect(await read('ilo', 'DF_X/A.BEL', reply)).toMatchObject({
      unit: 'PS, millions',
      observations: [{ value: 2.5 }, { value: 1.5 }],
    })
  })

  it.each([
    ['3: Thousands', 'Persons, thousands'],
    ['0: Units', 'Persons'],
    ['NA', 'Persons'],
  ])('has its multiplier in UNIT_MULTIPLIER at UNICEF: %s', async (multiplier, unit) => {
    const head = 'REF_AREA:Geographic area,TIME_PERIOD:Time period,OBS_VALUE:Value'
    const reply = csv(
      `${head},UNIT_MULTIPLIER:Unit multiplier,UNIT_MEASURE:Unit\nAFG: Afghanistan,2023,1.5,${multiplier},PS: Persons\n`,
    )
    expect(await read('unicef', 'CME/AFG', reply)).toMatchObject({ unit, observations: [{ value: 1.5 }] })
  })

  it('is in UNIT_MEAS at Istat', async () => {
    const reply = csv('DATAFLOW,FREQ,ITTER107,TIME_PERIOD,OBS_VALUE,UNIT_MEAS\nX,M,IT,2024-01,9.5,EUR\n')
    expect(await read('istat', '150_908/M.IT', reply)).toMatchObject({ unit: 'EUR' })
  })
})

describe('a letter with two meanings, unless the provider lists one', () => {
  const insee = (freq: string, ...periods: readonly string[]) =>
    xml(
      `<m:StructureSpecificData xmlns:m="m"><m:DataSet><Series IDBANK="1" FREQ="${freq}" TITLE_EN="T">` +
        `${periods.map((period) => `<Obs TIME_PERIOD="${period}" OBS_VALUE="1"/>`).join('')}</Series>` +
        '</m:DataSet></m:StructureSpecificData>',
    )

  it.each([
    ['B', ['2024-B1', '2024-B2'], 'bimonthly', ['2024-B1', '2024-B2']],
    ['B', ['2024-01-01', '2024-01-02'], 'bimonthly', [undefined, undefined]],
    ['H', ['2024-H1', '2024-H2'], 'semiannual', ['2024-S1', '2024-S2']],
    [
      'H',
      ['2024-01-01T00:00:00', '2024-01-01T01:00:00'],
      'intraday',
      ['2024-01-01T00:00', '2024-01-01T01:00'],
    ],
  ])('%s before %j is %s', async (freq, periods, frequency, expected) => {
    const series = await read('insee', 'SERIES_BDM/1', insee(freq, ...periods))
    expect(series.frequency).toBe(frequency)
    expect(series.observations.map(({ period }) => period)).toEqual(expected)
  })
})

describe('a status', () => {
  it('is in STATUS at the IMF', async () => {
    const structure = {
      dimensions: {
        series: [{ id: 'COUNTRY', keyPosition: 0, values: [{ id: 'DE' }] }],
        observation: [{ id: 'TIME_PERIOD', keyPosition: 1, values: [{ value: '2024-M01' }] }],
      },
      measures: { observation: [{ id: 'OBS_VALUE' }] },
      attributes: { observation: [{ id: 'STATUS', values: [{ id: 'P' }] }] },
    }
    const dataSets = [{ series: { 0: { observations: { 0: ['1.5', 0] } } } }]
    const reply = { body: { data: { dataSets, structures: [structure] } } }
    const { observations } = await read('imf', 'IMF.STA,CPI/DE', reply)
    expect(observations).toEqual([
      { date: '2024-01-01', period: '2024-01', value: 1.5, status: 'provisional' },
    ])
  })

  it('is no dimension of that name', async () => {
    const reply = csv('FREQ,STATUS,TIME_PERIOD,OBS_VALUE,OBS_STATUS\nA,M,2023,1.5,\nA,M,2024,2.5,E\n')
    const { observations } = await read('ilo', 'DF_X/A.M', reply)
    expect(observations.map(({ status }) => status)).toEqual([undefined, 'estimated'])
  })
})

it('numbers with decimal commas may have dots between thousands', async () => {
  const body = 'FREQ;TYPE;TIME_PERIOD;OBS_VALUE\nB;R;2024-01-02;4,5\nB;R;2024-01-03;1.234,5\n'
  const { observations } = await read('norges-bank', 'IR/B.R', csv(body))
  expect(observations.map(({ value }) => value)).toEqual([4.5, 1234.5])
})

it('the seasonal adjustment is in TSEST at the Australian Bureau of Statistics', async () => {
  const head = 'DATAFLOW,TSEST: Adjustment Type,FREQ: Frequency,TIME_PERIOD: Time Period,OBS_VALUE'
  const row = 'ABS:RT(1.0.0),20: Seasonally Adjusted,M: Monthly,2025-06,37906.6'
  const reply = csv(
    `${head},UNIT_MEASURE: Unit of Measure,UNIT_MULT: Unit of Multiplier\n${row},AUD: Australian Dollar,6: Millions\n`,
  )
  expect(await read('abs', 'RT/20.M', reply)).toMatchObject({
    seasonalAdjustment: 'Seasonally Adjusted',
    unit: 'Australian Dollar, millions',
    observations: [{ period: '2025-06', value: 37906.6 }],
  })
})
