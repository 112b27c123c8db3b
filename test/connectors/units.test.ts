import { describe, expect, it } from 'vitest'
import { codelists, csv, dataflows, dataStructure, structureMessage, xml } from './sdmx/messages.ts'
import { harness } from './support/harness.ts'

const bls = (measure_data_type: string) => {
  const data = [{ year: '2024', period: 'M01', value: '1', footnotes: [{}] }]
  const series = [{ seriesID: 'X1', catalog: { series_title: 'T', measure_data_type }, data }]
  return { '*': { body: { status: 'REQUEST_SUCCEEDED', message: [], Results: { series } } } }
}

describe('the unit of a series at BLS', () => {
  it.each([
    ['All employees, thousands', 'thousands'],
    ['Number in thousands', 'thousands'],
    ['Percent or rate', 'percent or rate'],
    ['All items', null],
    ['Average hourly earnings of all employees', null],
    ['Unemployment rate', null],
  ])('of %j is %j: the field describes the item', async (measure, unit) => {
    await using at = await harness('bls', bls(measure), { key: 'k' })
    expect((await at.connectors.series('bls', 'X1')).unit).toBe(unit)
  })
})

describe('the unit of a series of the World Bank', () => {
  it.each([
    ['Unemployment, total (% of total labor force) (modeled ILO estimate)', '% of total labor force'],
    ['GDP (current US$)', 'current US$'],
    ['Life expectancy at birth, total (years)', 'years'],
    ['Fertility rate, total (births per woman)', 'births per woman'],
    ['Consumer price index (2010 = 100)', '2010 = 100'],
    ['Poverty headcount ratio at $2.15 a day (2017 PPP) (% of population)', '% of population'],
    ['Poverty Headcount ($1.90 a day)', null],
    ['Carbon dioxide (CO2) emissions per capita (t CO2e/capita)', 't CO2e/capita'],
    ['Human capital index (HCI) (scale 0-1)', 'scale 0-1'],
    ['Gini index (World Bank estimate)', null],
    ['Total final energy consumption (TFEC)', null],
    ['Milk, cheese and eggs (Class)', null],
    ['Population, total', null],
  ])('named %j is %j', async (value, unit) => {
    const row = { indicator: { id: 'I', value }, country: { id: 'US', value: 'United States' }, date: '2020' }
    const body = [{ page: 1, pages: 1, total: 1 }, [{ ...row, value: 5.1, unit: '', obs_status: 'E' }]]
    await using at = await harness('worldbank', { '/country/US/indicator/I': { body } })
    const series = await at.connectors.series('worldbank', 'US/I')
    expect(series.unit).toBe(unit)
    expect(series.observations).toEqual([
      { date: '2020-01-01', period: '2020', value: 5.1, status: 'estimated' },
    ])
  })
})

describe('the unit of a series of SDMX', () => {
  const DATA = `FREQ,REF_AREA,TITLE_TS,UNIT_MEASURE,TIME_PERIOD,OBS_VALUE
M,US, Policy rate,368,2024-01,5.375
`
  const structure = xml(
    structureMessage(
      dataStructure(
        'BIS',
        'BIS_CBPOL',
        { FREQ: 'CL_FREQ', REF_AREA: 'CL_AREA' },
        { UNIT_MEASURE: 'CL_BIS_UNIT' },
      ),
      codelists('BIS', { CL_FREQ: { M: 'Monthly' }, CL_AREA: { US: 'United States' } }),
    ),
  )
  const routes = {
    '/data/dataflow/BIS/WS_CBPOL/+/M.US': csv(DATA),
    '/structure/dataflow/BIS/*/+': xml(
      structureMessage(dataflows(['BIS', 'WS_CBPOL', 'Policy rates', 'BIS_CBPOL'])),
    ),
    '/structure/datastructure/BIS/BIS_CBPOL/+': structure,
  }

  it('has the words of the code list, asked for where the structure comes without it', async () => {
    await using at = await harness('bis', {
      ...routes,
      '/structure/codelist/BIS/CL_BIS_UNIT/+': xml(
        structureMessage(codelists('BIS', { CL_BIS_UNIT: { 368: 'Per cent per year' } })),
      ),
    })
    expect(await at.connectors.series('bis', 'WS_CBPOL/M.US')).toMatchObject({
      name: 'Policy rate',
      unit: 'Per cent per year',
      dimensions: [
        { id: 'FREQ', code: 'M', label: 'Monthly' },
        { id: 'REF_AREA', code: 'US', label: 'United States' },
      ],
    })
  })

  it('is the code where there are no words to be had', async () => {
    await using at = await harness('bis', routes)
    expect((await at.connectors.series('bis', 'WS_CBPOL/M.US')).unit).toBe('368')
  })
})
