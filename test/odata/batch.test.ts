import { afterAll, describe, expect, test } from 'vitest'
import { basic, dataset } from '../server/platform.ts'
import { CSV, openFeed } from './feed.ts'

const feed = await openFeed()
const { at, key, root } = feed
afterAll(() => feed[Symbol.asyncDispose]())

describe('a batch', () => {
  const batch = (requests: unknown) => at.call(key, 'POST', `${root}/$batch`, { json: { requests } })

  test('answers each request as if it had come alone', async () => {
    const response = await batch([
      {
        id: '1',
        method: 'GET',
        url: 'my_table?$select=Row&$top=1',
        headers: { Accept: 'application/json;odata.metadata=none' },
      },
      { id: '2', method: 'get', url: `${root}/my_table/$count` },
      { id: '3', method: 'GET', url: `http://elsewhere.example${root}/my_table(2)/Row_1` },
      {
        id: '4',
        method: 'POST',
        url: 'my_table/$query',
        headers: { 'content-type': 'text/plain' },
        body: '$filter=Row eq 3&$select=Row',
      },
    ])
    const answers = response.json().responses
    expect(answers.map((one: { id: string; status: number }) => [one.id, one.status])).toEqual([
      ['1', 200],
      ['2', 200],
      ['3', 200],
      ['4', 200],
    ])
    expect(answers[0].body).toEqual({ value: [{ Row: 1 }] })
    expect(answers[1].body).toBe('3')
    expect(answers[2].body.value).toBe('b')
    expect(answers[3].body.value).toEqual([{ Row: 3 }])
  })

  test('goes on after a refusal, but not with what depends on it', async () => {
    const response = await batch([
      { id: 'w', method: 'DELETE', url: 'my_table(1)' },
      { id: 'd', method: 'GET', url: 'my_table', dependsOn: ['w'] },
      { id: 'x', method: 'GET', url: '/datasets' },
      { id: 'b', method: 'GET', url: '$batch' },
      { id: 'u', method: 'GET', url: '../../account' },
      { id: 'n', method: 'GET', url: 'my_table/$count', headers: { authorization: 'Basic bm86bm8=' } },
    ])
    expect(response.json().responses.map((one: { status: number }) => one.status)).toEqual([
      405, 424, 400, 400, 400, 200,
    ])
  })

  test('reads from its own service alone, however a request is written', async () => {
    const [, , repository] = root.split('/')
    const { id } = await dataset(at, key, { name: 'kept', csv: CSV })
    const response = await batch([
      { id: '1', method: 'GET', url: '%2e%2e/%2e%2e/%2e%2e/account' },
      { id: '2', method: 'DELETE', url: `%2E%2E/%2E%2E/%2E%2E/datasets/${id}?apiKey=/$query` },
      { id: '3', method: 'DELETE', url: `${root}/%2e%2e/../${repository}?apiKey=/$query` },
      { id: '4', method: 'POST', url: '%24batch?apiKey=/$query' },
      { id: '5', method: 'DELETE', url: 'my_table(1)?apiKey=/$query' },
    ])
    expect(response.json().responses.map((one: { status: number }) => one.status)).toEqual([
      400, 400, 400, 400, 405,
    ])
    expect((await at.call(key, 'GET', `/datasets/${id}`, {})).statusCode).toBe(200)
  })

  test('answers with its own key alone, however that was sent', async () => {
    const other = await at.account('bob')
    await dataset(at, other, { name: 'hidden', csv: CSV, private: true })
    const requests = ['authorization', 'Authorization', 'X-API-Key'].map((name) => ({
      id: name,
      method: 'GET',
      url: '/odata/hidden_hidden/$count',
      headers: { [name]: name === 'X-API-Key' ? other : basic(other) },
    }))
    const answers = async (headers: Record<string, string>) => {
      const whole = { 'content-type': 'application/json', ...headers }
      const body = JSON.stringify({ requests })
      const response = await at.call(undefined, 'POST', '/odata/$batch', { headers: whole, body })
      return response.json().responses.map((one: { status: number }) => one.status)
    }
    expect(await answers({ 'x-api-key': key })).toEqual([404, 404, 404])
    expect(await answers({ authorization: basic(key) })).toEqual([404, 404, 404])
    expect(await answers({ 'x-api-key': other })).toEqual([200, 200, 200])
  })

  test('says the version of each answer, refused or not, as the request or else the batch wants it', async () => {
    const response = await at.call(key, 'POST', `${root}/$batch`, {
      headers: { 'odata-maxversion': '4.0' },
      json: {
        requests: [
          { id: '1', method: 'GET', url: 'my_table/$count' },
          { id: '2', method: 'GET', url: 'nothing' },
          { id: '3', method: 'DELETE', url: 'my_table(1)' },
          { id: '4', method: 'GET', url: 'my_table', dependsOn: ['3'] },
          { id: '5', method: 'GET', url: '/datasets', headers: { 'OData-MaxVersion': '4.01' } },
          { id: '6', method: 'GET', url: '$batch', headers: { 'OData-MaxVersion': '3.0' } },
        ],
      },
    })
    const answers: { status: number; headers: Record<string, string> }[] = response.json().responses
    expect(answers.map(({ status, headers }) => [status, headers['odata-version']])).toEqual([
      [200, '4.0'],
      [404, '4.0'],
      [405, '4.0'],
      [424, '4.0'],
      [400, '4.01'],
      [400, '4.01'],
    ])
  })

  test('keeps all digits of large numbers', async () => {
    const made = await dataset(at, key, { name: 'large', csv: 'n\n9007199254740993\n' })
    const response = await at.call(key, 'POST', `/repositories/${made.repository}/odata/$batch`, {
      json: { requests: [{ id: '1', method: 'GET', url: 'large' }] },
    })
    expect(response.body).toContain('"n":9007199254740993')
  })

  test.each([
    [{}, 'A batch is'],
    [{ requests: [{ id: '1', method: 'GET' }] }, 'needs a url'],
    [
      {
        requests: [
          { id: '1', method: 'GET', url: 'a' },
          { id: '1', method: 'GET', url: 'a' },
        ],
      },
      'Two requests',
    ],
    [{ requests: [{ id: '1', method: 'GET', url: 'a', dependsOn: ['2'] }] }, 'not before it'],
    [
      { requests: Array.from({ length: 101 }, (_, i) => ({ id: `${i}`, method: 'GET', url: 'a' })) },
      'at most 100',
    ],
  ])('%j is malformed', async (json, message) => {
    const response = await at.call(key, 'POST', `${root}/$batch`, { json })
    expect(response.statusCode).toBe(400)
    expect(response.json().error.message).toContain(message)
  })
})

test('the metadata announces both formats of a batch', async () => {
  const metadata = (await at.call(key, 'GET', `${root}/$metadata?$format=json`)).json()
  expect(metadata.Parquetry.Container['@Org.OData.Capabilities.V1.BatchSupport']).toEqual({
    Supported: true,
    SupportedFormats: ['application/json', 'multipart/mixed'],
  })
})

describe('a batch in multipart format', () => {
  const part = (request: string, id?: string) =>
    [
      '--b_1',
      'Content-Type: application/http',
      'Content-Transfer-Encoding: binary',
      ...(id === undefined ? [] : [`Content-ID: ${id}`]),
      '',
      request,
      '',
    ].join('\r\n')
  const send = (parts: readonly string[], headers: Record<string, string> = {}, type = 'boundary=b_1') =>
    at.call(key, 'POST', `${root}/$batch`, {
      headers: { 'content-type': `multipart/mixed; ${type}`, ...headers },
      body: `${parts.join('')}--b_1--\r\n`,
    })
  const statuses = (body: string) =>
    [...body.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status))

  test('answers reads in their order, with the ids that they had', async () => {
    const response = await send([
      part(
        'GET my_table?$select=Row&$top=1 HTTP/1.1\r\nAccept: application/json;odata.metadata=none\r\n',
        '1',
      ),
      part(`GET ${root}/my_table/$count HTTP/1.1\r\nHost: localhost\r\n`),
      part('GET http://elsewhere.example' + `${root}/my_table(2)/Row_1 HTTP/1.1\r\n`),
    ])
    expect(response.statusCode).toBe(200)
    const boundary = /^multipart\/mixed; boundary=(\S+)$/.exec(String(response.headers['content-type']))![1]!
    expect(response.body.trimEnd().endsWith(`--${boundary}--`)).toBe(true)
    const parts = response.body.split(`--${boundary}`).slice(1, -1)
    expect(parts).toHaveLength(3)
    expect(statuses(response.body)).toEqual([200, 200, 200])
    expect(parts[0]).toContain('Content-ID: 1\r\n')
    const bodies = parts.map((text) => text.trimEnd().split('\r\n\r\n')[2]!)
    expect(JSON.parse(bodies[0]!)).toEqual({ value: [{ Row: 1 }] })
    expect(bodies[1]).toBe('3')
    expect(JSON.parse(bodies[2]!).value).toBe('b')
  })

  test('refuses a change set, and ends there unless the client prefers to go on', async () => {
    const change = [
      '--b_1\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n',
      '--c\r\nContent-Type: application/http\r\nContent-ID: 1\r\n\r\n',
      'DELETE my_table(1) HTTP/1.1\r\n\r\n\r\n--c--\r\n',
    ].join('')
    const count = part('GET my_table/$count HTTP/1.1\r\n')
    expect(statuses((await send([count, change, count])).body)).toEqual([200, 405])
    const goesOn = await send([change, count], { prefer: 'odata.continue-on-error' })
    expect(statuses(goesOn.body)).toEqual([405, 200])
  })

  test('that is malformed is refused', async () => {
    expect((await send([], {}, 'boundary=other')).json().error.message).toContain(
      'does not end with its boundary',
    )
    expect((await send([part('my_table')])).json().error.message).toContain('must begin with a request line')
    expect((await send([part('GET a HTTP/1.1')], {}, 'charset=utf-8')).statusCode).toBe(415)
    const many = Array.from({ length: 101 }, () => part('GET my_table HTTP/1.1'))
    expect((await send(many)).json().error.message).toContain('at most 100')
  })
})
