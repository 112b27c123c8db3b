import { describe, expect, it } from 'vitest'
import { failureOf, harness } from './support/harness.ts'
import type { Reply } from './support/upstream.ts'

/** A series id that each of the plain providers understands. */
const SERIES = {
  fred: 'GNPCA',
  bls: 'CUUR0000SA0',
  worldbank: 'US/NY.GDP.MKTP.CD',
  dbnomics: 'BIS/cbpol/M.AU',
  'bank-of-canada': 'V39079',
  alphavantage: 'TIME_SERIES_DAILY/IBM',
  nasdaq: 'FSE/BMW_X',
  'us-treasury': 'v2/accounting/od/debt_to_penny/tot_pub_debt_out_amt',
  statcan: 'v41690973',
  frankfurter: 'EUR/USD',
} as const
const KEYED = ['fred', 'alphavantage', 'nasdaq']

const html = (status: number): Reply => ({ status, type: 'text/html', body: '<html><h1>No</h1></html>' })
const json = (status: number): Reply => ({ status, body: { message: 'No' } })

const failing = async (slug: keyof typeof SERIES, reply: Reply) => {
  const isKeyed = KEYED.includes(slug)
  await using at = await harness(slug, { '*': reply }, isKeyed ? { key: 'secret-key' } : {})
  const { name } = at.connectors.get(slug)
  const error = await failureOf(at.connectors.series(slug, SERIES[slug]))
  expect(error.message).toContain(name)
  expect(error.message).not.toContain('secret-key')
  expect(error.provider).toBe(slug)
  return error.status
}

describe.each(Object.keys(SERIES) as (keyof typeof SERIES)[])('an answer of %s', (slug) => {
  it.each([
    [401, 503],
    [403, 503],
    [404, 404],
    [410, 404],
    [413, 504],
    [414, 404],
    [451, 503],
  ])('that is a page for people with status %d is %d', async (status, expected) => {
    expect(await failing(slug, html(status))).toBe(expected)
  })

  it.each([
    401, 403,
  ])('that is JSON with status %d is a rejected key, or a provider that lets nobody in', async (status) => {
    const takesKey = KEYED.includes(slug) || slug === 'bls'
    expect(await failing(slug, json(status))).toBe(takesKey ? 400 : 503)
  })
})

describe('a notice of Alpha Vantage', () => {
  const BURST =
    'Thank you for using Alpha Vantage! Please consider spreading out your free API requests more sparingly ' +
    '(1 request per second). You may subscribe to any of the premium plans to lift the free key rate limit ' +
    '(25 requests per day), raise the per-second burst limit, and instantly unlock all premium endpoints.'

  it('about a burst is a limit, not a bad key', async () => {
    await using at = await harness('alphavantage', { '*': { body: { Information: BURST } } }, { key: 'k' })
    const error = await failureOf(at.connectors.series('alphavantage', 'TIME_SERIES_DAILY/IBM'))
    expect(error).toMatchObject({ code: 'provider_limit', status: 429 })
    expect(error.retryAfter).toBeLessThanOrEqual(60)
  })

  it('that JSON with status 400 is not understood', async () => {
    expect(await failing('alphavantage', json(400))).toBe(500)
  })
})

describe('what BLS says beside status 200', () => {
  const told = (status: string, message: string, series: unknown[] = []) => ({
    '*': { body: { status, message: [message], Results: { series } } },
  })
  const data = [
    { year: '2024', period: 'M01', value: '1.5', footnotes: [{ code: 'P', text: 'Preliminary' }] },
  ]

  it.each([
    ['Series does not exist for Series X1', 'series_not_found', 404],
    ['The request threshold has been reached.', 'provider_limit', 429],
    ['User k has exceeded the number of requests allowed', 'provider_limit', 429],
  ])('as %j is understood', async (message, code, status) => {
    await using at = await harness('bls', told('REQUEST_NOT_PROCESSED', message))
    expect(await failureOf(at.connectors.series('bls', 'X1'))).toMatchObject({ code, status })
  })

  it('of a part is answered with that part', async () => {
    const found = [{ seriesID: 'X1', data }]
    await using at = await harness(
      'bls',
      told('REQUEST_PARTIALLY_PROCESSED', 'Series does not exist for Series X2', found),
    )
    expect((await at.connectors.series('bls', 'X1')).observations).toEqual([
      { date: '2024-01-01', period: '2024-01', value: 1.5, status: 'provisional' },
    ])
  })

  it('about a limit names a key of one’s own', async () => {
    await using at = await harness('bls', told('REQUEST_NOT_PROCESSED', 'daily threshold reached'))
    const error = await failureOf(at.connectors.series('bls', 'X1'))
    expect(error).toMatchObject({ code: 'provider_limit', remedy: 'own-key' })
  })
})

describe('a pause that a provider asks for', () => {
  it('lasts a day at most', async () => {
    const year = { status: 429, headers: { 'retry-after': '31536000' }, body: {} }
    await using at = await harness('frankfurter', { '*': year })
    const error = await failureOf(at.connectors.browse('frankfurter', ''))
    expect(error.retryAfter).toBe(86_400)
  })

  it.each([
    '-5',
    '+10',
    '1e3',
    '',
    '60, 60',
    '120 seconds',
    'soon',
  ])('and says as %j is a minute, which is usual', async (given) => {
    await using at = await harness('frankfurter', {
      '*': { status: 429, headers: { 'retry-after': given }, body: {} },
    })
    expect((await failureOf(at.connectors.browse('frankfurter', ''))).retryAfter).toBe(60)
  })

  it('names a key of one’s own where one helps', async () => {
    const busy = { status: 429, body: {} }
    await using fred = await harness('fred', { '*': busy }, { key: 'k' })
    await using ecb = await harness('ecb', { '*': busy })
    expect(await failureOf(fred.connectors.series('fred', 'GDP'))).toMatchObject({ remedy: 'own-key' })
    expect(await failureOf(ecb.connectors.series('ecb', 'EXR/A.B'))).toMatchObject({ remedy: undefined })
  })

  it('of no time is none: a request with 503 is tried again', async () => {
    let asked = 0
    const busy = { status: 503, headers: { 'retry-after': '0' }, body: {} }
    await using at = await harness('frankfurter', {
      '*': () => (++asked === 1 ? busy : { body: { EUR: 'Euro' } }),
    })
    expect((await at.connectors.browse('frankfurter', '')).categories).toHaveLength(2)
  })

  it('with 503 is told at once and not sat out', async () => {
    const busy = { status: 503, headers: { 'retry-after': '4' }, body: {} }
    await using at = await harness('frankfurter', { '*': busy })
    const error = await failureOf(at.connectors.browse('frankfurter', ''))
    expect(error).toMatchObject({ code: 'provider_down', retryAfter: 4 })
    expect(at.upstream.requests).toHaveLength(1)
  })

  it('is told with its end for a wide request of SDMX as well', async () => {
    const busy = { status: 503, headers: { 'retry-after': '4' }, body: {} }
    await using at = await harness('ecb', { '*': busy })
    const error = await failureOf(at.connectors.many([{ provider: 'ecb', id: 'EXR/M..EUR.SP00.A' }]))
    expect(error).toMatchObject({ code: 'provider_down', retryAfter: 4 })
  })
})
