import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../support/harness.ts'
import { xml } from './messages.ts'

const value = (id: string, code: string) => `<g:Value id="${id}" value="${code}"/>`
const genericObs = (period: string, amount: string) =>
  `<g:Obs><g:ObsDimension value="${period}"/><g:ObsValue value="${amount}"/></g:Obs>`
/** One dissemination, as the ECB writes it: attributes of the data set, title, observations. */
const generic = (
  attributes: string,
  title: string,
  ...observations: readonly (readonly [string, string])[]
) =>
  `<m:DataSet ${attributes}><g:Series>
    <g:SeriesKey>${value('FREQ', 'Q')}${value('AREA', 'U2')}</g:SeriesKey>
    <g:Attributes>${value('TITLE', title)}</g:Attributes>
    ${observations.map(([period, amount]) => genericObs(period, amount)).join('')}
  </g:Series></m:DataSet>`
const genericMessage = (...dataSets: readonly string[]) =>
  xml(`<m:GenericData xmlns:m="urn:m" xmlns:g="urn:g"><m:Header>
    <m:Structure structureID="S" dimensionAtObservation="TIME_PERIOD"/></m:Header>${dataSets.join('')}</m:GenericData>`)

/** Three releases of two quarters, in no order; the first quarter is taken back in between. */
const HISTORY = genericMessage(
  generic(
    'action="Replace" validFromDate="2015-06-02T15:30:00.000+02:00"',
    'As of June',
    ['2015-Q1', '3'],
    ['2014-Q4', '2.5'],
  ),
  generic(
    'action="Replace" validFromDate="2014-12-03T15:30:00.000+01:00"',
    'At first',
    ['2014-Q3', '1'],
    ['2014-Q4', '2'],
  ),
  generic('action="Delete" validToDate="2015-02-01T09:00:00.000+01:00"', 'Taken back', ['2014-Q3', '1']),
  generic('action="Replace" validFromDate="2015-09-01T15:30:00.000+02:00"', 'In the end', ['2014-Q3', '1.1']),
)

describe('a series of the ECB as of a day', () => {
  const asOf = async (day: string, more: object = {}) => {
    await using at = await harness('ecb', { '/data/GDP/Q.U2': HISTORY })
    const series = await at.connectors.series('ecb', 'GDP/Q.U2', { asOf: day, ...more })
    const { query, headers } = at.upstream.requests[0]!
    expect([query.get('includeHistory'), query.get('startPeriod')]).toEqual(['true', null])
    expect(headers['accept']).toContain('genericdata+xml')
    return { name: series.name, values: series.observations.map(({ period, value }) => [period, value]) }
  }

  it.each([
    [
      '2014-12-03',
      'At first',
      [
        ['2014-Q3', 1],
        ['2014-Q4', 2],
      ],
    ],
    [
      '2015-01-31',
      'At first',
      [
        ['2014-Q3', 1],
        ['2014-Q4', 2],
      ],
    ],
    ['2015-02-01', 'Taken back', [['2014-Q4', 2]]],
    [
      '2015-06-02',
      'As of June',
      [
        ['2014-Q4', 2.5],
        ['2015-Q1', 3],
      ],
    ],
    [
      '2026-01-01',
      'In the end',
      [
        ['2014-Q3', 1.1],
        ['2014-Q4', 2.5],
        ['2015-Q1', 3],
      ],
    ],
  ])('has on %s what had been published by then', async (day, name, values) => {
    expect(await asOf(day)).toEqual({ name, values })
  })

  it('is cut to a range here, also to one of which nothing had been published', async () => {
    expect((await asOf('2015-06-02', { start: '2015-01-01' })).values).toEqual([['2015-Q1', 3]])
    expect((await asOf('2015-01-31', { start: '2015-01-01' })).values).toEqual([])
  })

  it('is not found before its history begins, nor in an answer that tells of no history', async () => {
    const untold = generic('action="Replace"', 'Now', ['2014-Q3', '1.1'])
    const csv = { type: 'text/csv', body: 'KEY,FREQ,AREA,TIME_PERIOD,OBS_VALUE\nGDP.Q.U2,Q,U2,2014-Q3,1.1\n' }
    for (const answer of [HISTORY, genericMessage(untold), csv]) {
      await using at = await harness('ecb', { '/data/GDP/Q.U2': answer })
      const refused = await failureOf(at.connectors.series('ecb', 'GDP/Q.U2', { asOf: '2014-12-02' }))
      expect(refused).toMatchObject({ code: 'series_not_found', status: 404, provider: 'ecb' })
      expect(refused.message).toBe(
        "European Central Bank has no figures of 'GDP/Q.U2' as they were on that day. Ask for a later asOf, or leave it out.",
      )
    }
  })
})

it('a series of INSEE as of a day is read from its structure-specific answer', async () => {
  const dataSet = (from: string, ...observations: readonly string[]) =>
    `<m:DataSet ss:dataScope="DataStructure" action="Replace" validFromDate="${from}">
      <Series IDBANK="001688370" FREQ="M" TITLE_EN="Production">${observations.join('')}</Series></m:DataSet>`
  const obs = (period: string, amount: string) =>
    `<Obs TIME_PERIOD="${period}" OBS_VALUE="${amount}" OBS_STATUS="A"/>`
  const body = xml(`<m:StructureSpecificData xmlns:m="urn:m" xmlns:ss="urn:ss"><m:Header/>
    ${dataSet('2024-02-10T08:45:00', obs('2024-01', '101.5'))}
    ${dataSet('2024-03-08T08:45:00', obs('2024-01', '101.9'), obs('2024-02', '102'))}</m:StructureSpecificData>`)
  await using at = await harness('insee', { '/data/SERIES_BDM/001688370': body })
  const values = async (asOf: string) =>
    (await at.connectors.series('insee', 'SERIES_BDM/001688370', { asOf })).observations.map(
      ({ value }) => value,
    )
  expect(await values('2024-03-07')).toEqual([101.5])
  expect(await values('2024-03-08')).toEqual([101.9, 102])
  expect(at.upstream.requests[0]!.query.get('includeHistory')).toBe('true')
})
