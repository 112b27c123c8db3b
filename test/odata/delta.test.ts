import { afterAll, expect, test } from 'vitest'
import { dataset } from '../server/platform.ts'
import { openFeed } from './feed.ts'

const feed = await openFeed()
const { at, key } = feed
afterAll(() => feed[Symbol.asyncDispose]())

test('the delta link of a table without rows gives the first ones', async () => {
  const { repository } = await dataset(at, key, { name: 'beside' })
  const json = { name: 'empty', repositoryId: repository, columns: [{ name: 'n', type: 'integer' }] }
  const { id } = (await at.call(key, 'POST', '/datasets', { json })).json()
  const base = `/repositories/${repository}/odata/empty`
  const read = await at.call(key, 'GET', base, { headers: { prefer: 'odata.track-changes' } })
  const csv = { body: 'n\n7\n', headers: { 'content-type': 'text/csv' } }
  expect((await at.call(key, 'POST', `/datasets/${id}/data`, csv)).statusCode).toBe(200)
  const link = read.json()['@odata.deltaLink'].replace('http://localhost:80', '')
  expect((await at.call(key, 'GET', link)).json()).toMatchObject({ value: [{ Row: 1, n: 7 }] })
})
