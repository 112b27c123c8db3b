import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Release } from '../../connectors/index.ts'
import { nextReading } from '../../server/sources/releases.ts'
import { type Platform, platform } from '../server/platform.ts'
import { fredRoutes, LIMITS } from './following.ts'

describe('the next reading of a series', () => {
  const release = (name: string, time: string | null, date = time!.slice(0, 10)): Release => ({
    name,
    date,
    time,
    period: null,
  })
  const GDP = release('GDP', '2026-08-26T12:30:00Z')
  const CPI = release('CPI', '2026-08-28T12:30:00Z')
  const DAY = release('H.15', null, '2026-08-26')

  it.each([
    [
      'before a release, is a quarter of an hour after it',
      [GDP, CPI],
      '2026-08-25T10:00',
      '2026-08-26T12:45',
      'GDP',
    ],
    ['after the first try, is an hour after it', [GDP, CPI], '2026-08-26T12:45', '2026-08-26T13:30', 'GDP'],
    ['after the second, three hours', [GDP, CPI], '2026-08-26T13:30', '2026-08-26T15:30', 'GDP'],
    ['after the third, eight hours', [GDP, CPI], '2026-08-26T15:30', '2026-08-26T20:30', 'GDP'],
    ['after the fourth, a day', [GDP, CPI], '2026-08-26T20:30', '2026-08-27T12:30', 'GDP'],
    ['after the fifth, is for another release', [GDP, CPI], '2026-08-27T12:30', '2026-08-28T12:45', 'CPI'],
    [
      'of two releases, is for the one that comes first',
      [CPI, GDP],
      '2026-08-26T12:00',
      '2026-08-26T12:45',
      'GDP',
    ],
    [
      'on an announced day without a time, is at 13:45',
      [DAY],
      '2026-08-26T02:00',
      '2026-08-26T13:45',
      'H.15',
    ],
    ['long before a release, is in a week', [GDP], '2026-08-01T10:00', '2026-08-08T10:00', 'GDP'],
    ['without a release, is in a day', [], '2026-08-01T10:00', '2026-08-02T10:00', undefined],
    ['after all releases, is in a day', [GDP], '2026-08-28T10:00', '2026-08-29T10:00', undefined],
  ] as const)('%s', (_, releases, now, next, name) => {
    const found = nextReading(releases, undefined, new Date(`${now}:00Z`))
    expect([found.next, found.release?.name]).toEqual([`${next}:00.000Z`, name])
  })

  it('is for the next release once the series has changed since the last one', () => {
    const at = (changed: string, releases: readonly Release[], now = '2026-08-26T13:30:00Z') =>
      nextReading(releases, changed, new Date(now)).next
    expect(at('2026-08-26T12:45:00Z', [GDP, CPI])).toBe('2026-08-28T12:45:00.000Z')
    expect(at('2026-08-26T12:15:00Z', [GDP, CPI])).toBe('2026-08-26T15:30:00.000Z')
    expect(at('2026-08-26T09:00:00Z', [DAY, CPI])).toBe('2026-08-28T12:45:00.000Z')
    expect(at('2026-08-25T23:00:00Z', [DAY, CPI])).toBe('2026-08-26T13:45:00.000Z')
  })
})

describe('a dataset that follows series by their releases', () => {
  let at: Platform
  let now: Date
  let id: number
  let repositoryId: number
  let calendar: Record<string, readonly string[]> | 503
  const values = new Map<string, readonly number[] | number>()

  beforeAll(async () => {
    const series = fredRoutes(values)
    at = await platform({
      now: () => now,
      config: { providers: { fred: { key: 'k', limits: LIMITS } }, sources: { hosts: [], privateHosts: [] } },
      routes: {
        ...series,
        '/fred/series/release': ({ query }) => ({
          body: { releases: [{ id: query.get('series_id'), name: `Release of ${query.get('series_id')}` }] },
        }),
        '/fred/release/dates': ({ query }) => {
          if (calendar === 503) return { status: 503, body: 'down' }
          const dates = calendar[query.get('release_id')!] ?? []
          return { body: { count: dates.length, release_dates: dates.map((date) => ({ date })) } }
        },
        'POST /bls/timeseries/data/': {
          body: {
            status: 'REQUEST_SUCCEEDED',
            Results: { series: [{ data: [{ year: '2026', period: 'M01', value: '1' }] }] },
          },
        },
        '/schedule/news_release/bls.ics': () => ({
          type: 'text/calendar',
          body: `BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;TZID=US-Eastern:${2026 + made}0812T083000\nSUMMARY:Consumer Price Index\nEND:VEVENT\nEND:VCALENDAR\n`,
        }),
      },
    })
    repositoryId = (await at.call(at.root, 'POST', '/repositories', { json: { name: 'r' } })).json().id
  })
  afterAll(() => at[Symbol.asyncDispose]())

  let made = 0
  beforeEach(async () => {
    for (const one of await at.engine.datasets()) await at.engine.deleteDataset(one.id)
    // Later than anything that is cached.
    now = new Date(Date.UTC(2026 + ++made, 7, 10, 10))
    values.clear()
    values.set('A', [1, 2])
    values.set('B', [10])
    const json = { name: `d${made}`, repositoryId }
    id = (await at.call(at.root, 'POST', '/datasets', { json })).json().id
  })

  const source = async () => (await at.call(at.root, 'GET', `/datasets/${id}/source`)).json()
  const follow = async (json: object) => {
    const answer = await at.call(at.root, 'PUT', `/datasets/${id}/source`, { json })
    await at.services.refresher.runDue()
    return answer
  }
  const day = (text: string) => `${2026 + made}-${text}`
  /** Moves the clock to the next run, and gives which series it asks for. */
  const run = async () => {
    now = new Date((await source()).nextRun)
    const before = at.upstream.requests.length
    expect(await at.services.refresher.runDue()).toBe(1)
    const asked = at.upstream.requests.slice(before).filter(({ path }) => path.endsWith('/observations'))
    return asked.map(({ query }) => query.get('series_id'))
  }

  it('reads each after its own release until it has changed, and then waits for the next one', async () => {
    calendar = { A: [day('08-12'), day('09-11')], B: [day('09-20')] }
    await follow({ series: ['fred/A', 'fred/B'], every: 'release' })
    expect(await source()).toMatchObject({
      every: 'release',
      nextRun: day('08-12T13:45:00.000Z'),
      nextRelease: { name: 'Release of A', date: day('08-12'), time: null, series: ['fred/A'] },
      lastError: null,
    })
    const { lastVersion } = await source()
    expect(await run()).toEqual(['A'])
    expect(await source()).toMatchObject({ nextRun: day('08-12T14:30:00.000Z'), lastVersion })
    values.set('A', [1, 2, 3])
    expect(await run()).toEqual(['A'])
    expect(await source()).toMatchObject({
      lastVersion: lastVersion + 1,
      // The one of B, which is read once a week.
      nextRun: day('08-17T10:00:00.000Z'),
      nextRelease: { name: 'Release of A', date: day('09-11'), time: null, series: ['fred/A'] },
    })
    expect(await run()).toEqual(['B'])
    expect(await run()).toEqual(['A'])
  })

  it('tries five times within a day', async () => {
    calendar = { A: [day('08-12')] }
    await follow({ series: ['fred/A'], every: 'release' })
    const times: string[] = []
    for (let tries = 0; tries < 6; tries++) {
      expect(await run()).toEqual(['A'])
      times.push(now.toISOString().slice(8, 16))
    }
    expect(times).toEqual(['12T13:45', '12T14:30', '12T16:30', '12T21:30', '13T13:30', '14T13:30'])
    expect(await source()).toMatchObject({ nextRelease: null })
  })

  it('tries one again that fails, as with every other schedule', async () => {
    calendar = { A: [day('08-12'), day('08-14')], B: [day('08-14')] }
    await follow({ series: ['fred/A', 'fred/B'], every: 'release' })
    values.set('A', 503)
    expect(await run()).toEqual(['A'])
    expect(await source()).toMatchObject({
      missing: [{ series: 'fred/A', code: 'provider_down' }],
      nextRun: day('08-12T13:50:00.000Z'),
    })
    values.set('A', [1, 2, 3])
    expect(await run()).toEqual(['A'])
    expect(await source()).toMatchObject({
      lastError: null,
      nextRun: day('08-14T13:45:00.000Z'),
      nextRelease: { date: day('08-14'), series: ['fred/A'] },
    })
    expect((await run()).sort()).toEqual(['A', 'B'])
  })

  it('reads daily, and says so, while the calendar can not be read', async () => {
    calendar = 503
    await follow({ series: ['fred/A'], every: 'release' })
    const found = await source()
    expect(found).toMatchObject({ nextRun: day('08-11T10:00:00.000Z'), nextRelease: null, missing: [] })
    expect(found.lastError).toMatch(
      /^fred\/A is read again in a day, because its releases can't be looked up: FRED/,
    )
    calendar = { A: [day('08-14')] }
    expect(await run()).toEqual(['A'])
    expect(await source()).toMatchObject({ nextRun: day('08-14T13:45:00.000Z'), lastError: null })
  })

  it('takes the releases of BLS from the survey, and reads what has none daily, saying so', async () => {
    await follow({ series: ['bls/CUUR0000SA0'], every: 'release' })
    const time = day('08-12T12:30:00Z')
    expect(await source()).toMatchObject({
      nextRun: day('08-12T12:45:00.000Z'),
      nextRelease: { name: 'Consumer Price Index', time, series: ['bls/CUUR0000SA0'] },
      lastError: null,
    })
    await follow({ series: ['bls/LAUCN2810700'], every: 'release' })
    expect(await source()).toMatchObject({
      nextRun: day('08-11T10:00:00.000Z'),
      nextRelease: null,
      lastError: expect.stringContaining('known for those that begin with CU, CW,'),
    })
  })

  it('is rejected for files, and for providers that do not announce when a series changes', async () => {
    calendar = {}
    const wrong = async (json: object) => {
      const answer = await follow({ every: 'release', ...json })
      return [answer.statusCode, answer.json().code, answer.json().error]
    }
    expect(await wrong({ series: ['fred/A', 'worldbank/WLD/X'] })).toEqual([
      400,
      'invalid_body',
      expect.stringMatching(
        /World Bank publishes no calendar .* fred, bls, eurostat, bea\. Use every: day\./,
      ),
    ])
    expect(await wrong({ series: ['statcan/v41690973'] })).toEqual([
      400,
      'invalid_body',
      expect.stringContaining('does not say which series a release changes'),
    ])
    expect(await wrong({ url: 'https://example.org/x.csv' })).toEqual([
      400,
      'invalid_body',
      expect.stringContaining('every: release is for series'),
    ])
    expect((await source()).code).toBe('not_followed')
  })
})
