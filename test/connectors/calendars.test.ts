import { describe, expect, it } from 'vitest'
import { instantIn } from '../../connectors/calendars/calendar.ts'
import { addressOf } from '../../connectors/pipeline/address.ts'
import { failureOf, type HarnessOptions, harness } from './support/harness.ts'
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

describe('releases of BLS', () => {
  const PATH = '/schedule/news_release/bls.ics'
  const event = (start: string, summary: string, more = '') =>
    `BEGIN:VEVENT\nSEQUENCE:1\nCLASS:PUBLIC\nUID:270ff9a3\nDTSTART${start}\nDURATION:PT0M\nSUMMARY:${summary}\nLOCATION:Washington\\, DC\nCATEGORIES:IMPORTANT, BLS\n${more}END:VEVENT\n`
  const calendar = (...events: string[]) => ({
    type: 'text/calendar',
    body: `BEGIN:VCALENDAR
PRODID:-//Department of Labor//Bureau of Labor Statistics//EN
VERSION:2.0
SUMMARY:BLS.gov Economic News Release Schedule
X-WR-TIMEZONE:US-Eastern
BEGIN:VTIMEZONE
TZID:US-Eastern
BEGIN:DAYLIGHT
DTSTART:20070311T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU
END:DAYLIGHT
END:VTIMEZONE
${events.join('')}END:VCALENDAR
`,
  })
  const CPI = event(';TZID=US-Eastern:20260812T083000', 'Consumer Price\n  Index')
  const all = [
    event(';TZID=US-Eastern:20260825T100000', 'Employment Situation of Veterans'),
    event(';TZID=US-Eastern:20260807T083000', 'Employment Situation'),
    event(':20260804T140000Z', 'Job Openings and Labor Turnover Survey'),
    event(';TZID="America/New_York":20261210T083000', 'Productivity and Costs (P)'),
    event(';VALUE=DATE:20260818', 'Prices\\, wages\\; pay'),
    event(';TZID=US-Eastern:20260819T083000', 'Moved', 'STATUS:CANCELLED\n'),
    CPI,
  ]
  const open = (reply: Routes[string], options: HarnessOptions = {}) =>
    harness('bls', { [PATH]: reply }, { base: '/publicAPI/v2', ...options })
  const UNTIL = { from: '2026-08-01', to: '2026-12-31' }

  it.each([
    '\n',
    '\r\n',
  ])('have the times of clocks in Washington, with lines that end in %j', async (end) => {
    const { body, type } = calendar(...all)
    await using at = await open({ type, body: body.replaceAll('\n', end) })
    const { releases } = await at.connectors.releases('bls', UNTIL)
    expect(releases.map(({ name, date, time }) => [name, date, time])).toEqual([
      ['Job Openings and Labor Turnover Survey', '2026-08-04', '2026-08-04T14:00:00Z'],
      ['Employment Situation', '2026-08-07', '2026-08-07T12:30:00Z'],
      ['Consumer Price Index', '2026-08-12', '2026-08-12T12:30:00Z'],
      ['Prices, wages; pay', '2026-08-18', null],
      ['Employment Situation of Veterans', '2026-08-25', '2026-08-25T14:00:00Z'],
      ['Productivity and Costs (P)', '2026-12-10', '2026-12-10T13:30:00Z'],
    ])
  })

  it('of a series are those of its survey', async () => {
    await using at = await open(calendar(...all))
    const of = async (series: string) =>
      (await at.connectors.releases('bls', { ...UNTIL, series })).releases.map(({ name }) => name)
    expect(await of('CUUR0000SA0')).toEqual(['Consumer Price Index'])
    expect(await of('suur0000SA0')).toEqual(['Consumer Price Index'])
    expect(await of('LNS14000000')).toEqual(['Employment Situation'])
    expect(await of('JTS000000000000000JOL')).toEqual(['Job Openings and Labor Turnover Survey'])
    expect(await of('PRS85006092')).toEqual(['Productivity and Costs (P)'])
    expect(await of('WPUFD49207')).toEqual([])
    expect(at.upstream.requests).toHaveLength(1)
    expect(at.connectors.limit('bls').remaining).toBe(25)
    const failure = await failureOf(at.connectors.releases('bls', { series: 'LAUCN281070000000003' }))
    expect(failure).toMatchObject({ code: 'invalid_option', status: 400, provider: 'bls' })
    expect(failure.message).toContain('begin with CU, CW, SU,')
  })

  it('are asked for in the name of who runs the service, and anew after days', async () => {
    let time = Date.parse('2026-08-01T00:00:00Z')
    await using at = await open(calendar(CPI), { contact: 'Ada ada@example.org', now: () => time })
    const series = 'CUUR0000SA0'
    await at.connectors.releases('bls', { ...UNTIL, series })
    expect(at.upstream.requests[0]!.headers['user-agent']).toBe('parquetry (Ada ada@example.org)')
    time += 49 * 3_600_000
    at.upstream.routes = { [PATH]: calendar(CPI.replace('20260812', '20260814')) }
    const { releases } = await at.connectors.releases('bls', { ...UNTIL, series })
    expect(releases.map(({ date }) => date)).toEqual(['2026-08-14'])
  })

  it('are refused to programs that do not say who runs them', async () => {
    await using at = await open({ status: 403, type: 'text/html', body: '<h1>Access Denied</h1>' })
    const failure = await failureOf(at.connectors.releases('bls', { series: 'CUUR0000SA0' }))
    expect(failure).toMatchObject({ code: 'provider_down', provider: 'bls' })
    expect(failure.message).toMatch(/refuses programs that do not say who runs them. Set contact/)
    const wrong = await failureOf(open({}, { contact: 'Ada\r\nX: y' }))
    expect(wrong).toMatchObject({ code: 'invalid_option' })
  })

  it.each([
    ['has no start', calendar('BEGIN:VEVENT\nSUMMARY:X\nEND:VEVENT\n')],
    ['starts in an unknown zone', calendar(event(';TZID=Mars:20260812T083000', 'X'))],
    ['starts in no zone', calendar(event(':20260812T083000', 'X'))],
    ['starts on no day', calendar(event(':20260231T083000Z', 'X'))],
    ['is cut off', { body: calendar(CPI).body.slice(0, -6) }],
    ['is a failure', { status: 404, ...calendar(CPI) }],
  ])('are not understood if one %s', async (_, reply) => {
    await using at = await open(reply)
    const failure = await failureOf(at.connectors.releases('bls', { series: 'CUUR0000SA0' }))
    expect(failure).toMatchObject({ code: 'not_understood' })
  })

  it('are on another host than the series', () => {
    const request = { host: 'www.bls.gov', root: '../../schedule/news_release', path: ['bls.ics'] }
    const address = addressOf(new URL('https://api.bls.gov/publicAPI/v2'), request)
    expect(address.href).toBe('https://www.bls.gov/schedule/news_release/bls.ics')
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
      /does not say which series a release changes; those of fred, bls, eurostat, bea do/,
    )
  })
})

it('a provider without a calendar says which have one', async () => {
  await using at = await harness('census', {})
  const failure = await failureOf(at.connectors.releases('census'))
  expect(failure).toMatchObject({ code: 'no_calendar', status: 404, provider: 'census' })
  expect(failure.message).toBe(
    'Census Bureau publishes no calendar of releases for programs; providers that do: fred, bls, eurostat, statcan, bea.',
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
  for (const [slug, key] of [['eurostat'], ['statcan'], ['bls'], ['fred', 'k'], ['bea', 'k']] as const) {
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
