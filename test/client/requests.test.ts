import { afterEach, beforeEach, expect, test } from 'vitest'
import { Client, ParquetryError } from '../../server/client/index.ts'
import { startUpstream, type Upstream } from '../connectors/support/upstream.ts'

let server: Upstream
let client: Client

beforeEach(async () => {
  server = await startUpstream({ '*': { body: {} } })
  client = new Client({ url: `${server.url}/base`, key: 'secret', retry: { attempts: 1 } })
})
afterEach(() => server.close())

const last = () => server.requests.at(-1)!

test('every call goes to its route, below the address that was given', async () => {
  const { repositories, datasets, providers, userKeys, account } = client
  const calls: [() => Promise<unknown>, string][] = [
    [() => repositories.list(), 'GET /base/repositories'],
    [() => repositories.get(1), 'GET /base/repositories/1'],
    [() => repositories.create({ name: 'r' }), 'POST /base/repositories'],
    [() => repositories.update(1, { private: true }), 'PUT /base/repositories/1'],
    [() => repositories.delete(1), 'DELETE /base/repositories/1'],
    [() => repositories.members(1), 'GET /base/repositories/1/members'],
    [() => repositories.setMember(1, 'a b', 'Read'), 'PUT /base/repositories/1/members/a%20b'],
    [() => repositories.removeMember(1, 'ann'), 'DELETE /base/repositories/1/members/ann'],
    [() => datasets.list(), 'GET /base/datasets'],
    [() => datasets.get(2), 'GET /base/datasets/2'],
    [() => datasets.create({ name: 'd', repositoryId: 1 }), 'POST /base/datasets'],
    [() => datasets.update(2, { name: 'e' }), 'PUT /base/datasets/2'],
    [() => datasets.delete(2), 'DELETE /base/datasets/2'],
    [() => datasets.source(2), 'GET /base/datasets/2/source'],
    [() => datasets.follow(2, { series: ['fred/GDP'] }), 'PUT /base/datasets/2/source'],
    [() => datasets.unfollow(2), 'DELETE /base/datasets/2/source'],
    [() => datasets.columns(2), 'GET /base/datasets/2/columns'],
    [() => datasets.declareColumns(2, []), 'PUT /base/datasets/2/columns'],
    [() => datasets.replace(2, { rows: [] }), 'PUT /base/datasets/2/data'],
    [() => datasets.append(2, { rows: [] }), 'POST /base/datasets/2/data'],
    [() => datasets.download(2, 'csv'), 'GET /base/datasets/2/data?$format=csv'],
    [
      () => datasets.revisions(2, 'csv', { series: ['oecd/A,B/C', 'fred/GDP'], top: 5 }),
      'GET /base/datasets/2/revisions?$format=csv&series=oecd%2FA%252CB%2FC%2Cfred%2FGDP&$top=5',
    ],
    [
      () => providers.releases('bea', { from: '2026-08-01', series: 'NIPA/T10101/A191RL/Q' }),
      'GET /base/providers/bea/releases?from=2026-08-01&series=NIPA%2FT10101%2FA191RL%2FQ',
    ],
    [() => providers.list(), 'GET /base/providers'],
    [() => providers.get('ECB'), 'GET /base/providers/ECB'],
    [() => providers.browse('ecb'), 'GET /base/providers/ecb/browse'],
    [() => providers.browse('ecb', 'a/b'), 'GET /base/providers/ecb/browse?path=a%2Fb'],
    [
      () => providers.seriesPage('ecb', 'a', { limit: 5, offset: 10 }),
      'GET /base/providers/ecb/browse?path=a&series=true&limit=5&offset=10',
    ],
    [
      () => providers.series('ecb', 'EXR/D.USD', { start: '2024-01-01' }),
      'GET /base/providers/ecb/series/EXR/D.USD?start=2024-01-01',
    ],
    [
      () => providers.download('ecb', 'a/b', 'csv', { top: 1 }),
      'GET /base/providers/ecb/series/a/b?$format=csv&$top=1',
    ],
    [
      () => providers.series('fred', 'GDP', { asOf: '2020-03-01', transform: 'yoy' }),
      'GET /base/providers/fred/series/GDP?transform=yoy&asOf=2020-03-01',
    ],
    [
      () => providers.table(['fred/GDP', 'oecd/A,B/C'], { shape: 'wide', frequency: 'annual' }),
      'GET /base/series?ids=fred%2FGDP%2Coecd%2FA%252CB%2FC&shape=wide&frequency=annual&$format=json&envelope=true',
    ],
    [
      () =>
        providers.downloadTable(['M.USD'], 'csv', { provider: 'ecb', start: '2024-01-01', delimiter: ';' }),
      'GET /base/providers/ecb/series?ids=M.USD&start=2024-01-01&$delimiter=%3B&$format=csv',
    ],
    [() => userKeys.list(), 'GET /base/user-keys'],
    [() => userKeys.save('fred', 'k'), 'PUT /base/user-keys/fred'],
    [() => userKeys.delete('fred'), 'DELETE /base/user-keys/fred'],
    [() => account.get(), 'GET /base/account'],
    [() => account.rotateKey(), 'POST /base/account/api-key'],
  ]
  for (const [call, expected] of calls) {
    await call()
    expect(`${last().method} ${last().url}`).toBe(expected)
  }
})

test('the key is the user name of Basic authentication and stays out of the address', async () => {
  await client.account.get()
  expect(last().headers.authorization).toBe(`Basic ${btoa('secret:')}`)
  expect(last().url).not.toContain('secret')
})

test('a new key is used from then on', async () => {
  server.routes = { '*': { body: { apiKey: 'new' } } }
  await client.account.rotateKey()
  await client.account.get()
  expect(last().headers.authorization).toBe(`Basic ${btoa('new:')}`)
})

test('questions reach the server as they were asked', async () => {
  await client.datasets.download(1, 'json', {
    filter: "city eq 'São Paulo' and a+b gt 1",
    select: ['plain', 'Unit price', 'say "x", y'],
    orderBy: [{ column: 'plain', descending: true }, { column: 'Unit price' }],
    skip: 3,
    top: 0,
  })
  expect(Object.fromEntries(last().query)).toEqual({
    $format: 'json',
    $filter: "city eq 'São Paulo' and a+b gt 1",
    $select: 'plain,"Unit price","say ""x"", y"',
    $orderby: 'plain desc,"Unit price"',
    $skip: '3',
    $top: '0',
  })
})

test('a part of an address can not climb out of its place', async () => {
  await expect(client.providers.series('ecb', '../../account')).rejects.toThrow(TypeError)
  await expect(client.providers.get('..')).rejects.toThrow(TypeError)
  expect(server.requests).toEqual([])
})

test('uploads of every form arrive with their type', async () => {
  const bytes = new TextEncoder().encode('a\n1\n')
  async function* chunks() {
    yield bytes.subarray(0, 2)
    yield bytes.subarray(2)
  }
  for (const body of ['a\n1\n', bytes, bytes.buffer, new Blob([bytes]), chunks()]) {
    await client.datasets.append(1, { format: 'csv', body })
    expect(last()).toMatchObject({ body: 'a\n1\n', headers: { 'content-type': 'text/csv' } })
  }
  await client.datasets.replace(1, { format: 'ndjson', body: 'packed', gzip: true })
  expect(last().headers).toMatchObject({
    'content-type': 'application/x-ndjson',
    'content-encoding': 'gzip',
  })
  await client.datasets.replace(1, { rows: [[1], { a: 2 }], columns: [{ name: 'a', type: 'integer' }] })
  expect(last().headers['content-type']).toBe('application/json')
  expect(JSON.parse(last().body)).toEqual({
    rows: [[1], { a: 2 }],
    columns: [{ name: 'a', type: 'integer' }],
  })
})

test('errors carry status, code, sentence and when to come back', async () => {
  server.routes = {
    '*': {
      status: 429,
      headers: { 'retry-after': '90' },
      body: { error: 'BLS: spent.', code: 'provider_limit' },
    },
  }
  const error = await client.providers.get('bls').catch((caught) => caught)
  expect(error).toBeInstanceOf(ParquetryError)
  expect(error).toMatchObject({
    status: 429,
    code: 'provider_limit',
    message: 'BLS: spent.',
    retryAfter: 90,
  })
})

test.each([
  [
    { status: 401, body: 'No such key.' },
    { code: 'http_401', message: 'No such key.' },
  ],
  [
    { status: 502, type: 'text/html', body: '<h1>!</h1>' },
    { code: 'http_502', message: 'The server answered 502 Bad Gateway.' },
  ],
  [{ status: 500 }, { code: 'http_500', message: 'The server answered 500 Internal Server Error.' }],
  [{ status: 302, headers: { location: '/elsewhere' } }, { code: 'http_302' }],
])('an answer without our body is an error of its status: %j', async (reply, expected) => {
  server.routes = { '*': reply }
  await expect(client.account.get()).rejects.toMatchObject({ ...expected, status: reply.status })
  expect(server.requests).toHaveLength(1)
})

test('a dataset that follows no series has no source', async () => {
  server.routes = { '*': { status: 404, body: { error: 'No.', code: 'not_followed' } } }
  expect(await client.datasets.source(2)).toBeUndefined()
  server.routes = { '*': { status: 404, body: { error: 'No.', code: 'not_found' } } }
  await expect(client.datasets.source(2)).rejects.toMatchObject({ code: 'not_found' })
})

test('something else than JSON is not understood', async () => {
  server.routes = { '*': { body: '<html>' } }
  await expect(client.account.get()).rejects.toMatchObject({ code: 'not_understood', status: 0 })
})

test('a server that is not there is unreachable', async () => {
  await server.close()
  await expect(client.account.get()).rejects.toMatchObject({ code: 'unreachable', status: 0 })
})

test('all series are read page by page', async () => {
  const names = Array.from({ length: 1500 }, (_, index) => ({ series_id: `s${index}` }))
  server.routes = {
    '*': ({ query }) => {
      const [offset, limit] = [Number(query.get('offset')), Number(query.get('limit'))]
      return { body: { series: names.slice(offset, offset + limit) } }
    },
  }
  const seen: string[] = []
  for await (const { series_id } of client.providers.allSeries('ecb', 'EXR')) seen.push(series_id)
  expect(seen).toEqual(names.map((one) => one.series_id))
  expect(server.requests).toHaveLength(2)
})

test('a key with letters outside of ASCII is sent in UTF-8, as the server reads it', async () => {
  const key = 'ein Schlüssel für 5 €'
  await new Client({ url: server.url, key }).repositories.list()
  const [, sent = ''] = String(last().headers['authorization']).split(' ')
  expect(Buffer.from(sent, 'base64').toString('utf8')).toBe(`${key}:`)
})

test('options that do not exist are refused, and nothing is sent', async () => {
  const { datasets, providers, repositories } = client
  // What a program in JavaScript may pass, or one in TypeScript from a variable.
  const given = (options: object) => options as never
  const calls: [() => Promise<unknown>, string][] = [
    [() => datasets.download(1, 'csv', given({ fitler: 'a eq 1' })), 'fitler'],
    [() => datasets.rows(1, given({ limit: 5 })).next(), 'limit'],
    [() => datasets.link(1, 'csv', given({ ifNoneMatch: '"1"' })), 'ifNoneMatch'],
    [() => datasets.download(1, 'csv', { orderBy: [given({ column: 'a', desc: true })] }), 'desc'],
    [() => datasets.count(1, given({ search: 'x' })), 'search'],
    [() => datasets.append(1, given({ format: 'csv', body: 'a\n1\n', delimiter: ';' })), 'delimiter'],
    [() => datasets.replace(1, given({ format: 'xml', body: '' })), 'xml'],
    [() => datasets.list(given({ colums: true })), 'colums'],
    [() => repositories.list(given({ singal: AbortSignal.timeout(1) })), 'singal'],
    [() => providers.series('ecb', 'a', given({ from: '2024-01-01' })), 'from'],
    [() => providers.table(['ecb/a'], given({ asof: '2024-01-01' })), 'asof'],
    [() => providers.downloadTable(['ecb/a'], 'csv', given({ form: 'wide' })), 'form'],
    [() => providers.download('ecb', 'a', 'csv', given({ shape: 'wide' })), 'shape'],
  ]
  for (const [call, name] of calls) {
    const message = expect.stringContaining(`"${name}"`)
    await expect(call()).rejects.toMatchObject({ code: 'invalid_option', status: 0, message })
  }
  expect(() => new Client(given({ url: server.url, apiKey: 'secret' }))).toThrow('"apiKey"')
  expect(() => new Client({ url: server.url, retry: given({ retries: 2 }) })).toThrow('"retries"')
  expect(server.requests).toEqual([])
})
