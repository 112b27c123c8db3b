import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Config } from '../../server/config/schema.ts'
import { loadTable, WAREHOUSES } from '../../server/iceberg/catalog.ts'
import { dataset, type Platform, platform } from '../server/platform.ts'

let at: Platform
let owner: string
let stranger: string
let repository: number
let id: number
let secret: { repository: number; id: number }
beforeAll(async () => {
  at = await platform({ config: { iceberg: { localFiles: true } } })
  owner = await at.account('ada')
  stranger = await at.account('bob')
  ;({ repository, id } = await dataset(at, owner, { name: 'Öffentlich / a.b' }))
  secret = await dataset(at, owner, { name: 'secret', private: true })
})
afterAll(() => at[Symbol.asyncDispose]())

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
const ask = (key: string, method: string, path: string) =>
  at.call(undefined, method, `/iceberg/v1${path}`, bearer(key))
const get = async (key: string, path: string) => (await ask(key, 'GET', path)).json()
const open = encodeURIComponent('Öffentlich / a.b')

describe('the config', () => {
  test('lists what can be asked, and nothing that writes', async () => {
    const { defaults, overrides, endpoints } = await get(stranger, '/config')
    expect({ defaults, overrides }).toEqual({ defaults: {}, overrides: {} })
    expect(endpoints).toContain('GET /v1/{prefix}/namespaces/{namespace}/tables/{table}')
    expect(endpoints.filter((line: string) => /^(POST|DELETE)/.test(line))).toEqual([
      'POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics',
    ])
  })

  test('of the plain warehouse has a prefix, and there is no other', async () => {
    expect((await get(stranger, '/config?warehouse=plain')).overrides).toEqual({ prefix: 'plain' })
    const other = await ask(stranger, 'GET', '/config?warehouse=elsewhere')
    expect([other.statusCode, other.json().error.type]).toEqual([400, 'BadRequestException'])
  })
})

describe('namespaces', () => {
  test('are the repositories that the key may read', async () => {
    expect(await get(stranger, '/namespaces')).toEqual({ namespaces: [['Öffentlich / a.b']] })
    expect(await get(owner, '/namespaces')).toEqual({ namespaces: [['Öffentlich / a.b'], ['secret']] })
    expect(await get(stranger, '/plain/namespaces')).toEqual({ namespaces: [[`r${repository}`]] })
    expect(await get(stranger, `/namespaces?parent=${open}`)).toEqual({ namespaces: [] })
    expect((await get(stranger, `/namespaces/${open}`)).namespace).toEqual(['Öffentlich / a.b'])
    expect((await ask(stranger, 'HEAD', `/namespaces/${open}`)).statusCode).toBe(204)
  })

  test('of the same name are told apart by their ids', async () => {
    const second = await dataset(at, owner, { name: 'secret', private: true })
    const names = [`secret~${secret.repository}`, `secret~${second.repository}`]
    expect((await get(owner, '/namespaces')).namespaces.slice(1)).toEqual(names.map((name) => [name]))
    const vague = await ask(owner, 'GET', '/namespaces/secret/tables')
    expect(vague.statusCode).toBe(404)
    expect(vague.json().error.message).toContain(`"${names[0]}" or "${names[1]}"`)
    expect((await ask(owner, 'GET', `/namespaces/${names[1]}/tables`)).statusCode).toBe(200)
    await at.call(owner, 'DELETE', `/repositories/${second.repository}`)
  })
})

describe('tables', () => {
  test('have a space in their names also where a client writes it as a plus', async () => {
    const { id: table } = await dataset(at, owner, { name: 'a + b', csv: 'n\n1\n' })
    for (const name of ['a%20%2B%20b', 'a+%2B+b']) {
      const { metadata } = await get(owner, `/namespaces/${name}/tables/${name}`)
      expect(metadata.properties['parquetry.dataset']).toBe(String(table))
    }
    expect((await ask(owner, 'HEAD', '/namespaces/a+++b/tables/a+++b')).statusCode).toBe(404)
    const { repositoryId } = (await at.call(owner, 'GET', `/datasets/${table}`)).json()
    await at.call(owner, 'DELETE', `/repositories/${repositoryId}`)
  })

  test('are the datasets, by name, with a version, and by ids', async () => {
    expect(await get(owner, '/namespaces/secret/tables')).toEqual({
      identifiers: [{ namespace: ['secret'], name: 'secret' }],
    })
    const named = await get(owner, '/namespaces/secret/tables/secret')
    expect(await get(owner, '/namespaces/secret/tables/secret@1')).toEqual(named)
    const plain = await get(owner, `/plain/namespaces/r${secret.repository}/tables/d${secret.id}_1`)
    expect(plain.metadata['table-uuid']).toBe(named.metadata['table-uuid'])
    expect(plain.metadata.schemas[0].fields.map((field: { name: string }) => field.name)).toEqual([
      'c0',
      'c1',
      'r',
      'f',
    ])
    expect((await ask(owner, 'HEAD', '/namespaces/secret/tables/secret')).statusCode).toBe(204)
    expect((await ask(owner, 'HEAD', '/namespaces/secret/tables/secret@9')).statusCode).toBe(404)
  })

  test('with an @ in the name are found by all of it', async () => {
    await at.call(owner, 'POST', '/datasets', { json: { name: 'a@1', repositoryId: repository } })
    const table = await get(owner, `/namespaces/${open}/tables/a%401`)
    expect(table.metadata.properties['parquetry.version']).toBe('0')
  })

  test('stay what they were for whoever began to read them', async () => {
    await at.call(owner, 'PUT', `/datasets/${id}`, { json: { keep: { versions: 1, days: 0 } } })
    const before = await get(owner, `/namespaces/${open}/tables/${open}@1`)
    await at.call(owner, 'PUT', `/datasets/${id}/data`, {
      body: 'n,word\n1,new\n',
      headers: { 'content-type': 'text/csv' },
    })
    expect(await get(owner, `/namespaces/${open}/tables/${open}@1`)).toEqual(before)
    const now = await get(owner, `/namespaces/${open}/tables/${open}`)
    expect(now.metadata.snapshots[0].summary['total-records']).toBe('1')
    // Versions are removed a moment after the write that replaced them.
    await at.engine.settled()
    const gone = await ask(owner, 'GET', `/namespaces/${open}/tables/${open}@0`)
    expect([gone.statusCode, gone.json().error]).toMatchObject([404, { type: 'NoSuchTableException' }])
  })
})

describe('refused, in the form of Iceberg, is', () => {
  const shape = (type: string, code: number) => ({
    error: { message: expect.stringMatching(/^[A-Z].*\.$/s), type, code },
  })

  test('who has no valid key', async () => {
    const wrong: Record<string, string>[] = [{}, { authorization: 'Bearer not-a-key-of-anybody' }]
    for (const headers of wrong) {
      const answer = await at.call(undefined, 'GET', '/iceberg/v1/namespaces', { headers })
      expect([answer.statusCode, answer.json()]).toEqual([401, shape('NotAuthorizedException', 401)])
    }
  })

  test.each([
    '/namespaces/secret',
    '/namespaces/secret/tables',
    '/namespaces/secret/tables/secret',
    '/namespaces/nowhere',
  ])('a repository that the key may not read, as one that is not there: %s', async (path) => {
    const answer = await ask(stranger, 'GET', path)
    expect([answer.statusCode, answer.json()]).toEqual([404, shape('NoSuchNamespaceException', 404)])
  })

  test('the same by id', async () => {
    const path = `/plain/namespaces/r${secret.repository}/tables/d${secret.id}`
    expect((await ask(stranger, 'GET', path)).statusCode).toBe(404)
    // A dataset is found in its own repository alone.
    const elsewhere = `/plain/namespaces/r${repository}/tables/d${secret.id}`
    expect((await ask(stranger, 'GET', elsewhere)).json()).toEqual(shape('NoSuchTableException', 404))
  })

  test.each([
    ['POST', '/namespaces'],
    ['DELETE', '/namespaces/secret'],
    ['POST', '/namespaces/secret/tables'],
    ['POST', '/namespaces/secret/tables/secret'],
    ['DELETE', '/namespaces/secret/tables/secret?purgeRequested=true'],
    ['POST', '/tables/rename'],
    ['POST', '/plain/transactions/commit'],
  ])('whoever would write: %s %s', async (method, path) => {
    const answer = await ask(owner, method, path)
    expect([answer.statusCode, answer.json()]).toEqual([403, shape('ForbiddenException', 403)])
  })

  test('a method that a path does not know, and what the catalog does not have', async () => {
    const put = await ask(owner, 'PUT', '/namespaces')
    expect([put.statusCode, put.headers['allow']]).toEqual([405, 'GET, POST'])
    const views = await ask(owner, 'GET', '/namespaces/secret/views')
    expect([views.statusCode, views.json()]).toEqual([501, shape('UnsupportedOperationException', 501)])
  })

  test('an unknown parameter', async () => {
    const answer = await ask(owner, 'GET', '/namespaces?deep=true')
    expect([answer.statusCode, answer.json()]).toEqual([400, shape('BadRequestException', 400)])
  })
})

test('metrics of readers are taken, also from a key that only reads', async () => {
  const { apiKey } = (
    await at.call(owner, 'POST', '/account/keys', { json: { name: 'reads', readOnly: true } })
  ).json()
  const path = `/iceberg/v1/namespaces/secret/tables/secret/metrics`
  const answer = await at.call(undefined, 'POST', path, {
    ...bearer(apiKey),
    json: { 'report-type': 'scan' },
  })
  expect(answer.statusCode).toBe(204)
})

test('rows in a store of objects need no permission to be shown, but credentials to be read', async () => {
  await using closed = await platform()
  const { id: table, repository } = await dataset(closed, closed.root)
  const told = async (store: Partial<Config>) => {
    const config = { ...closed.services.config, store: 's3://bucket/rows', ...store }
    const services = { ...closed.services, config }
    const { account } = (await services.keys.find(closed.root))!
    const path = { warehouse: WAREHOUSES['plain']!, account, namespace: `r${repository}`, table: `d${table}` }
    return (await loadTable(services, path)).config
  }
  const s3Endpoint = 'http://127.0.0.1:7070'
  expect(await told({ s3Endpoint, s3Region: 'eu-west-1' })).toEqual({
    's3.endpoint': s3Endpoint,
    's3.region': 'eu-west-1',
    'client.region': 'eu-west-1',
    's3.path-style-access': 'true',
  })
  // DuckDB reads nothing without a region.
  expect(await told({ s3Endpoint })).toMatchObject({ 's3.region': 'us-east-1', 'client.region': 'us-east-1' })
  expect(await told({})).toEqual({})
})

test('where files are is shown to nobody unless the configuration allows it', async () => {
  await using closed = await platform()
  await dataset(closed, closed.root)
  const answer = await closed.call(closed.root, 'GET', '/iceberg/v1/namespaces/tables/tables/table')
  expect([answer.statusCode, answer.json().error.type]).toEqual([501, 'UnsupportedOperationException'])
  expect(answer.body).not.toContain(closed.directory)
  expect((await closed.call(closed.root, 'GET', '/iceberg/v1/namespaces')).statusCode).toBe(200)
})
