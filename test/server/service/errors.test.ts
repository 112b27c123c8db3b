import { gunzipSync } from 'node:zlib'
import auth from '@fastify/auth'
import underPressure from '@fastify/under-pressure'
import Fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CONNECTOR_ERRORS, ConnectorError } from '../../../connectors/errors.ts'
import type { ErrorFields } from '../../../engine/errors.ts'
import { EngineError, ERRORS } from '../../../engine/index.ts'
import { parquetry } from '../../../server/app.ts'
import {
  CONNECTOR_STATUSES,
  ENGINE_STATUSES,
  errorAnswer,
  SERVER_ERRORS,
  ServerError,
} from '../../../server/http/errors.ts'
import { basic, dataset, type Platform, platform } from '../platform.ts'

let at: Platform
let ada: string
beforeAll(async () => {
  at = await platform({
    config: { limits: { bodyBytes: 2_000 }, cors: { origins: ['https://tables.example'] } } as never,
  })
  ada = await at.account('ada')
})
afterAll(() => at[Symbol.asyncDispose]())

const expectError = (
  response: { statusCode: number; json(): unknown },
  status: number,
  code: string,
  fields: ErrorFields = {},
) => {
  expect(response.json()).toEqual({ error: expect.stringMatching(/^[^\n]{5,}[.]$/), code, ...fields })
  expect(response.statusCode).toBe(status)
}

describe('requests that are wrong in themselves', () => {
  const post = (body: string | Buffer, headers: Record<string, string>) =>
    at.call(ada, 'POST', '/repositories', { body, headers })
  const json = { 'content-type': 'application/json' }

  it.each([
    '{',
    '{"name": "x",}',
    'name=x',
    '{"name":"x"} trailing',
    'undefined',
  ])('the body %j is 400', async (body) => {
    expectError(await post(body, json), 400, 'invalid_json')
  })

  it('a body that is not UTF-8 is 400', async () => {
    expectError(await post(Buffer.from([0x22, 0xff, 0x22]), json), 400, 'invalid_json')
  })

  it('no body at all is 400', async () => {
    expectError(await at.call(ada, 'POST', '/repositories'), 400, 'invalid_body')
    expectError(await post('', json), 400, 'invalid_body')
    expect((await post('', json)).json().error).toBe('The body must be an object; it is empty or null.')
  })

  it('names that JSON parsers treat specially are unknown fields', async () => {
    expectError(await post('{"name":"x","__proto__":{"private":true}}', json), 400, 'invalid_body')
    expectError(await post('{"name":"x","constructor":{"prototype":{}}}', json), 400, 'invalid_body')
  })

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'nonsense',
  ])('Content-Type %s is 415', async (type) => {
    expectError(await post('{"name":"x"}', { 'content-type': type }), 415, 'unsupported_media_type')
  })

  it('Content-Type may say the charset', async () => {
    expect(
      (await post('{"name":"x"}', { 'content-type': 'application/json; charset=utf-8' })).statusCode,
    ).toBe(201)
  })

  it.each([
    ['another charset', { 'content-type': 'application/json; charset=latin1' }],
    ['a coding', { ...json, 'content-encoding': 'gzip' }],
  ])('%s of JSON is 415', async (_name, headers) => {
    expectError(await post('{"name":"x"}', headers as Record<string, string>), 415, 'unsupported_media_type')
    const lost = await at.call(ada, 'POST', '/nowhere', {
      body: '{}',
      headers: headers as Record<string, string>,
    })
    expectError(lost, 404, 'unknown_path')
  })

  it('a body past the limit is 413', async () => {
    expectError(
      await post(JSON.stringify({ name: 'x', description: 'd'.repeat(3_000) }), json),
      413,
      'body_too_large',
    )
  })

  it('an unknown path is 404, a wrong method 405 with Allow', async () => {
    expectError(await at.call(ada, 'GET', '/nowhere'), 404, 'unknown_path')
    expectError(await at.call(ada, 'GET', '/repositories/1/nowhere'), 404, 'unknown_path')
    const response = await at.call(ada, 'PATCH', '/datasets/1/columns')
    expectError(response, 405, 'method_not_allowed')
    expect(response.headers['allow']).toBe('GET, HEAD, PUT')
    expect((await at.call(ada, 'DELETE', '/datasets')).headers['allow']).toBe('GET, HEAD, POST')
    for (const method of ['GET', 'POST', 'PATCH']) {
      expectError(await at.call(ada, method, '/datasets/1/data/'), 404, 'unknown_path')
    }
  })

  it('a method that nobody uses is refused, not a 500', async () => {
    for (const method of ['QUERY', 'PROPFIND', 'TRACE', 'LOCK', 'SEARCH']) {
      expectError(await at.call(ada, method, '/repositories'), 405, 'method_not_allowed')
    }
  })

  it('so it is where the body is one that no path takes', async () => {
    const send = (method: string, url: string, body?: string, type = 'text/plain') =>
      at.call(ada, method, url, body === undefined ? {} : { body, headers: { 'content-type': type } })
    for (const [body, type] of [
      ['x', 'text/plain'],
      ['{', 'application/json'],
      ['x'.repeat(5_000), 'application/json'],
    ] as const) {
      expectError(await send('POST', '/nowhere', body, type), 404, 'unknown_path')
      expectError(await send('PUT', '/account', body, type), 405, 'method_not_allowed')
    }
    expectError(await send('QUERY', '/account'), 405, 'method_not_allowed')
    expectError(await send('QUERY', '/nowhere'), 404, 'unknown_path')
  })

  it('malformed percent-encoding in the path is 400', async () => {
    expectError(await at.call(ada, 'GET', '/repositories/%zz'), 400, 'invalid_url')
  })

  it('query parameters that a path does not know are 400', async () => {
    for (const [url, option] of [
      ['/repositories?$top=1', '$top'],
      ['/repositories?page=2', 'page'],
      ['/account?x', 'x'],
      ['/user-keys?a=b', 'a'],
      ['/providers?limit=1', 'limit'],
      ['/datasets?repositoryId=1', 'repositoryId'],
    ] as const) {
      expectError(await at.call(ada, 'GET', url), 400, 'invalid_query', { option })
    }
  })
})

describe('every answer', () => {
  it('has the security headers, errors too', async () => {
    for (const response of [
      await at.call(ada, 'GET', '/repositories'),
      await at.call(undefined, 'GET', '/repositories'),
      await at.call(ada, 'GET', '/nowhere'),
      await at.call(ada, 'GET', '/%zz'),
      await at.call(undefined, 'GET', '/healthz'),
    ]) {
      expect(response.headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'cross-origin-resource-policy': 'same-origin',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      })
    }
  })

  it('the reference is a page whose one script comes from here, under a policy that allows no other', async () => {
    const response = await at.call(undefined, 'GET', '/docs')
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8')
    const policy = String(response.headers['content-security-policy'])
    const nonce = /script-src 'nonce-([^']+)';/.exec(policy)?.[1]
    expect(policy).toContain("default-src 'none'; ")
    expect(policy).toContain("connect-src 'self';")
    const scripts = [...response.body.matchAll(/<script([^>]*)>/g)].map((match) => match[1])
    expect(scripts).toEqual([
      ` src="docs/reference.js" nonce="${nonce}"`,
      ` type="text/javascript" nonce="${nonce}"`,
    ])
    expect(response.body).not.toMatch(/https?:/)
    // Browsers ask for an icon without a key.
    expect((await at.call(undefined, 'GET', '/favicon.ico')).statusCode).toBe(204)
    expect((await at.call(undefined, 'GET', '/docs')).headers['content-security-policy']).not.toBe(policy)
  })

  it('the script of the reference is compressed where that is understood, and sent once', async () => {
    const get = (headers: Record<string, string>) =>
      at.call(undefined, 'GET', '/docs/reference.js', { headers })
    const plain = await get({})
    const packed = await get({ 'accept-encoding': 'gzip' })
    expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8')
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(packed.rawPayload).equals(plain.rawPayload)).toBe(true)
    const again = await get({ 'if-none-match': String(plain.headers['etag']) })
    expect([again.statusCode, again.body]).toEqual([304, ''])
  })
})

describe('CORS', () => {
  const preflight = (origin: string, asked = 'authorization') =>
    at.app.inject({
      method: 'OPTIONS',
      url: '/datasets/1/data',
      headers: {
        origin,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': asked,
      },
    })

  it('lets configured origins in, preflight without a key', async () => {
    const response = await preflight('https://tables.example')
    expect(response.statusCode).toBe(204)
    expect(response.headers['access-control-allow-origin']).toBe('https://tables.example')
    expect(response.headers['access-control-allow-methods']).toContain('PUT')
    const answer = await at.call(ada, 'GET', '/repositories', {
      headers: { origin: 'https://tables.example' },
    })
    expect(answer.headers['access-control-expose-headers']).toContain('Row-Count')
  })

  it('lets pages send and read the headers of conditions, ranges and keys', async () => {
    const { headers } = await preflight('https://tables.example', 'x-api-key')
    const allowed = String(headers['access-control-allow-headers']).toLowerCase().split(', ')
    expect(allowed).toEqual(
      expect.arrayContaining([
        ...['x-api-key', 'idempotency-key', 'if-match', 'range', 'odata-maxversion', 'mcp-protocol-version'],
      ]),
    )
    const answer = await at.call(ada, 'GET', '/repositories', {
      headers: { origin: 'https://tables.example' },
    })
    const read = String(answer.headers['access-control-expose-headers']).split(', ')
    expect(read).toEqual(
      expect.arrayContaining(['Series-Missing', 'Next-Since', 'Content-Range', 'OData-Version']),
    )
  })

  it('lets nobody else in, and nobody where it is not configured', async () => {
    expect((await preflight('https://evil.example')).headers['access-control-allow-origin']).not.toBe(
      'https://evil.example',
    )
    await using other = await platform()
    const response = await other.call(other.root, 'GET', '/repositories', {
      headers: { origin: 'https://tables.example' },
    })
    expect(response.headers['access-control-allow-origin']).toBeUndefined()
  })

  it('does not turn unknown paths into known ones', async () => {
    expectError(await at.call(ada, 'GET', '/nowhere'), 404, 'unknown_path')
  })
})

describe('what nobody foresaw', () => {
  it('is a 500 that says nothing, with the cause in the log, blotted', async () => {
    const secret = 'SELECT * FROM /data/store/parts/1.parquet'
    const original = at.engine.repositories
    Object.defineProperty(at.engine, 'repositories', {
      configurable: true,
      value: () => {
        throw new Error(secret, { cause: new Error(`apiKey=abc123 and pq_${'a'.repeat(38)}`) })
      },
    })
    const response = await at.call(ada, 'GET', '/repositories')
    Object.defineProperty(at.engine, 'repositories', { configurable: true, value: original })
    expectError(response, 500, 'internal')
    expect(response.body).not.toContain('SELECT')
    const line = JSON.stringify(at.log.find((entry) => entry['level'] === 50))
    expect(line).toContain(secret)
    expect(line).not.toContain('abc123')
    expect(line).not.toContain('pq_aaaa')
  })
})

describe('the table of errors', () => {
  it('every error of engine, connectors and server becomes an answer with its status and code', () => {
    for (const code of Object.keys(ERRORS) as (keyof typeof ERRORS)[]) {
      const { status, body } = errorAnswer(new EngineError(code, 'A sentence.'))
      expect({ status, code: body.code }).toEqual({ status: ENGINE_STATUSES[code], code })
      expect(body.error === 'A sentence.').toBe(code !== 'internal')
    }
    for (const code of Object.keys(CONNECTOR_ERRORS) as (keyof typeof CONNECTOR_ERRORS)[]) {
      const answer = errorAnswer(new ConnectorError(code, 'A sentence.', { retryAfter: 7 }))
      expect(answer.status).toBe(CONNECTOR_STATUSES[code])
      expect(answer.headers['retry-after']).toBe('7')
    }
    for (const code of Object.keys(SERVER_ERRORS) as (keyof typeof SERVER_ERRORS)[]) {
      expect(errorAnswer(new ServerError(code, 'A sentence.')).body).toEqual({ error: 'A sentence.', code })
    }
  })

  it('every 503 says when to come back', () => {
    for (const code of ['busy', 'shutting_down'] as const) {
      expect(Number(errorAnswer(new ServerError(code, 'x')).headers['retry-after'])).toBeGreaterThan(0)
    }
    expect(errorAnswer(new EngineError('storage_full', 'x')).headers['retry-after']).toBeDefined()
    expect(errorAnswer(new ConnectorError('provider_down', 'x')).headers['retry-after']).toBeDefined()
  })
})

describe('deadlines and load', () => {
  it('a first byte that is late is 504 with advice', async () => {
    await using slow = await platform({ config: { timeouts: { firstByte: 1 } } as never })
    const rows = Array.from({ length: 60_000 }, (_, i) => `${i},${(i * 7919) % 60_000}`).join('\n')
    const { id } = await dataset(slow, slow.root, { csv: `a,b\n${rows}\n` })
    const response = await slow.call(slow.root, 'GET', `/datasets/${id}/data?$orderby=b,a desc&$format=xlsx`)
    expectError(response, 504, 'timeout')
    expect(response.json().error).toContain('Narrow the request with $top, $last, $filter or a date range')
    expect(response.headers['content-disposition']).toBeUndefined()
  })

  it('an overloaded server is 503 with Retry-After, but says that it lives', async () => {
    await using loaded = await platform({ config: { shedding: { eventLoopDelay: 0, memoryBytes: 1 } } })
    const ask = () => loaded.call(loaded.root, 'GET', '/repositories')
    // The load is measured from time to time.
    await expect.poll(async () => (await ask()).statusCode).toBe(503)
    const response = await ask()
    expectError(response, 503, 'busy')
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
    expect((await loaded.call(undefined, 'GET', '/healthz')).statusCode).toBe(200)
    expect((await loaded.call(loaded.root, 'GET', '/metrics')).statusCode).toBe(200)
  })
})

it('is a part of another application, under a prefix', async () => {
  const host = Fastify()
  await host.register(auth)
  await host.register(underPressure)
  host.get('/', async () => 'the host')
  await host.register(parquetry(at.services), { prefix: '/tables' })
  const authorization = basic(ada)
  const get = (url: string, headers = {}) => host.inject({ url, headers })
  expect((await get('/')).body).toBe('the host')
  expect((await get('/tables/repositories')).statusCode).toBe(401)
  expect((await get('/tables/account', { authorization })).json().name).toBe('ada')
  expect((await get('/tables/nowhere', { authorization })).json().code).toBe('unknown_path')
  const made = await host.inject({
    method: 'POST',
    url: '/tables/repositories',
    headers: { authorization, 'content-type': 'application/json' },
    payload: '{"name":"x"}',
  })
  expect(made.headers.location).toBe(`/tables/repositories/${made.json().id}`)
  // The host would have turned "1" into 1.
  const coerced = await host.inject({
    method: 'POST',
    url: '/tables/datasets',
    headers: { authorization, 'content-type': 'application/json' },
    payload: `{"name":"x","repositoryId":"${made.json().id}"}`,
  })
  expect(coerced.json().code).toBe('invalid_body')
  const document = (await get('/tables/openapi.json')).json()
  expect(document.servers).toEqual([{ url: '/tables' }])
  expect(Object.keys(document.paths)).toContain('/datasets/{id}/data')
  await host.close()
})

it('the password of an address is not logged', () => {
  const cause = new Error('connect to postgres://ada:se%21cret@db.example:5432/catalog failed')
  at.app.log.warn(
    { err: new Error('no answer of http://trino:pass-word@t.example:8080/x@y', { cause }) },
    'm',
  )
  const line = JSON.stringify(at.log.at(-1))
  expect(line).toContain('postgres://ada:…@db.example:5432/catalog')
  expect(line).toContain('http://trino:…@t.example:8080/x@y')
  expect(line).not.toMatch(/cret|pass-word/)
})

it.each(['/healthz', '/datasets', '/nowhere'])('%s names its line in the log', async (path) => {
  const before = at.log.length
  const { headers } = await at.call(at.root, 'GET', path)
  expect(at.log.slice(before).find((line) => line['msg'] === 'request')).toHaveProperty(
    'id',
    headers['x-request-id'],
  )
})
