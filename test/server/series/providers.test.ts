import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataset, type Platform } from '../platform.ts'
import { CANARY, fredPlatform, routes } from './fred.ts'

let at: Platform
let ada: string
beforeAll(async () => {
  at = await fredPlatform()
  ada = await at.account('ada')
})
afterAll(() => at[Symbol.asyncDispose]())

const get = (url: string, key = ada, headers: Record<string, string> = {}) =>
  at.call(key, 'GET', url, { headers })

describe('GET /providers', () => {
  it('lists all of them', async () => {
    const list = (await get('/providers')).json()
    expect(list.find((one: { slug: string }) => one.slug === 'worldbank')).toMatchObject({ takesKey: false })
    expect(list.find((one: { slug: string }) => one.slug === 'fred')).toEqual({
      slug: 'fred',
      name: 'FRED',
      description: expect.any(String),
      homepage: 'https://fred.stlouisfed.org',
      tier: 'free',
      keyRequired: true,
      takesKey: true,
      userKey: false,
      limit: { requests: 500, perSeconds: 60, remaining: 500, resetsAt: null },
    })
  })

  it('takes a slug in any case', async () => {
    for (const slug of ['fred', 'FRED', 'FrEd', '%46red']) {
      expect((await get(`/providers/${slug}`)).json().slug, slug).toBe('fred')
    }
  })

  it('is 404 for an unknown one, everywhere', async () => {
    for (const path of ['', '/browse', '/series/X']) {
      const response = await get(`/providers/nosuch${path}`)
      expect(response.statusCode).toBe(404)
      expect(response.json().code).toBe('unknown_provider')
    }
    expect((await at.call(ada, 'PUT', '/user-keys/nosuch', { json: { key: 'k' } })).statusCode).toBe(404)
    expect((await at.call(ada, 'DELETE', '/user-keys/nosuch')).statusCode).toBe(404)
  })
})

describe('GET /providers/{slug}/browse', () => {
  it('gives the categories under a path', async () => {
    expect((await get('/providers/FRED/browse')).json()).toEqual({
      provider: 'fred',
      path: '',
      categories: [{ path: '13', name: 'Trade', description: 'All', series: true }],
    })
    expect((await get('/providers/fred/browse?path=13&series=false')).json()).toEqual({
      provider: 'fred',
      path: '13',
      categories: [],
    })
  })

  it('with series=true gives series, 200 of them unless it is said otherwise', async () => {
    const page = (await get('/providers/fred/browse?path=13&series=true')).json()
    expect(page).toMatchObject({ provider: 'fred', path: '13', total: 1500, limit: 200, offset: 0 })
    expect(Object.keys(page)).toEqual(['provider', 'path', 'total', 'limit', 'offset', 'series'])
    expect(page.series).toHaveLength(200)
    expect(page.series[0]).toEqual({
      series_id: 'S0',
      name: 'Real Gross National Product',
      frequency: 'annual',
      unit: 'Billions of Dollars',
      start: '1929-01-01',
      end: '1931-01-01',
    })
    const next = (await get('/providers/fred/browse?path=13&series=true&limit=1000&offset=200')).json()
    expect(next.series).toHaveLength(1000)
    expect(next.series[0].series_id).toBe('S200')
  })

  it.each([
    'limit=1001',
    'limit=0',
    'limit=-1',
    'limit=x',
    'limit=1.5',
    'offset=-1',
    'offset=x',
    'series=yes',
    'series=',
    'page=1',
    '$top=1',
    'limit=1&limit=2',
    'Limit=1',
  ])('%s is 400', async (query) => {
    const response = await get(`/providers/fred/browse?series=true&path=13&${query}`)
    expect(response.statusCode).toBe(400)
    const option = query.split('=')[0]
    expect(response.json()).toEqual({ error: expect.any(String), code: 'invalid_query', option })
  })
})

describe('GET /providers/{slug}/series/{series_id}', () => {
  const observations = [
    { date: '1929-01-01', period: '1929', value: 1065.9 },
    { date: '1930-01-01', period: '1930', value: null },
    { date: '1931-01-01', period: '1931', value: -0.5 },
  ]
  const head = {
    provider: 'fred',
    series_id: 'GNPCA',
    name: 'Real Gross National Product',
    frequency: 'annual',
    unit: 'Billions of Dollars',
    seasonalAdjustment: null,
    source: null,
    notes: null,
    dimensions: null,
    start: '1929-01-01',
    end: '1931-01-01',
    lastUpdated: '2026-03-26T07:46:03-05:00',
  }

  it('names the source of a series in json, which takes requests that no other format makes', async () => {
    at.upstream.routes = {
      ...routes,
      '/fred/series/release': { body: { releases: [{ id: 53 }] } },
      '/fred/release/sources': { body: { sources: [{ name: 'U.S. Bureau of Economic Analysis' }] } },
      '/fred/series': (hit) => ({
        body: { seriess: [{ id: hit.query.get('series_id'), title: 'Tourism' }] },
      }),
    }
    const asked = async (path: string) => {
      const before = at.upstream.requests.length
      const response = await get(path)
      expect(response.statusCode, response.body).toBe(200)
      return { response, paths: at.upstream.requests.slice(before).map((hit) => hit.path) }
    }
    const numbers = ['/fred/series', '/fred/series/observations']
    expect((await asked('/providers/fred/series/TOURISM?$format=csv')).paths).toEqual(numbers)
    expect((await asked('/providers/fred/series?ids=TOURISM2&$format=json')).paths).toEqual(numbers)
    const { response, paths } = await asked('/providers/fred/series/TOURISM')
    expect(paths).toEqual(['/fred/series/release', '/fred/release/sources'])
    expect(response.json().source).toBe('U.S. Bureau of Economic Analysis')
    const selected = await asked('/providers/fred/series/TOURISM?$top=1')
    expect(selected.response.json().source).toBe('U.S. Bureau of Economic Analysis')
    expect(selected.paths).toEqual([])
    at.upstream.routes = routes
  })

  it('gives json with the observations', async () => {
    const response = await get('/providers/fred/series/GNPCA')
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(response.json()).toEqual({ ...head, observations })
    const again = await get('/providers/fred/series/GNPCA')
    expect(again.json()).toEqual({ ...head, observations })
    expect(Number(again.headers['age'])).toBeGreaterThanOrEqual(0)
  })

  it('applies the options to the observations of json', async () => {
    const options = '$filter=value gt 0 or value eq null&$orderby=date desc&$top=1'
    const response = await get(`/providers/fred/series/GNPCA?${options}`)
    expect(response.json()).toEqual({ ...head, observations: [observations[1]] })
    expect(response.headers['row-count']).toBe('2')
    expect((await get('/providers/fred/series/GNPCA?$last=1&$select=value')).json().observations).toEqual([
      { value: -0.5 },
    ])
    const selected = await get('/providers/fred/series/GNPCA?$last=1&$select=date,value,status')
    expect(selected.json().observations).toEqual([{ date: '1931-01-01', value: -0.5, status: null }])
    expect((await get('/providers/fred/series/GNPCA?$filter=nope eq 1')).statusCode).toBe(400)
  })

  it.each([
    '$filter=nope eq 1',
    '$filter=value gt',
    '$select=x',
    '$top=1&$last=1',
  ])('refuses %s before the provider is asked', async (options) => {
    const before = at.upstream.requests.length
    expect((await get(`/providers/fred/series/NEVER?${options}`)).statusCode).toBe(400)
    expect(at.upstream.requests.length).toBe(before)
  })

  it('gives the observations in the other formats', async () => {
    const csv = await get('/providers/fred/series/GNPCA?$format=csv')
    expect(csv.body).toBe(
      'date,period,value\n1929-01-01,1929,1065.9\n1930-01-01,1930,\n1931-01-01,1931,-0.5\n',
    )
    expect(csv.headers['content-disposition']).toContain('filename="fred-GNPCA.csv"')
    expect((await get('/providers/fred/series/GNPCA?$format=tsv&$last=1')).body).toBe(
      'date\tperiod\tvalue\n1931-01-01\t1931\t-0.5\n',
    )
    const xlsx = await get('/providers/fred/series/GNPCA?format=xlsx')
    expect(xlsx.rawPayload.subarray(0, 2).toString()).toBe('PK')
  })

  it('takes start and end', async () => {
    expect(
      (await get('/providers/fred/series/GNPCA?start=1930-01-01&end=1930-12-31')).json().observations,
    ).toEqual([observations[1]])
    for (const query of ['start=yesterday', 'start=1930-13-01', 'start=1931-01-01&end=1930-01-01']) {
      expect((await get(`/providers/fred/series/GNPCA?${query}`)).statusCode, query).toBe(400)
    }
  })

  it('answers HEAD', async () => {
    const response = await at.call(ada, 'HEAD', '/providers/fred/series/GNPCA?$format=csv')
    expect(response.statusCode).toBe(200)
    expect(response.body).toBe('')
  })

  it('takes an id with slashes, as they are and percent-encoded, decoded once', async () => {
    at.upstream.routes = { ...routes, '*': { status: 404 } }
    const spellings = {
      'EXR/D.USD.EUR.SP00.A': 'EXR/D.USD',
      'EXR%2FD.GBP.EUR.SP00.A': 'EXR/D.GBP',
      'EXR%252FX': 'EXR%2FX',
    }
    for (const [spelling, meant] of Object.entries(spellings)) {
      const response = await get(`/providers/ecb/series/${spelling}`)
      expect([400, 404]).toContain(response.statusCode)
      expect(response.json().error).toContain(meant)
    }
    const twice = await get('/providers/fred/series/GNP%2543A')
    expect(twice.statusCode).not.toBe(200)
    at.upstream.routes = routes
  })

  it('is 404 for an unknown id and 400 for malformed percent-encoding', async () => {
    const unknown = await get('/providers/fred/series/NOPE')
    expect(unknown.statusCode).toBe(404)
    expect(unknown.json().code).toBe('series_not_found')
    const impossible = await get('/providers/fred/series/no$such')
    expect(impossible.statusCode).toBe(404)
    expect(impossible.json().code).toBe('invalid_series_id')
    const malformed = await get('/providers/fred/series/%zz')
    expect(malformed.statusCode).toBe(400)
    expect(malformed.json()).toEqual({ error: expect.any(String), code: 'invalid_url' })
  })
})

describe('plans and keys', () => {
  it('a paid provider is 402 on a plan without paid providers', async () => {
    const free = await at.account('free', 'free')
    for (const path of ['series/X/Y', 'browse', 'browse?series=true']) {
      const response = await get(`/providers/nasdaq/${path}`, free)
      expect(response.statusCode).toBe(402)
      expect(response.json()).toEqual({ error: expect.stringMatching(/paid/), code: 'plan_limit' })
    }
    expect((await get('/providers/nasdaq', free)).json()).toMatchObject({ tier: 'paid' })
    const pro = await at.account('pro', 'pro')
    expect((await get('/providers/nasdaq/series/X/Y', pro)).statusCode).not.toBe(402)
    const upload = await at.call(free, 'POST', `/datasets/${(await dataset(at, free)).id}/data`, {
      json: { provider: 'nasdaq', series: ['X/Y'] },
    })
    expect(upload.statusCode).toBe(402)
  })

  it('a provider that costs only with the service’s key is free with a key of one’s own', async () => {
    const free = await at.account('own', 'free')
    expect((await get('/providers/alphavantage', free)).json()).toMatchObject({
      tier: 'paid',
      userKey: false,
    })
    expect((await get('/providers/alphavantage/browse', free)).statusCode).toBe(402)
    await at.call(free, 'PUT', '/user-keys/alphavantage', { json: { key: 'my-own-key-123' } })
    expect((await get('/providers/alphavantage', free)).json()).toMatchObject({ tier: 'free', userKey: true })
    expect((await get('/providers/alphavantage/browse', free)).statusCode).not.toBe(402)
  })

  it('a missing key is 400 and says how to save one', async () => {
    const pro = await at.account('pro2', 'pro')
    const response = await get('/providers/nasdaq/series/X/Y', pro)
    expect(response.statusCode).toBe(400)
    expect(response.json()).toEqual({
      error: expect.stringMatching(/PUT \/user-keys\/nasdaq/),
      code: 'key_required',
    })
  })
})

it("the service's key, the upstream's address and saved keys are in no answer and no line of the log", async () => {
  at.upstream.routes = { '*': { status: 500, body: `broken: ${CANARY} at ${at.upstream.url}` } }
  const texts: string[] = []
  for (const path of [
    '/providers',
    '/providers/fred/series/OTHER',
    '/providers/fred/browse?path=99',
    '/providers/ecb/series/EXR/D.USD.EUR.SP00.A',
  ]) {
    const response = await get(path)
    texts.push(response.body, JSON.stringify(response.headers))
    expect(response.statusCode).toBeLessThan(504)
  }
  texts.push((await at.call(at.root, 'GET', '/metrics')).body, JSON.stringify(at.log))
  for (const text of texts) {
    expect(text).not.toContain(CANARY)
    expect(text).not.toContain(at.upstream.url)
  }
  at.upstream.routes = routes
})

describe('series as a table', () => {
  it('come below each other, with what could not be had in a header', async () => {
    const response = await get('/providers/fred/series?ids=GNPCA,NOPE&$top=1')
    expect(response.statusCode, response.body).toBe(200)
    expect(response.headers['series-missing']).toBe('NOPE')
    expect(response.body).toBe(
      'provider,series_id,date,period,value,status\nfred,GNPCA,1929-01-01,1929,1065.9,\n',
    )
  })

  it.each([
    'NOPE',
    '日本',
    'a"b',
  ])('have an entity tag without quotes where %s could not be had', async (id) => {
    const path = `/series?ids=fred/GNPCA,fred/${encodeURIComponent(id)}&$format=json&envelope=true`
    const { statusCode, headers, body } = await get(path)
    expect(statusCode, body).toBe(200)
    expect(headers.etag).toMatch(/^"[!#-~]+"$/)
    const again = await at.call(at.root, 'GET', path, { headers: { 'if-none-match': String(headers.etag) } })
    expect(again.statusCode).toBe(304)
  })

  it('come side by side, from several providers, transformed, and with the reasons in json', async () => {
    const options = 'shape=wide&transform=change&$format=json&envelope=true&start=1930-01-01'
    const response = await get(`/series?ids=fred/GNPCA,fred/NOPE&${options}`)
    expect(response.json()).toEqual({
      missing: [
        {
          provider: 'fred',
          series_id: 'NOPE',
          code: 'series_not_found',
          error: "FRED has no series 'NOPE'.",
        },
      ],
      rows: [
        { date: '1930-01-01', period: '1930', GNPCA: null },
        { date: '1931-01-01', period: '1931', GNPCA: null },
      ],
    })
  })

  it.each([
    '/series',
    '/series?ids=GNPCA',
    '/series?ids=nosuch/X',
    '/providers/fred/series?ids=',
    '/providers/fred/series?ids=GNPCA&shape=tall',
    '/providers/fred/series?ids=GNPCA&transform=pct',
    '/providers/fred/series?ids=GNPCA&envelope=true',
    '/providers/fred/series?ids=GNPCA&$select=nope',
    '/providers/fred/series/GNPCA?frequency=weekly',
    '/providers/fred/series/GNPCA?asOf=yesterday',
  ])('is refused as %s', async (path) => {
    expect([400, 404]).toContain((await get(path)).statusCode)
  })
})

describe('search', () => {
  it('finds series that were seen, and datasets that may be read', async () => {
    await get('/providers/fred/browse')
    const found = (await get('/search?q=trade')).json()
    expect(Object.keys(found)).toEqual([
      'query',
      'total',
      'limit',
      'offset',
      'series',
      'categories',
      'datasets',
      'hint',
    ])
    const beyond = await get('/search?q=trade&offset=100000')
    expect([beyond.statusCode, beyond.json().code]).toEqual([400, 'invalid_option'])
    for (const path of ['/search', '/providers/fred/search']) {
      const long = await get(`${path}?q=${'a'.repeat(2_001)}`)
      expect(long.statusCode).toBe(400)
      expect(long.json().error).toBe('A search of more than 2000 characters is too long.')
    }
    expect((await get('/providers/nosuch/search?q=x')).statusCode).toBe(404)
    expect((await get('/providers/bls/search?q=')).json()).toMatchObject({ total: 0, series: [] })
  })
})
