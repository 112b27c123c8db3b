import { afterAll, beforeAll, expect, it } from 'vitest'
import { alfred, REVISED } from '../../connectors/support/alfred.ts'
import { type Platform, platform } from '../platform.ts'

let at: Platform
beforeAll(async () => {
  at = await platform({ routes: alfred(REVISED), config: { providers: { fred: { key: 'k' } } } })
})
afterAll(() => at[Symbol.asyncDispose]())

const get = (query: string) => at.call(at.root, 'GET', `/providers/fred/series/GDP?${query}`)

it('vintages are a table in every format, and observations in JSON', async () => {
  expect((await get('vintages=all&$format=csv')).body).toBe(
    'date,period,value,known_from,known_to\n' +
      '2024-01-01,2024-Q1,100,2024-04-25,2024-05-30\n' +
      '2024-01-01,2024-Q1,101.5,2024-05-30,\n' +
      '2024-04-01,2024-Q2,,2024-05-30,2024-07-25\n' +
      '2024-04-01,2024-Q2,103,2024-07-25,\n',
  )
  const json = (await get('vintages=first&$top=1')).json()
  expect(json).toMatchObject({
    series_id: 'GDP',
    observations: [{ date: '2024-01-01', value: 100, known_from: '2024-04-25', known_to: '2024-05-30' }],
  })
  expect((await get('vintages=all&$format=csv&$filter=known_to eq null&$select=value')).body).toBe(
    'value\n101.5\n103\n',
  )
})

it('vintages are counted against the limits like all calls, and are for one series alone', async () => {
  const before = at.upstream.requests.length
  await get('vintages=latest:2&start=2024-02-01')
  expect(at.upstream.requests.slice(before).map(({ path }) => path)).toEqual(
    expect.arrayContaining(['/fred/series/vintagedates', '/fred/series/observations']),
  )
  const wrong = [
    '/providers/fred/series/GDP?vintages=some',
    '/providers/bls/series/X?vintages=all',
    '/providers/fred/series?ids=GDP&vintages=all',
  ]
  for (const path of wrong) expect((await at.call(at.root, 'GET', path)).statusCode, path).toBe(400)
})
