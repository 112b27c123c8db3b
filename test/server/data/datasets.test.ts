import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataset, type Platform, platform } from '../platform.ts'

let at: Platform
let ada: string
let repositoryId: number
beforeAll(async () => {
  at = await platform()
  ada = await at.account('ada')
  repositoryId = (await at.call(ada, 'POST', '/repositories', { json: { name: 'r', private: false } })).json()
    .id
})
afterAll(() => at[Symbol.asyncDispose]())

const post = (json: unknown) => at.call(ada, 'POST', '/datasets', { json })

describe('POST /datasets', () => {
  it('creates a dataset without rows', async () => {
    const response = await post({ name: 'empty', repositoryId })
    expect(response.statusCode).toBe(201)
    const record = response.json()
    expect(response.headers.location).toBe(`/datasets/${record.id}`)
    expect(record).toEqual({
      id: expect.any(Number),
      name: 'empty',
      description: '',
      repositoryId,
      version: 0,
      rowCount: 0,
      bytes: 0,
      columns: [],
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
  })

  it('takes columns', async () => {
    const columns = [
      { name: 'a', type: 'integer' },
      { name: 'A', type: 'decimal(10,2)', nullable: false, description: 'x' },
    ]
    const record = (await post({ name: 'typed', repositoryId, columns })).json()
    expect(record.columns).toEqual([
      { name: 'a', type: 'integer', nullable: true, description: '' },
      { name: 'A', type: 'decimal(10,2)', nullable: false, description: 'x' },
    ])
    expect((await at.call(ada, 'GET', `/datasets/${record.id}/columns`)).json()).toEqual(record.columns)
  })

  it('needs repositoryId', async () => {
    const response = await post({ name: 'x' })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toEqual({ error: 'repositoryId is missing.', code: 'invalid_body' })
  })

  it('refuses a name that the repository already has, case-sensitively', async () => {
    await post({ name: 'twice', repositoryId })
    const again = await post({ name: 'twice', repositoryId })
    expect(again.statusCode).toBe(409)
    expect(again.json().code).toBe('name_taken')
    expect((await post({ name: 'Twice', repositoryId })).statusCode).toBe(201)
    const other = (
      await at.call(ada, 'POST', '/repositories', { json: { name: 'other', private: false } })
    ).json().id
    expect((await post({ name: 'twice', repositoryId: other })).statusCode).toBe(201)
  })

  it('is 404 for a repository that does not exist', async () => {
    expect((await post({ name: 'x', repositoryId: 999_999 })).statusCode).toBe(404)
  })

  it.each([
    [{ name: 'x', repositoryId: '1' }, 'repositoryId must be a whole number, not text.'],
    [{ name: 'x', repositoryId: 1.5 }, 'repositoryId must be a whole number, not 1.5.'],
    [{ name: 'x', repositoryId: null }, 'repositoryId must be a whole number, not null.'],
    [{ name: 7, repositoryId: 1 }, 'name must be text, not 7.'],
    [{ name: '', repositoryId: 1 }, 'name must not be empty.'],
    [
      { name: 'x', repositoryId: 1, colums: [] },
      'The body has an unknown field "colums"; valid fields: name, repositoryId, description, columns, key, query, materialize.',
    ],
    [{ name: 'x', repositoryId: 1, columns: [{ name: 'a' }] }, 'columns[0].type is missing.'],
    [{ name: 'x', repositoryId: 1, columns: {} }, 'columns must be a list, not an object.'],
    [[], 'The body must be an object, not a list.'],
    ['text', 'The body must be an object, not text.'],
    [null, 'The body must be an object; it is empty or null.'],
  ])('says what is wrong with %j', async (json, error) => {
    const response = await post(json)
    expect(response.statusCode).toBe(400)
    expect(response.json()).toEqual({ error, code: 'invalid_body' })
  })

  it('refuses an unknown type, a blank and a too long name', async () => {
    const bad = [
      { name: 'x', repositoryId, columns: [{ name: 'a', type: 'int' }] },
      { name: '  ', repositoryId },
      { name: 'x'.repeat(256), repositoryId },
      { name: 'a\u0000b', repositoryId },
      {
        name: 'x',
        repositoryId,
        columns: [
          { name: 'a', type: 'integer' },
          { name: 'a', type: 'integer' },
        ],
      },
    ]
    for (const json of bad) expect((await post(json)).statusCode, JSON.stringify(json)).toBe(400)
  })
})

describe('PUT /datasets/{id}', () => {
  it('changes what is given', async () => {
    const { id } = (await post({ name: 'before', repositoryId, description: 'd' })).json()
    const changed = (await at.call(ada, 'PUT', `/datasets/${id}`, { json: { name: 'after' } })).json()
    expect(changed).toMatchObject({ name: 'after', description: 'd' })
    expect((await at.call(ada, 'GET', `/datasets/${id}`)).json()).toEqual(changed)
  })

  it('refuses a taken name and an empty change', async () => {
    await post({ name: 'taken', repositoryId })
    const { id } = (await post({ name: 'free', repositoryId })).json()
    expect((await at.call(ada, 'PUT', `/datasets/${id}`, { json: { name: 'taken' } })).statusCode).toBe(409)
    expect((await at.call(ada, 'PUT', `/datasets/${id}`, { json: {} })).statusCode).toBe(400)
  })
})

describe('PATCH /datasets/{id}', () => {
  const patch = (
    id: number,
    json: unknown,
    options: { headers?: Record<string, string>; key?: string } = {},
  ) =>
    at.call(options.key ?? ada, 'PATCH', `/datasets/${id}`, {
      body: JSON.stringify(json),
      headers: { 'content-type': 'application/merge-patch+json', ...options.headers },
    })

  it('changes what is given and removes what is null', async () => {
    const { id } = (await post({ name: 'patched', repositoryId, description: 'd' })).json()
    expect((await patch(id, { keep: { days: 5 } })).json()).toMatchObject({ keep: { versions: 10, days: 5 } })
    expect((await patch(id, { keep: { versions: 2 } })).json()).toMatchObject({
      keep: { versions: 2, days: 5 },
    })
    const { keep, description, name } = (await patch(id, { keep: null, description: null })).json()
    expect([keep, description, name]).toEqual([undefined, '', 'patched'])
    for (const wrong of [
      { name: null },
      { repositoryId: null },
      { version: 3 },
      {},
      [],
      { keep: { days: -1 } },
    ]) {
      expect((await patch(id, wrong)).statusCode, JSON.stringify(wrong)).toBe(400)
    }
    expect((await patch(id, { name: 'x' }, { headers: { 'if-match': '"old"' } })).statusCode).toBe(412)
    const put = { body: '{"name":"x"}', headers: { 'content-type': 'application/merge-patch+json' } }
    expect((await at.call(ada, 'PUT', `/datasets/${id}`, put)).statusCode).toBe(415)
  })

  it('moves a dataset with its rows and versions to a repository that one may write in', async () => {
    const { id, repository } = await dataset(at, ada, { name: 'moving' })
    const url = `/datasets/${id}`
    const other = (
      await at.call(ada, 'POST', '/repositories', { json: { name: 'target', private: false } })
    ).json().id
    const tag = String((await at.call(ada, 'GET', url)).headers['etag'])
    expect((await patch(id, { repositoryId: other }, { headers: { 'if-match': tag } })).statusCode).toBe(200)
    expect((await at.call(ada, 'GET', url)).json()).toMatchObject({ repositoryId: other, version: 1 })
    expect((await patch(id, { name: 'x' }, { headers: { 'if-match': tag } })).statusCode).toBe(412)
    expect((await at.call(ada, 'GET', `${url}/data?$top=1`)).body).toBe('n,word\n1,\n')
    expect((await patch(id, { repositoryId: 999_999 })).statusCode).toBe(404)
    await post({ name: 'moving', repositoryId: repository })
    expect((await patch(id, { repositoryId: repository })).json().code).toBe('name_taken')
    const foreign = (
      await at.call(at.root, 'POST', '/repositories', { json: { name: 'foreign', private: false } })
    ).json().id
    expect((await patch(id, { repositoryId: foreign })).statusCode).toBe(403)
  })

  it.each([
    [{ storedBytes: 1 }, 'stored bytes'],
    [{ datasets: 0 }, 'datasets'],
  ])("counts the dataset and the bytes of all its versions for the new repository's owner: %j", async (limit, named) => {
    const config = { plans: { free: { ...at.services.config.plans['free']!, ...limit } } }
    await using small = await platform({
      config: { plans: { ...at.services.config.plans, ...config.plans } },
    })
    const eve = await small.account('eve', 'free')
    const target = (
      await small.call(eve, 'POST', '/repositories', { json: { name: 't', private: false } })
    ).json().id
    const { id } = await dataset(small, small.root)
    const moved = await small.call(small.root, 'PATCH', `/datasets/${id}`, { json: { repositoryId: target } })
    expect([moved.statusCode, moved.json().code]).toEqual([402, 'plan_limit'])
    expect(moved.json().error).toContain(`The limit of ${named} is reached`)
  })
})

describe('PATCH /datasets/{id} with words about columns', () => {
  it('changes all that it says, or nothing', async () => {
    const { id } = (await dataset(at, ada, { name: 'worded', csv: 'a\n1\n' })) as { id: number }
    const { repositoryId } = (await at.call(ada, 'GET', `/datasets/${id}`)).json()
    const saved = (await post({ name: 'asked', repositoryId, query: { dataset: id } })).json()
    const patch = (of: number, json: object) => at.call(ada, 'PATCH', `/datasets/${of}`, { json })
    const columns = [{ name: 'a', unit: 'kg' }]
    expect((await patch(saved.id, { title: 'T', columns })).json().code).toBe('saved_query')
    expect((await at.call(ada, 'GET', `/datasets/${saved.id}`)).json()).toEqual(saved)
    expect((await patch(id, { name: ' ', columns })).statusCode).toBe(400)
    const { version, columns: before } = (await at.call(ada, 'GET', `/datasets/${id}`)).json()
    expect([version, before[0].unit]).toEqual([1, undefined])
    const changed = (await patch(id, { name: 'renamed', columns })).json()
    expect(changed).toMatchObject({ name: 'renamed', version: 2, columns })
    const names = (await at.call(ada, 'GET', '/datasets')).json().map(({ name }: { name: string }) => name)
    expect(names).toContain('renamed')
    // The words are there already, but not the title.
    expect((await patch(id, { title: 'T', columns })).json()).toMatchObject({ title: 'T', version: 2 })
  })
})

describe('PUT /datasets/{id}/columns', () => {
  it('declares before there are rows, as a list or in an object', async () => {
    const { id } = (await post({ name: 'manifest', repositoryId })).json()
    const columns = [{ name: 'n', type: 'double' }]
    const put = (json: unknown) => at.call(ada, 'PUT', `/datasets/${id}/columns`, { json })
    expect((await put({ columns })).json().columns).toMatchObject(columns)
    expect((await put(columns)).json().columns).toMatchObject(columns)
    expect((await put({ columns: [{ name: 'n', type: 'nonsense' }] })).json().code).toBe(
      'invalid_columns_manifest',
    )
    expect((await put({ colums: [] })).statusCode).toBe(400)
  })

  it('is 409 when it conflicts with the types that are there', async () => {
    const { id } = await dataset(at, ada, { name: 'typed rows' })
    const put = (json: unknown) => at.call(ada, 'PUT', `/datasets/${id}/columns`, { json })
    const response = await put([
      { name: 'n', type: 'boolean' },
      { name: 'word', type: 'string' },
    ])
    expect(response.statusCode).toBe(409)
    expect(response.json().error).toMatch(/"n" is integer/)
    const described = await put([
      { name: 'n', type: 'integer', description: 'a number' },
      { name: 'word', type: 'string' },
      { name: 'extra', type: 'date' },
    ])
    expect(described.statusCode).toBe(200)
    expect((await at.call(ada, 'GET', `/datasets/${id}/data?$top=1`)).body).toBe('n,word,extra\n1,,\n')
  })
})

describe('ids', () => {
  it.each([
    '0',
    '-1',
    '1.0',
    'abc',
    '1e3',
    '00',
    '%20',
    '99999999999999999999',
    '1;2',
  ])('%s is 404', async (id) => {
    for (const path of [
      `/datasets/${id}`,
      `/datasets/${id}/data`,
      `/datasets/${id}/columns`,
      `/repositories/${id}`,
    ]) {
      const response = await at.call(ada, 'GET', path)
      expect(response.statusCode, path).toBe(404)
      expect(response.json()).toEqual({ error: expect.any(String), code: 'not_found' })
    }
  })

  it('of deleted datasets are 404', async () => {
    const { id } = (await post({ name: 'deleted', repositoryId })).json()
    expect((await at.call(ada, 'DELETE', `/datasets/${id}`)).statusCode).toBe(204)
    for (const method of ['GET', 'DELETE'])
      expect((await at.call(ada, method, `/datasets/${id}`)).statusCode).toBe(404)
  })
})
