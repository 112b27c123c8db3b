import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Platform, platform } from '../server/platform.ts'

/** Alpha Vantage's function for prices of one stock, with a time of day. */
const ID = 'TIME_SERIES_INTRADAY/IBM/5min/close'
const HEAD = 'name,unit,frequency,time,period,value,status\n'

let at: Platform
let id: number
beforeAll(async () => {
  at = await platform({
    routes: {
      '/alphavantage': {
        body: {
          'Meta Data': { '2. Symbol': 'IBM', '4. Interval': '5min' },
          'Time Series (5min)': {
            '2026-03-02 09:35:00': { '4. close': '101.5' },
            '2026-03-02 09:30:00': { '4. close': '101.0' },
            '2026-03-02 00:00:00': { '4. close': '100.5' },
          },
        },
      },
    },
    config: { providers: { alphavantage: { key: 'k', limits: { windows: [], withKey: [] } } } },
  })
  const repository = await at.call(at.root, 'POST', '/repositories', { json: { name: 'r', private: false } })
  const repositoryId = repository.json().id
  const made = await at.call(at.root, 'POST', '/datasets', { json: { name: 'd', repositoryId } })
  id = made.json().id
})
afterAll(() => at[Symbol.asyncDispose]())

const csv = async () => (await at.call(at.root, 'GET', `/datasets/${id}/data`)).body

it('a series with a time of day keeps it, saved as rows', async () => {
  const saved = await at.call(at.root, 'PUT', `/datasets/${id}/data`, {
    json: { provider: 'alphavantage', series: [ID] },
  })
  expect(saved.statusCode, saved.body).toBe(200)
  expect(await csv()).toMatch(/^provider,series_id,name,unit,frequency,time,period,value,status\n/)
  const rows = (await csv()).trim().split('\n').slice(1)
  expect(rows.map((row) => row.split(',').at(-4))).toEqual([
    '2026-03-02T00:00:00',
    '2026-03-02T09:30:00',
    '2026-03-02T09:35:00',
  ])
})

it('and followed', async () => {
  const set = await at.call(at.root, 'PUT', `/datasets/${id}/source`, {
    json: { series: [`alphavantage/${ID}`], every: 'hour' },
  })
  expect(set.json()).toMatchObject({ lastError: null, missing: [] })
  expect(await csv()).toContain(`series_id,${HEAD}`)
  expect(await csv()).toMatch(/T09:35:00,2026-03-02T09:35,101.5,\n$/)
})
