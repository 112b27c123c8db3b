import { describe, expect, it } from 'vitest'
import { tableOf } from '../../connectors/index.ts'
import { splitIds, splitQualified } from '../../connectors/table.ts'
import { csv, dataflows, dataStructure, structureMessage, xml } from './sdmx/messages.ts'
import { failureOf, harness } from './support/harness.ts'

describe('a list of ids', () => {
  it('keeps the commas of a dataflow together', () => {
    expect(splitIds('A,B,A', false)).toEqual(['A', 'B'])
    expect(splitIds('EXR/M.USD,OECD.SDD,DF_X,/USA.M,IMF.RES,WEO/A', true)).toEqual([
      'EXR/M.USD',
      'OECD.SDD,DF_X,/USA.M',
      'IMF.RES,WEO/A',
    ])
    expect(splitIds('x/a=1%2C2,y', false)).toEqual(['x/a=1,2', 'y'])
  })

  it('of several providers begins anew with each slug', () => {
    const isProvider = (slug: string) => ['fred', 'oecd'].includes(slug.toLowerCase())
    expect(splitQualified('FRED/GDP,oecd/OECD.SDD,DF_X,/USA.M,fred/UNRATE', isProvider)).toEqual([
      { provider: 'fred', id: 'GDP' },
      { provider: 'oecd', id: 'OECD.SDD,DF_X,/USA.M' },
      { provider: 'fred', id: 'UNRATE' },
    ])
    expect(() => splitQualified('GDP,fred/X', isProvider)).toThrow("'GDP' must be a provider and a series")
  })
})

const HEADER = 'FREQ,CURRENCY,TITLE,TIME_PERIOD,OBS_VALUE,OBS_STATUS\n'
const exr = {
  '/data/EXR/M.': csv(
    `${HEADER}M,USD,Dollar,2024-01,1.09,A\nM,GBP,Pound,2024-01,0.86,P\nM,USD,Dollar,2024-02,1.1,A\n`,
  ),
  '/data/EXR/M.USD+GBP': csv(`${HEADER}M,USD,Dollar,2024-01,1.09,A\nM,GBP,Pound,2024-01,0.86,P\n`),
  '/data/EXR/Q.USD': csv(`${HEADER}Q,USD,Dollar,2024-Q1,1.08,A\n`),
}
const wanted = (...ids: string[]) => ids.map((id) => ({ provider: 'ecb', id }))

describe('many series', () => {
  it.each(['EXR/M.', 'EXR/M.*'])('are what a wildcard means: %s', async (id) => {
    await using at = await harness('ecb', exr)
    const { series, missing } = await at.connectors.many(wanted(id))
    expect(series.map(({ series_id, name }) => [series_id, name])).toEqual([
      ['EXR/M.GBP', 'Pound'],
      ['EXR/M.USD', 'Dollar'],
    ])
    expect(missing).toEqual([])
    expect(at.upstream.requests.filter(({ path }) => path.startsWith('/data/'))).toHaveLength(1)
  })

  it.each([
    'EXR/M.USD+GBP',
    'EXR/M.USD GBP',
  ])('are what a plus means, also where it came as a blank: %s', async (id) => {
    await using at = await harness('ecb', exr)
    const { series } = await at.connectors.many(wanted(id))
    expect(series.map(({ series_id }) => series_id)).toEqual(['EXR/M.GBP', 'EXR/M.USD'])
  })

  it('lose nothing where one can not be had, and say why', async () => {
    await using at = await harness('ecb', exr)
    const { series, missing } = await at.connectors.many(wanted('EXR/Q.USD', 'EXR/M.XXX', 'EXR/M.'))
    expect(series.map(({ series_id }) => series_id)).toEqual(['EXR/Q.USD', 'EXR/M.GBP', 'EXR/M.USD'])
    expect(missing).toMatchObject([
      { provider: 'ecb', series_id: 'EXR/M.XXX', error: { code: 'series_not_found' } },
    ])
  })

  describe('in an answer whose columns are in another order than the key', () => {
    const shuffled =
      'TYPE,CURRENCY,FREQ,TIME_PERIOD,OBS_VALUE\nSP00,USD,M,2024-01,1.09\nSP00,GBP,M,2024-01,0.86\n'
    const structure = {
      '/dataflow/ECB': xml(structureMessage(dataflows(['ECB', 'EXR', 'Rates', 'DSD_EXR']))),
      '/datastructure/ECB/DSD_EXR': xml(
        structureMessage(dataStructure('ECB', 'DSD_EXR', { FREQ: 'CL_A', CURRENCY: 'CL_B', TYPE: 'CL_C' })),
      ),
    }

    it('get the ids that the structure gives them', async () => {
      await using at = await harness('ecb', { ...structure, '/data/EXR/M..': csv(shuffled) })
      const { series } = await at.connectors.many(wanted('EXR/M..'))
      expect(series.map(({ series_id, observations }) => [series_id, observations[0]?.value])).toEqual([
        ['EXR/M.GBP.SP00', 0.86],
        ['EXR/M.USD.SP00', 1.09],
      ])
    })

    it('are refused where the structure can not be had, because numbers could get the id of others', async () => {
      await using at = await harness('ecb', { '/data/EXR/M..': csv(shuffled) })
      const error = await failureOf(at.connectors.many(wanted('EXR/M..')))
      expect(error).toMatchObject({ code: 'provider_down', status: 503, provider: 'ecb' })
      expect(error.message).toBe(
        "European Central Bank does not say at the moment what the parts of 'EXR/M..' are. Name one series with all its codes, or try again later.",
      )
    })

    it('need no structure where only one column is left for the only wildcard', async () => {
      await using at = await harness('ecb', { '/data/EXR/M..SP00': csv(shuffled) })
      const { series } = await at.connectors.many(wanted('EXR/M..SP00'))
      expect(series.map(({ series_id }) => series_id)).toEqual(['EXR/M.GBP.SP00', 'EXR/M.USD.SP00'])
    })
  })

  it('none of which can be had are an error', async () => {
    await using at = await harness('ecb', exr)
    const error = await failureOf(at.connectors.many(wanted('EXR/M.XXX', 'EXR/M.YYY')))
    expect(error).toMatchObject({ code: 'series_not_found', status: 404 })
  })

  it('spend the limit of the provider for each request', async () => {
    const limits = { windows: [{ requests: 2, perSeconds: 3600 }] }
    const body = { observations: [{ d: '2024-01-02', A: { v: '1' } }], seriesDetail: {} }
    const slug = 'bank-of-canada'
    await using at = await harness(slug, { '*': { body } }, { overrides: { [slug]: { limits } } })
    const ids = ['A', 'B', 'C', 'D'].map((id) => ({ provider: slug, id }))
    const { series, missing } = await at.connectors.many(ids)
    expect([series.length, missing.length]).toEqual([2, 2])
    expect(missing[0]?.error.code).toBe('provider_limit')
    expect(at.upstream.requests).toHaveLength(2)
  })

  it('stand below each other or side by side', async () => {
    await using at = await harness('ecb', exr)
    const { series } = await at.connectors.many(wanted('EXR/M.', 'EXR/Q.USD'))
    const long = tableOf(series, 'long', false)
    expect(long.columns.map(({ name }) => name)).toEqual([
      'provider',
      'series_id',
      'date',
      'period',
      'value',
      'status',
    ])
    expect(long.rows[0]).toEqual(['ecb', 'EXR/M.GBP', '2024-01-01', '2024-01', 0.86, 'provisional'])
    expect(long.rows).toHaveLength(4)
    const wide = tableOf(series, 'wide', true)
    expect(wide.columns.map(({ name }) => name)).toEqual([
      'date',
      'period',
      'ecb/EXR/M.GBP',
      'ecb/EXR/M.USD',
      'ecb/EXR/Q.USD',
    ])
    expect(wide.rows).toEqual([
      ['2024-01-01', null, 0.86, 1.09, 1.08],
      ['2024-02-01', '2024-02', null, 1.1, null],
    ])
  })

  it('side by side, have the period of those that have a value', () => {
    const of = (series_id: string, period: string, value: number | null) => ({
      provider: 'ecb',
      series_id,
      name: series_id,
      frequency: null,
      unit: null,
      lastUpdated: null,
      seasonalAdjustment: null,
      source: null,
      notes: null,
      dimensions: null,
      start: null,
      end: null,
      observations: [{ date: '2024-01-01', period, value }],
    })
    const rows = (...series: ReturnType<typeof of>[]) => tableOf(series, 'wide', false).rows
    const [quarter, month] = [of('q', '2024-Q1', null), of('m', '2024-01', 5)]
    expect(rows(quarter, month)).toEqual([['2024-01-01', '2024-01', null, 5]])
    expect(rows(month, quarter)).toEqual([['2024-01-01', '2024-01', 5, null]])
    expect(rows(quarter)).toEqual([['2024-01-01', '2024-Q1', null]])
    expect(rows(quarter, of('m', '2024-01', null))).toEqual([['2024-01-01', null, null, null]])
  })
})

describe('a series as of a day', () => {
  it('is asked for by the period in which it was in force', async () => {
    await using at = await harness(
      'fred',
      {
        '/series': {
          body: { seriess: [{ id: 'GDP', title: 'GDP', frequency: 'Quarterly', units: 'Billions' }] },
        },
        '/series/observations': { body: { count: 1, observations: [{ date: '2019-10-01', value: '21.7' }] } },
      },
      { key: 'k' },
    )
    const { observations } = await at.connectors.series('fred', 'GDP', { asOf: '2020-03-01' })
    expect(observations).toMatchObject([{ value: 21.7 }])
    const { query } = at.upstream.requests.at(-1)!
    expect([query.get('realtime_start'), query.get('realtime_end')]).toEqual(['2020-03-01', '2020-03-01'])
  })

  it('is refused where the provider keeps no vintages, and where it is no day', async () => {
    await using at = await harness('frankfurter', {})
    const refused = await failureOf(at.connectors.series('frankfurter', 'EUR/USD', { asOf: '2020-03-01' }))
    expect(refused).toMatchObject({ code: 'invalid_option', status: 400 })
    expect(refused.message).toBe(
      'Frankfurter does not keep what it published earlier; of the providers fred, ecb, insee, sec do. Leave out asOf.',
    )
    const wrong = await failureOf(at.connectors.series('fred', 'GDP', { asOf: '2020' }))
    expect(wrong).toMatchObject({ code: 'invalid_range', status: 400 })
  })
})
