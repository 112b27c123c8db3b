import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Platform, platform } from '../platform.ts'

let at: Platform
let open: Platform
beforeAll(async () => {
  at = await platform({ config: { cors: { origins: ['https://tables.example'] } } })
  open = await platform({ config: { cors: { origins: ['*'] } } })
})
afterAll(async () => {
  await at[Symbol.asyncDispose]()
  await open[Symbol.asyncDispose]()
})

const rotate = (where: Platform, headers: Record<string, string>) =>
  where.call(where.root, 'POST', '/account/api-key', { headers })
const create = (where: Platform, headers: Record<string, string>) =>
  where.call(where.root, 'POST', '/repositories', { json: { name: 'made' }, headers })

describe("a change with a browser's own login", () => {
  it.each([
    ['another port of this host', { 'sec-fetch-site': 'same-site', origin: 'http://localhost:8081' }],
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['a page that hides where it is from', { 'sec-fetch-site': 'cross-site' }],
    ['an older browser elsewhere', { origin: 'http://localhost:8081' }],
    ['a page without an origin', { origin: 'null' }],
    [
      'another site whose Origin names this host',
      { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:80' },
    ],
  ])('is refused to %s', async (_what, headers) => {
    const response = await rotate(at, headers as Record<string, string>)
    expect(response.statusCode).toBe(403)
    expect(response.json()).toEqual({
      error: expect.stringMatching(/^A page of another site sent this change,/),
      code: 'cross_site',
    })
    expect((await at.call(at.root, 'GET', '/account')).statusCode).toBe(200)
  })

  it.each([
    ['the console', { 'sec-fetch-site': 'same-origin', origin: 'http://localhost' }],
    ['an older browser here', { origin: 'http://localhost:80' }],
    ['a configured origin', { 'sec-fetch-site': 'cross-site', origin: 'https://tables.example' }],
    ['who sends it without any page', { 'sec-fetch-site': 'none' }],
    ['a program', {}],
  ])('is allowed to %s', async (_what, headers) => {
    const response = await create(at, { host: 'localhost', ...(headers as Record<string, string>) })
    expect(response.statusCode).toBe(201)
  })

  it('reading is allowed to everybody: the answer is not shown to other sites', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
    const response = await at.call(at.root, 'GET', '/account', { headers })
    expect(response.statusCode).toBe(200)
    expect(response.headers['access-control-allow-origin']).not.toBe('https://evil.example')
  })

  it('where every origin is let in, it must be one that browsers ask about first', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://anybody.example' }
    expect((await rotate(open, headers)).statusCode).toBe(403)
    expect((await create(open, headers)).statusCode).toBe(201)
  })

  it.each([
    ['POST', 'Text/Plain', 403],
    ['POST', 'text/plain ; charset=utf-8', 403],
    ['POST', 'multipart/form-data; boundary=x', 403],
    ['POST', 'text/csv', 404],
    ['PUT', 'text/plain', 404],
  ] as const)('where every origin is let in, a page may send a %s of %s only if browsers ask first: %i', async (method, type, status) => {
    const headers = {
      'sec-fetch-site': 'cross-site',
      origin: 'https://anybody.example',
      'content-type': type,
    }
    expect(
      (await open.call(open.root, method, '/datasets/999999/data', { headers, body: 'a' })).statusCode,
    ).toBe(status)
  })

  it('a key that the page sends by itself is not a login', async () => {
    const response = await at.app.inject({
      method: 'POST',
      url: '/repositories',
      headers: {
        authorization: `Bearer ${at.root}`,
        'content-type': 'application/json',
        'sec-fetch-site': 'cross-site',
        origin: 'https://other.example',
      },
      payload: '{"name":"sent"}',
    })
    expect(response.statusCode).toBe(201)
  })
})

it('a page of another site gets no answers for agents, however it sends the key', async () => {
  const json = { jsonrpc: '2.0', id: 1, method: 'ping' }
  const accept = 'application/json, text/event-stream'
  const ask = (headers: Record<string, string>) =>
    at.call(undefined, 'POST', '/mcp', { json, headers: { accept, 'x-api-key': at.root, ...headers } })
  const elsewhere = await ask({ origin: 'https://evil.example' })
  expect([elsewhere.statusCode, elsewhere.json().code]).toEqual([403, 'cross_site'])
  for (const headers of [{}, { origin: 'https://tables.example' }]) {
    expect((await ask(headers as Record<string, string>)).statusCode).toBe(200)
  }
})
