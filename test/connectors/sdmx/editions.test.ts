import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../support/harness.ts'

const FLOW = 'OECD.SDD.STES,DSD_STES_REVISIONS@DF_STES_REVISIONS'
const ID = `${FLOW}/USA.Q.B1GQ_Q.`

const HEAD =
  'STRUCTURE,STRUCTURE_ID,STRUCTURE_NAME,ACTION,REF_AREA,Reference area,FREQ,Frequency,MEASURE,Measure,EDITION,Edition,TIME_PERIOD,Time period,OBS_VALUE,Observation value,UNIT_MEASURE,Unit of measure'
const line = (edition: string, period: string, value: string, area = 'USA') =>
  `DATAFLOW,OECD.SDD.STES:DSD_STES_REVISIONS@DF_STES_REVISIONS(4.0),Revisions,I,${area},${area},Q,Quarterly,B1GQ_Q,GDP,${edition},Edition ${edition},${period},,${value},,XDC,National currency`

/** Three editions, in no order: a revision, a new period, and one that is gone. */
const LINES = [
  line('202408', '2024-Q1', '101.5'),
  line('202408', '2024-Q2', '103'),
  line('202405', '2024-Q1', '100'),
  line('202405', '2023-Q4', '99'),
  line('202406', '2024-Q1', '100'),
  line('202406', '2023-Q4', '99'),
]
const open = (lines = LINES) =>
  harness('oecd', { '*': { type: 'text/csv', body: `${[HEAD, ...lines].join('\r\n')}\r\n` } })

describe('editions of the OECD', () => {
  it('are vintages: the values of each period with the months in which they were given', async () => {
    await using at = await open()
    const series = await at.connectors.series('oecd', ID, { vintages: 'all' })
    expect(series).toMatchObject({ series_id: ID, name: 'Revisions: USA, GDP', frequency: 'quarterly' })
    expect(series.dimensions?.map(({ id }) => id)).toEqual(['REF_AREA', 'FREQ', 'MEASURE'])
    expect(series.observations).toEqual([
      { date: '2023-10-01', period: '2023-Q4', value: 99, known_from: '2024-05-01', known_to: '2024-08-01' },
      { date: '2024-01-01', period: '2024-Q1', value: 100, known_from: '2024-05-01', known_to: '2024-08-01' },
      { date: '2024-01-01', period: '2024-Q1', value: 101.5, known_from: '2024-08-01', known_to: null },
      { date: '2024-04-01', period: '2024-Q2', value: 103, known_from: '2024-08-01', known_to: null },
    ])
  })

  it('are the first, or the newest ones', async () => {
    await using at = await open()
    const of = async (vintages: string) =>
      (await at.connectors.series('oecd', ID, { vintages })).observations.map(
        ({ period, value, known_from }) => [period, value, known_from],
      )
    expect(await of('first')).toEqual([
      ['2023-Q4', 99, '2024-05-01'],
      ['2024-Q1', 100, '2024-05-01'],
      ['2024-Q2', 103, '2024-08-01'],
    ])
    expect(await of('latest:1')).toEqual([
      ['2024-Q1', 101.5, '2024-08-01'],
      ['2024-Q2', 103, '2024-08-01'],
    ])
  })

  it.each([
    ['another dataflow', 'OECD.SDD.STES,DSD_STES@DF_CLI/USA.M.LI', /only in the dataflow DSD_STES_REVISIONS/],
    ['one edition', `${FLOW}/USA.Q.B1GQ_Q.202408`, /leaves EDITION open and nothing else/],
    ['several series', `${FLOW}/.Q.B1GQ_Q.`, /leaves EDITION open and nothing else/],
  ])('of %s are an error that says so', async (_, id, says) => {
    await using at = await open([...LINES, line('202408', '2024-Q1', '7', 'FRA')])
    const failure = await failureOf(at.connectors.series('oecd', id, { vintages: 'all' }))
    expect(failure.message).toMatch(says)
    expect(failure.status).toBeLessThan(500)
  })

  it('have no asOf', async () => {
    await using at = await open()
    const failure = await failureOf(at.connectors.series('oecd', ID, { asOf: '2024-06-01' }))
    expect(failure).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('fred, ecb, insee, sec'),
    })
  })
})
