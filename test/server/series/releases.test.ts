import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Platform, platform } from '../platform.ts'

let at: Platform
beforeAll(async () => {
  at = await platform({
    config: { providers: { fred: { key: 'k' } } },
    routes: {
      '/fred/releases/dates': ({ query }) => ({
        body: {
          count: 1,
          release_dates: [{ release_id: 10, release_name: 'CPI', date: query.get('realtime_start') }],
        },
      }),
    },
  })
})
afterAll(() => at[Symbol.asyncDispose]())

const get = (path: string) => at.call(at.root, 'GET', `/providers/${path}`)

it('an empty id of a series is no id of the provider', async () => {
  expect((await get('fred/releases?series=')).json()).toEqual({
    error: 'The id of a series is empty.',
    code: 'invalid_series_id',
  })
})

it('releases are a list in the order of time', async () => {
  const answer = await get('FRED/releases?from=2026-08-01&to=2026-08-31')
  expect([answer.statusCode, answer.json()]).toEqual([
    200,
    {
      provider: 'fred',
      from: '2026-08-01',
      to: '2026-08-31',
      releases: [{ name: 'CPI', date: '2026-08-01', time: null, period: null }],
    },
  ])
  expect((await get('fred/releases?from=2026-08-01&to=2026-08-31')).headers['age']).toBe('0')
})

it('a provider without a calendar is 404, and days that are wrong are 400', async () => {
  const none = await get('ecb/releases')
  expect([none.statusCode, none.json().code]).toEqual([404, 'no_calendar'])
  expect(none.json().error).toContain('providers that do: fred, bls, eurostat, statcan, bea')
  for (const query of ['from=2026-08-01&to=2020-01-01', 'from=x', 'days=3'])
    expect((await get(`fred/releases?${query}`)).statusCode, query).toBe(400)
})
