import { afterAll, beforeAll, expect, it } from 'vitest'
import { FORMATS } from '../../../engine/index.ts'
import { type Platform, platform } from '../platform.ts'

const ID = 'EXR/M.USD.EUR.SP00.A'
const HEAD = 'KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE,OBS_STATUS'
const row = (time: string, value: string, status: string) =>
  `EXR.M.USD.EUR.SP00.A,M,USD,EUR,SP00,A,${time},${value},${status}`

let at: Platform
let id: number
beforeAll(async () => {
  const body = [HEAD, row('2024-01', '1.1', 'A'), row('2024-02', '1.2', 'P'), row('2024-03', '', 'M')].join(
    '\n',
  )
  at = await platform({ routes: { [`/ecb/data/${ID}`]: { type: 'text/csv', body } } })
  const made = await at.call(at.root, 'POST', '/repositories', { json: { name: 'r', private: false } })
  const fields = { name: 'd', repositoryId: made.json().id }
  id = (await at.call(at.root, 'POST', '/datasets', { json: fields })).json().id
})
afterAll(() => at[Symbol.asyncDispose]())

const SHOWN =
  'date,value,status\n2024-01-01,1.1,\n2024-02-01,1.2,provisional\n2024-03-01,,"missing, can not exist"\n'

it.each(FORMATS)('a series as %s has the dates, values and statuses that were selected', async (format) => {
  const url = `/providers/ecb/series/${ID}?$select=date,value,status&$format=${format}`
  const answer = await at.call(at.root, 'GET', url)
  expect(answer.statusCode, answer.body).toBe(200)
  // Read back by our own reader of the format, as rows of a dataset.
  const isJson = format === 'json'
  const put = await at.call(at.root, 'PUT', `/datasets/${id}/data?columns=replace`, {
    body: isJson ? JSON.stringify({ rows: answer.json().observations }) : answer.rawPayload,
    headers: { 'content-type': isJson ? 'application/json' : String(answer.headers['content-type']) },
  })
  expect(put.statusCode, put.body).toBe(200)
  expect((await at.call(at.root, 'GET', `/datasets/${id}/data`)).body).toBe(SHOWN)
})
