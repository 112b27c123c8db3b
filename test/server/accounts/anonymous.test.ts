import { afterAll, beforeAll, expect, test } from 'vitest'
import { dataset, type Platform, platform } from '../platform.ts'

let at: Platform
let open: { repository: number; id: number }
let hidden: { repository: number; id: number }

beforeAll(async () => {
  at = await platform({ config: { anonymous: { requestsPerMinute: 100 } } })
  const ada = await at.account('ada', 'pro')
  open = await dataset(at, ada, { name: 'open', csv: 'a\n1\n' })
  hidden = await dataset(at, ada, { name: 'hidden', private: true })
})
afterAll(() => at[Symbol.asyncDispose]())

const ask = (method: string, url: string) => at.call(undefined, method, url)

test('what is public is read without a key', async () => {
  expect((await ask('GET', `/datasets/${open.id}/data`)).body).toBe('a\n1\n')
  for (const url of [
    `/datasets/${open.id}`,
    `/datasets/${open.id}/columns`,
    `/datasets/${open.id}/schema.json`,
    `/repositories/${open.repository}`,
    `/repositories/${open.repository}/odata/open`,
    `/repositories/${open.repository}/odata/$metadata`,
  ]) {
    expect((await ask('GET', url)).statusCode, url).toBe(200)
  }
  expect((await ask('HEAD', `/datasets/${open.id}/data`)).statusCode).toBe(200)
  for (const list of ['/datasets', '/repositories', '/odata/']) {
    const answer = await ask('GET', list)
    expect(answer.statusCode).toBe(200)
    expect(answer.body).not.toContain('hidden')
  }
})

test('everything else needs a key, and nobody without one learns what exists', async () => {
  for (const [method, url] of [
    ['GET', `/datasets/${hidden.id}/data`],
    ['GET', '/datasets/9999/data'],
    ['GET', `/repositories/${hidden.repository}`],
    ['GET', `/repositories/${hidden.repository}/odata/hidden`],
    ['GET', '/repositories/9999/odata/'],
    ['GET', '/no/such/path'],
    ['GET', '/account'],
    ['GET', '/links'],
    ['GET', '/providers'],
    ['GET', '/sql?q=SELECT%201'],
    ['GET', `/repositories/${open.repository}/members`],
    ['GET', `/datasets/${open.id}/source`],
    ['POST', `/datasets/${open.id}/data/$query`],
    ['DELETE', `/datasets/${open.id}/data?$filter=a eq 1`],
    ['DELETE', `/datasets/${open.id}`],
    ['PUT', `/repositories/${open.repository}`],
  ] as const) {
    const answer = await ask(method, url)
    expect(answer.statusCode, `${method} ${url}`).toBe(401)
    expect(answer.headers['www-authenticate']).toBe('Basic realm="parquetry"')
  }
})

test('a wrong key is no less wrong', async () => {
  expect((await at.call('pq_nonsense', 'GET', `/datasets/${open.id}/data`)).statusCode).toBe(401)
})

test('nothing is open unless the configuration says so, and an address may ask so often', async () => {
  await using closed = await platform()
  const { id } = await dataset(closed, closed.root)
  expect((await closed.call(undefined, 'GET', `/datasets/${id}/data`)).statusCode).toBe(401)
  await using few = await platform({ config: { anonymous: { requestsPerMinute: 2 } } })
  const one = await dataset(few, few.root)
  const url = `/datasets/${one.id}/data`
  const statuses = []
  for (let i = 0; i < 3; i++) statuses.push((await few.call(undefined, 'GET', url)).statusCode)
  expect(statuses).toEqual([200, 200, 429])
  expect((await few.call(few.root, 'GET', url)).statusCode).toBe(200)
  expect((await few.call(undefined, 'GET', url)).json().error).toContain('This address sends more than 2')
})
