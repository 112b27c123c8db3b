import { describe, expect, it } from 'vitest'
import { failureOf, harness } from '../support/harness.ts'
import type { Routes } from '../support/upstream.ts'

const GNPCA = {
  id: 'GNPCA',
  title: 'Real Gross National Product',
  observation_start: '1929-01-01',
  observation_end: '2012-01-01',
  frequency: 'Annual',
  frequency_short: 'A',
  units: 'Billions of Chained 2009 Dollars',
  last_updated: '2013-07-31 09:26:16-05',
}

const routes: Routes = {
  '/fred/category/children': (hit) => ({
    body:
      hit.query.get('category_id') === '0'
        ? { categories: [{ id: 32992, name: 'National Accounts', parent_id: 0, notes: 'All of them' }] }
        : { categories: [] },
  }),
  '/fred/category/series': (hit) => ({
    body: { count: 45, offset: Number(hit.query.get('offset')), limit: 1, seriess: [GNPCA] },
  }),
  '/fred/series': (hit) =>
    hit.query.get('series_id') === 'GNPCA'
      ? { body: { seriess: [GNPCA] } }
      : { status: 400, body: { error_code: 400, error_message: 'Bad Request.  The series does not exist.' } },
  '/fred/series/observations': {
    body: {
      count: 3,
      offset: 0,
      limit: 100000,
      observations: [
        { date: '1929-01-01', value: '1065.9' },
        { date: '1930-01-01', value: '.' },
        { date: '1931-01-01', value: '-0.5' },
      ],
    },
  },
}

const open = (more: Routes = {}) => harness('fred', { ...routes, ...more }, { base: '/fred', key: 'k1' })

describe('fred', () => {
  it('goes from the root of the categories to a series', async () => {
    await using at = await open()
    const { categories } = await at.connectors.browse('fred', '')
    expect(categories).toEqual([
      { path: '32992', name: 'National Accounts', description: 'All of them', series: true },
    ])
    const page = await at.connectors.seriesList('fred', '32992', { limit: 1, offset: 7 })
    expect(page).toMatchObject({ total: 45, limit: 1, offset: 7 })
    expect(page.series[0]).toEqual({
      series_id: 'GNPCA',
      name: 'Real Gross National Product',
      frequency: 'annual',
      unit: 'Billions of Chained 2009 Dollars',
      start: '1929-01-01',
      end: '2012-01-01',
    })
    const series = await at.connectors.series('FRED', page.series[0]!.series_id)
    expect(series).toMatchObject({
      provider: 'fred',
      series_id: 'GNPCA',
      name: 'Real Gross National Product',
      frequency: 'annual',
      unit: 'Billions of Chained 2009 Dollars',
      lastUpdated: '2013-07-31T09:26:16-05:00',
      observations: [
        { date: '1929-01-01', period: '1929', value: 1065.9 },
        { date: '1930-01-01', period: '1930', value: null },
        { date: '1931-01-01', period: '1931', value: -0.5 },
      ],
    })
    for (const { query } of at.upstream.requests) {
      expect(query.get('file_type')).toBe('json')
      expect(query.get('api_key')).toBe('k1')
    }
  })

  it('asks for a range, and keeps to it', async () => {
    await using at = await open()
    const range = { start: '1930-01-01', end: '1930-12-31' }
    const { observations } = await at.connectors.series('fred', 'GNPCA', range)
    expect(observations).toEqual([{ date: '1930-01-01', period: '1930', value: null }])
    const { query } = at.upstream.requests.at(-1)!
    expect(query.get('observation_start')).toBe('1930-01-01')
    expect(query.get('observation_end')).toBe('1930-12-31')
  })

  it('reads more observations than a page holds', async () => {
    await using at = await open({
      '/fred/series/observations': (hit) => {
        const offset = Number(hit.query.get('offset'))
        const date = offset === 0 ? '2020-01-01' : '2021-01-01'
        return { body: { count: 100_001, offset, observations: [{ date, value: '1' }] } }
      },
    })
    const { observations } = await at.connectors.series('fred', 'GNPCA')
    expect(observations.map(({ date }) => date)).toEqual(['2020-01-01', '2021-01-01'])
  })

  it.each([
    [400, 'Bad Request.  The series does not exist.', 'series_not_found', 404],
    [404, 'Not Found.', 'series_not_found', 404],
    [400, 'Bad Request.  The value for variable api_key is not registered.', 'key_rejected', 400],
    [423, 'Locked.', 'provider_down', 503],
    [429, 'Too Many Requests.  Exceeded Rate Limit', 'provider_limit', 429],
    [500, 'Internal Server Error', 'provider_down', 503],
  ])('tells an error %s %s', async (status, message, code, expected) => {
    await using at = await open({
      '/fred/series': { status, body: { error_code: status, error_message: message } },
    })
    const error = await failureOf(at.connectors.series('fred', 'GNPCA'))
    expect(error).toMatchObject({ code, status: expected, provider: 'fred' })
  })

  it('tells an error by its body when the status is 200', async () => {
    await using at = await open({
      '/fred/series': { body: { error_code: 429, error_message: 'Too Many Requests.' } },
    })
    expect(await failureOf(at.connectors.series('fred', 'GNPCA'))).toMatchObject({ code: 'provider_limit' })
    // What the body said holds back later requests too.
    expect(await failureOf(at.connectors.series('fred', 'UNRATE'))).toMatchObject({ code: 'provider_limit' })
    expect(at.upstream.requests).toHaveLength(1)
  })

  it('needs a key, and says that one of your own helps', async () => {
    await using at = await harness('fred', routes, { base: '/fred' })
    const error = await failureOf(at.connectors.series('fred', 'GNPCA'))
    expect(error).toMatchObject({ code: 'key_required', status: 400, remedy: 'own-key' })
    expect(at.upstream.requests).toHaveLength(0)
    const own = { userKey: { owner: 'ann', key: 'hers' } }
    expect((await at.connectors.series('fred', 'GNPCA', {}, own)).name).toBe('Real Gross National Product')
  })

  it('checks a key', async () => {
    await using at = await open({
      '/fred/category/children': (hit) =>
        hit.query.get('api_key') === 'good'
          ? { body: { categories: [] } }
          : {
              status: 400,
              body: { error_code: 400, error_message: 'The value for variable api_key is bad' },
            },
    })
    expect(await at.connectors.checkKey('fred', 'good')).toBe('accepted')
    expect(await failureOf(at.connectors.checkKey('fred', 'bad'))).toMatchObject({ code: 'key_rejected' })
  })

  it('does not know a path that is no category', async () => {
    await using at = await open()
    expect(await failureOf(at.connectors.browse('fred', 'x/y'))).toMatchObject({ code: 'path_not_found' })
    expect(at.upstream.requests).toHaveLength(0)
  })

  describe('the source of a series', () => {
    const sources = [
      { id: 18, name: 'U.S. Bureau of Economic Analysis', link: 'http://www.bea.gov/' },
      { id: 19, name: 'U.S. Census Bureau' },
    ]
    const told: Routes = {
      '/fred/series/release': { body: { releases: [{ id: 51, name: 'Trade in Goods and Services' }] } },
      '/fred/release/sources': (hit) => ({
        body: { sources: hit.query.get('release_id') === '51' ? sources : [] },
      }),
    }
    const openFully = (more: Routes) =>
      harness('fred', more, {
        base: '/fred',
        key: 'k1',
        overrides: { fred: { limits: { windows: [{ requests: 6, perSeconds: 60 }] } } },
      })

    it('is that of its release, which is asked once for all its series', async () => {
      await using at = await openFully(told)
      expect(await at.connectors.source('fred', 'BOPGSTB')).toBe(
        'U.S. Bureau of Economic Analysis; U.S. Census Bureau',
      )
      expect(await at.connectors.source('fred', 'BOPTEXP')).toContain('Census')
      expect(await at.connectors.source('fred', 'BOPGSTB')).toContain('Census')
      expect(at.upstream.requests.map(({ path }) => path)).toEqual([
        '/fred/series/release',
        '/fred/release/sources',
        '/fred/series/release',
      ])
    })

    it('counts against the limit, of which it leaves half to numbers', async () => {
      await using at = await openFully({ ...routes, ...told })
      await at.connectors.source('fred', 'BOPGSTB')
      expect(at.connectors.limit('fred').remaining).toBe(4)
      await at.connectors.source('fred', 'BOPTEXP')
      expect(await at.connectors.source('fred', 'BOPTIMP')).toBeNull()
      expect(at.connectors.limit('fred').remaining).toBe(3)
      expect(await at.connectors.source('fred', 'BOPGSTB')).toContain('Census')
      expect((await at.connectors.series('fred', 'GNPCA')).observations).toHaveLength(3)
    })

    it.each<[string, Routes]>([
      ['the series is in no release', { '/fred/series/release': { body: { releases: [] } } }],
      ['the release has no source', { ...told, '/fred/release/sources': { body: { sources: [] } } }],
      ['the release is not found', { ...told, '/fred/release/sources': { status: 404, body: {} } }],
      ['FRED fails', { ...told, '/fred/release/sources': { status: 500, body: 'oops' } }],
      ['FRED answers with a page', { '/fred/series/release': { type: 'text/html', body: '<html>' } }],
      ['FRED says nothing', { '/fred/series/release': { raw: () => undefined } }],
    ])('is null if %s', async (_, more) => {
      await using at = await openFully(more)
      expect(await at.connectors.source('fred', 'BOPGSTB')).toBeNull()
    })

    it('is not waited for when the caller has left', async () => {
      await using at = await openFully({ '/fred/series/release': { raw: () => undefined } })
      const leaving = new AbortController()
      const asked = at.connectors.source('fred', 'BOPGSTB', { signal: leaving.signal })
      leaving.abort()
      expect(await failureOf(asked)).toMatchObject({ code: 'cancelled' })
    })

    it('needs no request where the provider says it with the series', async () => {
      await using at = await harness('ecb', {})
      expect(await at.connectors.source('ecb', 'EXR/M.USD.EUR.SP00.A')).toBeNull()
      expect(at.upstream.requests).toHaveLength(0)
    })
  })
})
