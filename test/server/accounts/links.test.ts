import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { LINK_SECONDS } from '../../../server/accounts/links.ts'
import { HTTPFS_FILE, httpfsFolder } from '../../cluster/tools.ts'
import { dataset, type Platform, platform } from '../platform.ts'

let at: Platform
let ada: string
let id: number
let time = Date.parse('2026-11-21T12:00:00Z')

beforeAll(async () => {
  at = await platform({ now: () => new Date(time) })
  ada = await at.account('ada')
  id = (await dataset(at, ada, { csv: 'a\n1\n2\n3\n' })).id
})
afterAll(() => at[Symbol.asyncDispose]())

async function linkTo(path: string, key = ada): Promise<string> {
  const made = await at.call(key, 'POST', '/links', { json: { path } })
  expect(made.statusCode).toBe(201)
  expect(made.headers.location).toBe(made.json().url)
  return made.json().url
}

test('a link opens one export without a key', async () => {
  const url = await linkTo(`/datasets/${id}/data?$filter=a%20gt%201`)
  const answer = await at.call(undefined, 'GET', url)
  expect(answer).toMatchObject({ statusCode: 200, body: 'a\n2\n3\n' })
  expect((await at.call(undefined, 'HEAD', url)).statusCode).toBe(200)
  expect((await at.call(undefined, 'GET', await linkTo(`/datasets/${id}/data`))).body).toBe('a\n1\n2\n3\n')
})

test('a link of a path with names stays with the dataset when it gets another name', async () => {
  const { id } = await dataset(at, ada, { name: 'named 1/2', csv: 'a\n1\n' })
  const path = `/d/${encodeURIComponent('named 1/2')}/${encodeURIComponent('named 1/2')}`
  const url = await linkTo(`${path}/data?$top=1`)
  await at.call(ada, 'PATCH', `/datasets/${id}`, { json: { name: 'renamed' } })
  expect(await at.call(undefined, 'GET', url)).toMatchObject({ statusCode: 200, body: 'a\n1\n' })
  for (const wrong of [`${path}/data`, '/d/nobody/nothing/data']) {
    expect((await at.call(ada, 'POST', '/links', { json: { path: wrong } })).statusCode).toBe(404)
  }
  const json = { path: `/d/${encodeURIComponent('named 1/2')}/renamed` }
  expect((await at.call(ada, 'POST', '/links', { json })).statusCode).toBe(400)
  const unprintable = { path: `/datasets/${id}/data`, name: 'a\u0000b' }
  expect((await at.call(ada, 'POST', '/links', { json: unprintable })).json().error).toMatch(/name/)
})

test('a link to all rows in one format has an address that ends in the name of a file', async () => {
  const make = async (path: string) => (await at.call(ada, 'POST', '/links', { json: { path } })).json()
  const { id: named } = await dataset(at, ada, { name: 'files', csv: 'a\n1\n2\n' })
  const { fileUrl, url, path } = await make('/d/files/files.csv')
  expect(path).toBe(`/datasets/${named}/data?$format=csv`)
  expect(fileUrl).toMatch(new RegExp(`^/d/ticket=[\\w.-]+/${named}/data\\.csv$`))
  const answers = await Promise.all([fileUrl, url].map((one) => at.call(undefined, 'GET', one)))
  expect(answers.map(({ body }) => body)).toEqual(['a\n1\n2\n', 'a\n1\n2\n'])
  expect((await at.call(undefined, 'HEAD', fileUrl)).statusCode).toBe(200)
  expect((await at.call(ada, 'GET', '/links')).json()[0]).toMatchObject({ fileUrl })
  expect(await make('/d/files/files.csv?$top=1')).not.toHaveProperty('fileUrl')
  expect(await make(`/datasets/${named}/data`)).not.toHaveProperty('fileUrl')
  const arrow = await at.call(undefined, 'GET', (await make('/d/files/files.arrow-file')).fileUrl)
  expect([arrow.statusCode, arrow.body.slice(0, 6)]).toEqual([200, 'ARROW1'])
})

const httpfs = httpfsFolder()
test.runIf(httpfs)(
  'DuckDB reads a private dataset by an address that ends in the name of a file',
  async () => {
    await using other = await platform()
    const owner = await other.account('owner')
    const { id: hidden } = await dataset(other, owner, { private: true, csv: 'a,b\n1,x\n2,\n' })
    const address = await other.listen()
    const instance = await DuckDBInstance.create(':memory:')
    const connection = await instance.connect()
    await connection.run(`LOAD '${join(httpfs!, HTTPFS_FILE)}'`)
    for (const format of ['parquet', 'csv', 'json', 'ndjson']) {
      const json = { path: `/datasets/${hidden}/data?$format=${format}` }
      const { fileUrl } = (await other.call(owner, 'POST', '/links', { json })).json()
      const rows = await connection.runAndReadAll(
        `SELECT a::INTEGER, b FROM '${address}${fileUrl}' ORDER BY a`,
      )
      expect(rows.getRowsJson(), format).toEqual([
        [1, 'x'],
        [2, null],
      ])
    }
    connection.closeSync()
    instance.closeSync()
  },
)

test('an address that ends in the name of a file is as narrow as its link', async () => {
  const json = { path: `/datasets/${id}/data?$format=csv` }
  const { id: link, fileUrl } = (await at.call(ada, 'POST', '/links', { json })).json()
  const status = async (method: string, url: string) => (await at.call(undefined, method, url)).statusCode
  for (const changed of [
    fileUrl.replace('.csv', '.json'),
    fileUrl.replace(`/${id}/`, `/${id + 1}/`),
    `${fileUrl}?$top=1`,
    fileUrl.replace('ticket=', 'ticket=1'),
    fileUrl.replace('data.csv', 'data'),
  ]) {
    expect(await status('GET', changed), changed).toBe(401)
  }
  expect(await status('PUT', fileUrl)).toBe(401)
  expect((await at.call(undefined, 'GET', `${fileUrl}?apiKey=other`)).body).toBe('a\n1\n2\n3\n')
  await at.call(ada, 'DELETE', `/links/${link}`)
  expect(await status('GET', fileUrl)).toBe(401)
})

test.each([
  ['/data?$filter=b%20gt%201', 400, 'invalid_columns'],
  ['/data?$filter=a%20gt', 400, 'invalid_filter'],
  ['/data?$format=pdf', 400, 'invalid_query'],
  ['/data?toop=3', 400, 'invalid_query'],
  ['/data?$format=csv&$sheet=x', 400, 'invalid_query'],
  ['9999/data', 404, 'not_found'],
])('no link is made that could only fail: %s', async (rest, statusCode, code) => {
  const path = `/datasets/${id}${rest}`
  const refused = await at.call(ada, 'POST', '/links', { json: { path } })
  expect({ statusCode: refused.statusCode, ...refused.json() }).toEqual({
    ...(await at.call(ada, 'GET', path)).json(),
    statusCode,
    code,
  })
})

test('links lead to datasets without rows, and to saved queries', async () => {
  const { id: repositoryId } = (
    await at.call(ada, 'POST', '/repositories', { json: { name: 'empty' } })
  ).json()
  for (const query of [undefined, { sql: 'SELECT 1 AS one' }]) {
    const json = { repositoryId, name: query ? 'saved' : 'empty', ...(query && { query }) }
    const made = (await at.call(ada, 'POST', '/datasets', { json })).json()
    const url = await linkTo(`/datasets/${made.id}/data`)
    expect((await at.call(undefined, 'GET', url)).statusCode).toBe(200)
  }
})

test('a link opens however a mail program has percent-encoded it', async () => {
  const url = await linkTo(`/datasets/${id}/data?$top=2&$filter=a%20gt%201`)
  for (const [from, to] of [
    ['$', '%24'],
    ['%20', '+'],
    ['/data', '/%64ata'],
  ] as const) {
    const answer = await at.call(undefined, 'GET', url.replaceAll(from, to))
    expect(answer).toMatchObject({ statusCode: 200, body: 'a\n2\n3\n' })
  }
  expect((await at.call(undefined, 'GET', url.replace('%201', '%200'))).statusCode).toBe(401)
})

test('a link works with an API key next to its ticket, as clients add one to all addresses', async () => {
  const url = await linkTo(`/datasets/${id}/data?$top=1`)
  const [path, ticket] = url.split('&ticket=') as [string, string]
  for (const [name, from] of [
    ['after it', `${url}&apiKey=${ada}`],
    ['before it', `${path}&apiKey=${ada}&ticket=${ticket}`],
    ['first', url.replace('?', `?apikey=${ada}&`)],
  ] as const) {
    expect(await at.call(undefined, 'GET', from), name).toMatchObject({ statusCode: 200 })
  }
  expect((await at.call(undefined, 'GET', `${url}&apiKey=${ada}&$top=2`)).statusCode).toBe(400)
})

test('a changed link, or one of another method, is refused', async () => {
  const url = await linkTo(`/datasets/${id}/data?$top=1`)
  for (const changed of [
    url.replace('$top=1', '$top=2'),
    url.replace(/ticket=\d+/, 'ticket=1'),
    `${url.slice(0, -1)}${url.endsWith('A') ? 'B' : 'A'}`,
    url.replace('/data?', '?'),
    `${url}&$skip=1`,
  ]) {
    expect((await at.call(undefined, 'GET', changed)).statusCode, changed).toBe(401)
  }
  expect((await at.call(undefined, 'DELETE', url)).statusCode).toBe(401)
})

test('a link ends after its time', async () => {
  const url = await linkTo(`/datasets/${id}/data`)
  time += (LINK_SECONDS + 1) * 1000
  const late = await at.call(undefined, 'GET', url)
  // A browser would ask for a password.
  expect([late.statusCode, late.headers['www-authenticate']]).toEqual([401, undefined])
  expect(late.json()).toEqual({
    error: expect.stringMatching(/^This link has expired/),
    code: 'unauthorized',
  })
})

test('a link lives as long as was asked, is listed with its last use, and ends when it is deleted', async () => {
  const json = { path: `/datasets/${id}/data`, name: 'for the board', expiresIn: 86_400 }
  const made = (await at.call(ada, 'POST', '/links', { json })).json()
  const expiresAt = new Date(time + 86_400_000).toISOString()
  expect(made).toMatchObject({ path: json.path, name: json.name, expiresAt, lastUsedAt: null })
  time += 80_000_000
  expect((await at.call(undefined, 'GET', made.url)).statusCode).toBe(200)
  const listed = async (key = ada) => (await at.call(key, 'GET', '/links')).json()
  await vi.waitFor(async () =>
    expect(await listed()).toEqual([{ ...made, lastUsedAt: new Date(time).toISOString() }]),
  )
  const eve = await at.account('nosy')
  expect(await listed(eve)).toEqual([])
  expect((await at.call(eve, 'DELETE', `/links/${made.id}`)).statusCode).toBe(404)
  expect((await at.call(ada, 'DELETE', `/links/${made.id}`)).statusCode).toBe(204)
  expect((await at.call(undefined, 'GET', made.url)).statusCode).toBe(401)
  expect(await listed()).toEqual([])
  for (const expiresIn of [0, -1, 1.5, 40_000_000, 'a day']) {
    const answer = await at.call(ada, 'POST', '/links', { json: { ...json, expiresIn } })
    expect(answer, String(expiresIn)).toMatchObject({ statusCode: 400 })
  }
})

test('neither its time nor its number can be changed', async () => {
  const make = async (expiresIn: number) =>
    (await at.call(ada, 'POST', '/links', { json: { path: `/datasets/${id}/data`, expiresIn } })).json()
  const made = await make(100)
  const other = await make(100_000)
  const [, head, account, key, ends, linkId, signature] = /^(.*=)(\d+)\.(\d+)\.(\d+)\.(\d+)\.(.*)$/.exec(
    made.url,
  )!
  const status = async (...ticket: unknown[]) =>
    (await at.call(undefined, 'GET', `${head}${[account, key, ...ticket, signature].join('.')}`)).statusCode
  expect(await status(ends, linkId)).toBe(200)
  expect(await status(Number(ends) + 1_000, linkId)).toBe(401)
  expect(await status(ends, other.id)).toBe(401)
  expect(await status(ends, 0)).toBe(401)
  await at.call(ada, 'DELETE', `/links/${other.id}`)
})

test('a replaced key takes its links out of the list, too', async () => {
  const key = await at.account('bea')
  const json = { path: `/datasets/${id}/data`, expiresIn: 1_000 }
  expect((await at.call(key, 'POST', '/links', { json })).statusCode).toBe(201)
  expect((await at.call(key, 'GET', '/links')).json()).toHaveLength(1)
  const fresh = (await at.call(key, 'POST', '/account/api-key')).json().apiKey
  expect((await at.call(fresh, 'GET', '/links')).json()).toEqual([])
})

test('a link ends with the key of its account', async () => {
  const url = await linkTo(`/datasets/${id}/data`)
  ada = (await at.call(ada, 'POST', '/account/api-key')).json().apiKey
  expect((await at.call(undefined, 'GET', url)).statusCode).toBe(401)
})

test('a link ends with the named key that made it', async () => {
  const named = async (json: object) => (await at.call(ada, 'POST', '/account/keys', { json })).json().apiKey
  const deleted = await linkTo(`/datasets/${id}/data`, await named({ name: 'deleted' }))
  const soon = new Date(time + 60_000).toISOString()
  const expired = await linkTo(`/datasets/${id}/data`, await named({ name: 'expires', expiresAt: soon }))
  const kept = await linkTo(`/datasets/${id}/data`, await named({ name: 'kept', readOnly: true }))
  for (const url of [deleted, expired, kept])
    expect((await at.call(undefined, 'GET', url)).statusCode).toBe(200)
  await at.call(ada, 'DELETE', '/account/keys/deleted')
  time += 61_000
  expect((await at.call(undefined, 'GET', deleted)).statusCode).toBe(401)
  expect((await at.call(undefined, 'GET', expired)).statusCode).toBe(401)
  expect((await at.call(undefined, 'GET', kept)).statusCode).toBe(200)
  // Nobody turns a link of one key into that of another.
  const others = kept.replace(/(ticket=\d+)\.\d+/, '$1.0')
  expect((await at.call(undefined, 'GET', others)).statusCode).toBe(401)
})

test('a link reads no more than its account may', async () => {
  const { id: hidden } = await dataset(at, ada, { name: 'own', private: true })
  const url = await linkTo(`/datasets/${hidden}/data`, await at.account('eve'))
  expect((await at.call(undefined, 'GET', url)).statusCode).toBe(403)
})

test('only exports can be linked to', async () => {
  const name = 'odd.csv'
  await dataset(at, ada, { name })
  for (const path of [
    '/datasets',
    '/datasets/1',
    '/account',
    'https://example.org/',
    '/datasets/1/data\n',
    `/d/${name}/${name}`,
    '/providers/x/series/../../../accounts',
    '/providers/x/series/%2e%2E/y',
    '/providers/x/series/a/.?b',
    '/providers/x/series/..%2f..%2F..%2faccounts',
    '/providers/x/series/a\\..\\accounts',
    '',
  ]) {
    const answer = await at.call(ada, 'POST', '/links', { json: { path } })
    expect(answer, path).toMatchObject({ statusCode: 400 })
    expect(answer.json().code).toBe('invalid_body')
  }
})

test('a header decides alone, also beside a link', async () => {
  const url = await linkTo(`/datasets/${id}/data`)
  expect((await at.call('wrong', 'GET', url)).statusCode).toBe(401)
  expect((await at.call(ada, 'GET', url)).statusCode).toBe(200)
})
