import { describe, expect, it } from 'vitest'
import { instantIn } from '../../connectors/calendars/calendar.ts'
import { failureOf, harness } from './support/harness.ts'
import type { Routes } from './support/upstream.ts'

const DAYS = { from: '2026-08-01', to: '2026-08-31' }

const FRED: Routes = {
  '/fred/series/release': ({ query }) =>
    query.get('series_id') === 'CPIAUCSL'
      ? { body: { releases: [{ id: 10, name: 'Consumer Price Index' }] } }
      : { status: 400, body: { error_code: 400, error_message: 'Bad Request. The series does not exist.' } },
  '/fred/release/dates': ({ query }) => ({
    body: {
      count: 2,
      release_dates: ['2026-08-12', '2026-09-11'].map((date) => ({
        release_id: query.get('release_id'),
        date,
      })),
    },
  }),
  '/fred/releases/dates': ({ query }) => {
    const offset = Number(query.get('offset'))
    const all = [
      ...Array.from({ length: 1000 }, () => ({ release_id: 18, release_name: 'H.15', date: '2026-08-03' })),
      { release_id: 10, release_name: 'Consumer Price Index', date: '2026-08-12' },
      { release_id: 53, release_name: 'Gross Domestic Product', date: '2026-08-01' },
    ]
    return { body: { count: all.length, release_dates: all.slice(offset, offset + 1000) } }
  },
}

describe('releases of FRED', () => {
  it('are those of all releases in the order of their days, each once', async () => {
    await using at = await harness('fred', FRED, { base: '/fred', key: 'k' })
    expect(await at.connectors.releases('FRED', DAYS)).toEqual({
      provider: 'fred',
      ...DAYS,
      releases: [
        { name: 'Gross Domestic Product', date: '2026-08-01', time: null, period: null },
        { name: 'H.15', date: '2026-08-03', time: null, period: null },
        { name: 'Consumer Price Index', date: '2026-08-12', time: null, period: null },
      ],
    })
    const [asked] = at.upstream.requests
    expect(Object.fromEntries(asked!.query)).toMatchObject({
      realtime_start: DAYS.from,
      realtime_end: DAYS.to,
      include_release_dates_with_no_data: 'true',
    })
  })

  it('of a series are those of its release within the days', async () => {
    await using at = await harness('fred', FRED, { base: '/fred', key: 'k' })
    const { releases } = await at.connectors.releases('fred', { ...DAYS, series: 'CPIAUCSL' })
    expect(releases).toEqual([{ name: 'Consumer Price Index', date: '2026-08-12', time: null, period: null }])
    const failure = await failureOf(at.connectors.releases('fred', { ...DAYS, series: 'NOPE' }))
    expect(failure).toMatchObject({ code: 'series_not_found', message: "FRED has no series 'NOPE'." })
  })
})

describe('releases of Eurostat', () => {
  const event = (title: string, start: string, datasetCodes: string) => ({
    title,
    start,
    datasetCodes,
    period: 'July 2026',
    euroind: true,
  })
  const routes: Routes = {
    '/eurostat/o/calendars/eventsJson': {
      body: [
        event('Inflation (HICP)', '2026-08-19T11:00Z', 'prc_hicp_manr,prc_hicp_minr'),
        event('Unemployment', '2026-08-01T11:00Z', 'une_rt_m'),
        event('Tourism', '2026-08-05', ''),
        { start: '2026-08-06T11:00Z' },
        null,
      ],
    },
  }
  const open = () => harness('eurostat', routes, { base: '/eurostat/api/dissemination' })

  it('have the times of clocks in Luxembourg', async () => {
    await using at = await open()
    const { releases } = await at.connectors.releases('eurostat', DAYS)
    expect(releases.map(({ name, date, time, period }) => [name, date, time, period])).toEqual([
      ['Unemployment', '2026-08-01', '2026-08-01T09:00:00Z', 'July 2026'],
      ['Tourism', '2026-08-05', null, 'July 2026'],
      ['Inflation (HICP)', '2026-08-19', '2026-08-19T09:00:00Z', 'July 2026'],
    ])
  })

  it('of a series are those of its dataflow', async () => {
    await using at = await open()
    const of = async (series: string) =>
      (await at.connectors.releases('eurostat', { ...DAYS, series })).releases.map(({ name }) => name)
    expect(await of('PRC_HICP_MINR/M.RCH_A.TOTAL.EA')).toEqual(['Inflation (HICP)'])
    expect(await of('ESTAT,UNE_RT_M,1.0/M..')).toEqual(['Unemployment'])
    expect(await of('NAMA_10_GDP/A.')).toEqual([])
  })
})

describe('releases of BEA', () => {
  const routes: Routes = {
    '/API/signup/release_dates.json': {
      body: {
        'Gross Domestic Product': {
          release_dates: [
            '2026-08-26T12:30:00+00:00',
            '2026-08-27T12:30:00+00:00',
            '2026-08-26T12:30:00+00:00',
          ],
          to_be_rescheduled: ['2026-08-27T12:30:00+00:00'],
        },
        'U.S. International Trade in Goods and Services': { release_dates: ['2026-08-04T12:30:00+00:00'] },
        about: 'Release dates',
      },
    },
  }
  it('leave out those that are to be rescheduled', async () => {
    await using at = await harness('bea', routes, { base: '/api/data', key: 'k' })
    const { releases } = await at.connectors.releases('bea', DAYS)
    expect(releases.map(({ name, time }) => [name, time])).toEqual([
      ['U.S. International Trade in Goods and Services', '2026-08-04T12:30:00Z'],
      ['Gross Domestic Product', '2026-08-26T12:30:00Z'],
    ])
    const of = async (series: string) =>
      (await at.connectors.releases('bea', { ...DAYS, series })).releases.length
    expect(await of('NIPA/T10101/A191RL/Q')).toBe(1)
    expect(await of('FixedAssets/FAAt101/K1TTOTL1ES00/A')).toBe(0)
  })
})

describe('releases of Statistics Canada', () => {
  const routes: Routes = {
    '/n1/dai-quo/ssi/homepage/schedule-key_indicators-eng.json': {
      body: [
        { date: '2026-08-18 00:00:01', title: 'Consumer Price Index', description: 'July 2026' },
        { date: '2026-12-01 00:00:01', title: 'Gross domestic product', description: 'Third quarter 2026' },
      ],
    },
  }
  it('have the time at which The Daily appears, in summer and in winter', async () => {
    await using at = await harness('statcan', routes, { base: '/t1/wds/rest' })
    const { releases } = await at.connectors.releases('statcan', { from: '2026-08-01', to: '2026-12-31' })
    expect(releases).toEqual([
      { name: 'Consumer Price Index', date: '2026-08-18', time: '2026-08-18T12:30:00Z', period: 'July 2026' },
      {
        name: 'Gross domestic product',
        date: '2026-12-01',
        time: '2026-12-01T13:30:00Z',
        period: 'Third quarter 2026',
      },
    ])
    const failure = await failureOf(at.connectors.releases('statcan', { series: 'v41690973' }))
    expect(failure).toMatchObject({ code: 'invalid_option', status: 400 })
    expect(failure.message).toMatch(
      /does not say which series a release changes; those of fred, eurostat, bea do/,
    )
  })
})

it('a provider without a calendar says which have one', async () => {
  await using at = await harness('bls', {})
  const failure = await failureOf(at.connectors.releases('bls'))
  expect(failure).toMatchObject({ code: 'no_calendar', status: 404, provider: 'bls' })
  expect(failure.message).toBe(
    'BLS publishes no calendar of releases for programs; providers that do: fred, eurostat, statcan, bea.',
  )
})

it('the days are a month from today on, and at most a year', async () => {
  const now = () => Date.parse('2026-08-15T12:00:00Z')
  await using at = await harness('eurostat', { '*': { body: [] } }, { base: '/a/b/c', now })
  const days = async (query: object) => {
    const { from, to } = await at.connectors.releases('eurostat', query)
    return [from, to]
  }
  expect(await days({})).toEqual(['2026-08-15', '2026-09-14'])
  expect(await days({ from: '2026-01-01' })).toEqual(['2026-01-01', '2026-01-31'])
  expect(await days({ to: '2026-01-31' })).toEqual(['2026-01-01', '2026-01-31'])
  expect(await days({ from: '2024-01-01', to: '2024-12-31' })).toEqual(['2024-01-01', '2024-12-31'])
  const wrong = [
    { from: '2026-02-30' },
    { to: 'soon' },
    { from: '2026-08-02', to: '2026-08-01' },
    { from: '2026-01-01', to: '2027-01-02' },
  ]
  for (const query of wrong)
    expect(await failureOf(at.connectors.releases('eurostat', query))).toMatchObject({
      code: 'invalid_option',
    })
})

it.each([
  ['a page', { type: 'text/html', body: '<html>Sorry</html>' }],
  ['an object', { body: { message: 'x' } }],
  ['nothing', { body: '' }],
])('a calendar that is %s is an error', async (_, reply) => {
  for (const [slug, key] of [['eurostat'], ['statcan'], ['fred', 'k'], ['bea', 'k']] as const) {
    await using at = await harness(slug, { '*': reply }, { base: '/a/b/c', ...(key && { key }) })
    const answer = at.connectors.releases(slug, DAYS)
    if (slug === 'bea' && _ === 'an object') expect((await answer).releases).toEqual([])
    else expect((await failureOf(answer)).status, slug).toBeGreaterThanOrEqual(500)
  }
})

it('times of zones are right on the days on which clocks change', () => {
  expect(instantIn('America/New_York', '2026-03-08', '08:30')).toBe('2026-03-08T12:30:00Z')
  expect(instantIn('America/New_York', '2026-11-01', '08:30')).toBe('2026-11-01T13:30:00Z')
  expect(instantIn('Europe/Luxembourg', '2026-03-29', '11:00')).toBe('2026-03-29T09:00:00Z')
  expect(instantIn('Europe/Luxembourg', '2026-10-25', '00:30')).toBe('2026-10-24T22:30:00Z')
  expect(instantIn('UTC', '2026-10-25', '00:30')).toBe('2026-10-25T00:30:00Z')
})
