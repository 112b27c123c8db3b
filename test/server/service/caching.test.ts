import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dataset, type Platform, platform } from '../platform.ts'

const ORIGIN = 'https://pages.example.org'

let at: Platform
let id: number
beforeAll(async () => {
  at = await platform({ config: { cors: { origins: [ORIGIN] } } })
  id = (await dataset(at, at.root, { csv: 'n,price\n9007199254740993,1.5\n2,\n' })).id
})
afterAll(() => at[Symbol.asyncDispose]())

const get = (url: string, headers: Record<string, string> = {}) => at.call(at.root, 'GET', url, { headers })

describe('an answer that needs a key', () => {
  test.each([
    '/datasets',
    '/repositories',
    '/account',
    '/providers',
    '/repositories/1/odata/',
    '/odata/$metadata',
  ])('%s is compared by its tag before a cache uses it again', async (url) => {
    const { headers, statusCode } = await get(url)
    expect([statusCode, headers['cache-control']]).toEqual([200, 'private, no-cache'])
    expect(headers['etag']).toMatch(/^(?:W\/)?"[\w-]+"$/)
    const again = await get(url, { 'if-none-match': headers['etag'] as string })
    expect([again.statusCode, again.body]).toEqual([304, ''])
    expect((await get(url, { 'if-none-match': '"other"' })).statusCode).toBe(200)
  })

  test('changes its tag with what it says', async () => {
    const before = (await get('/repositories')).headers['etag']
    await at.call(at.root, 'POST', '/repositories', { json: { name: 'another', private: false } })
    expect((await get('/repositories')).headers['etag']).not.toBe(before)
  })

  test('is not kept by caches where it is a refusal, and varies by origin', async () => {
    const refused = await get('/datasets/999')
    expect(refused.headers).toMatchObject({ 'cache-control': 'private, no-cache', vary: 'Origin' })
    const rows = await get(`/datasets/${id}/data`, { origin: ORIGIN })
    expect(rows.headers['vary']).toMatch(/^Accept, Accept-Encoding, Origin$/)
    expect(rows.headers['access-control-allow-origin']).toBe(ORIGIN)
    expect((await get('/healthz')).headers['cache-control']).toBeUndefined()
  })
})

test('the addresses of Parquet files work without a key, and their owner decides how long', async () => {
  const [file] = (await get(`/datasets/${id}/parquet`)).json()
  const { pathname, search } = new URL(file.url)
  expect(pathname).toMatch(/\.parquet$/)
  const read = (query: string) => at.call(undefined, 'GET', pathname + query)
  expect((await read(search)).rawPayload).toHaveLength(file.bytes)
  expect((await read('')).statusCode).toBe(401)
  expect((await read(`${search.slice(0, -2)}xx`)).statusCode).toBe(401)
  // A key that is sent as well decides, so that an old address goes on working for whoever has one.
  const old = search.replace(/\d+(?=\.[\w-]+$)/, '1')
  expect((await read(old)).statusCode).toBe(401)
  expect(
    (await at.call(undefined, 'GET', pathname + old, { headers: { 'x-api-key': at.root } })).statusCode,
  ).toBe(200)
})

test.each([
  ['', { accept: 'application/json;IEEE754Compatible=true' }],
  ['?$format=application/json;IEEE754Compatible=true', {}],
])('json has integers as text for clients that ask for it (%j)', async (query, headers) => {
  const answer = await get(`/datasets/${id}/data${query}`, headers as Record<string, string>)
  expect(answer.headers['content-type']).toBe('application/json;IEEE754Compatible=true;charset=utf-8')
  expect(answer.json()).toEqual([
    { n: '9007199254740993', price: 1.5 },
    { n: '2', price: null },
  ])
  expect((await get(`/datasets/${id}/data?$format=json`)).body).toContain('"n":9007199254740993')
})
