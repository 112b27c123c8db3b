import { describe, expect, it } from 'vitest'
import { service } from './asked.ts'

const at = service()

describe('what the service does', () => {
  it('answers with JSON, but for downloads in another format', async () => {
    const { id } = await at.table()
    for (const path of ['/repositories', '/datasets', '/providers', `/datasets/${id}/columns`, '/nowhere']) {
      expect((await at.get(path)).headers.get('content-type'), path).toMatch(/^application\/json/)
    }
    expect((await at.get(`/datasets/${id}/data`)).headers.get('content-type')).toMatch(/^text\/csv/)
  })

  it('takes JSON by POST and PUT, with its Content-Type and no other', async () => {
    const body = JSON.stringify({ name: 'named', private: false })
    expect((await at.ask(at.ada, 'POST', '/repositories', body)).status).toBe(201)
    expect((await at.ask(at.ada, 'POST', '/repositories', body, 'text/plain')).status).toBe(415)
  })

  it('takes slugs of providers and user keys in any case', async () => {
    const key = 'a-key-of-my-own-01'
    for (const slug of ['fred', 'FRED', 'Fred']) {
      expect((await at.get(`/providers/${slug}`)).json.slug).toBe('fred')
      expect((await at.ask(at.ada, 'PUT', `/user-keys/${slug}`, { key })).json.provider).toBe('fred')
    }
    expect((await at.get('/user-keys')).json).toHaveLength(1)
    await at.ask(at.ada, 'DELETE', '/user-keys/fRED')
    expect((await at.get('/user-keys')).json).toEqual([])
  })

  it('reads slashes in the id of a series as a part of the id', async () => {
    const answer = await at.get('/providers/fred/series/A/B%20C/D')
    expect(answer.status).toBe(404)
    expect(answer.json.error).toContain('A/B C/D')
  })

  it('lists repositories, datasets and providers whole, as far as the key may read them', async () => {
    const open = await Promise.all(Array.from({ length: 30 }, () => at.repository()))
    const closed = await at.repository({ private: true })
    const ids = async (key: string) => (await at.get('/repositories', key)).json.map(({ id }: never) => id)
    expect(await ids(at.ada)).toEqual(expect.arrayContaining([...open, closed]))
    expect(await ids(at.eve)).toEqual(expect.arrayContaining(open))
    expect(await ids(at.eve)).not.toContain(closed)
    expect((await at.get('/datasets')).json).toBeInstanceOf(Array)
    expect((await at.get('/providers')).json.length).toBeGreaterThan(10)
    expect((await at.get('/repositories?limit=5')).status).toBe(400)
  })

  it('makes anew by each POST without an Idempotency-Key; GET, PUT and DELETE may be repeated', async () => {
    const post = () =>
      fetch(`${at.address}/repositories?apiKey=${at.ada}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"name":"twice"}',
      }).then((response) => response.json() as Promise<{ id: number }>)
    const [first, second] = [await post(), await post()]
    expect(second.id).not.toBe(first.id)
    const { id } = await at.table('n\n1\n')
    for (let i = 0; i < 2; i++) await at.ask(at.ada, 'PUT', `/datasets/${id}/data`, 'n\n7\n8\n', 'text/csv')
    for (let i = 0; i < 2; i++) expect((await at.get(`/datasets/${id}/data`)).text).toBe('n\n7\n8\n')
    expect((await at.ask(at.ada, 'DELETE', `/datasets/${id}`)).status).toBe(204)
    expect((await at.ask(at.ada, 'DELETE', `/datasets/${id}`)).status).toBe(404)
    expect((await at.get(`/datasets/${id}`)).status).toBe(404)
  })
})

describe('resources and their fields', () => {
  it('identify repositories and datasets by number, providers by slug, columns by name', async () => {
    const { id, repositoryId } = await at.table()
    expect((await at.get(`/repositories/${repositoryId}`)).json).toMatchObject({ id: repositoryId })
    expect((await at.get(`/datasets/${id}`)).json).toMatchObject({ id, name: 'table', repositoryId })
    expect((await at.get(`/datasets/${id}/columns`)).json.map(({ name }: never) => name)).toEqual([
      'n',
      'word',
    ])
    expect((await at.get('/providers/fred')).json).toMatchObject({ slug: 'fred' })
    expect((await at.get('/providers/fred/browse')).json.categories[0]).toHaveProperty('path')
  })

  it('need repositoryId for a dataset', async () => {
    const answer = await at.ask(at.ada, 'POST', '/datasets', { name: 'nowhere' })
    expect(answer.status).toBe(400)
    expect(answer.json.error).toContain('repositoryId')
  })

  it('have datasets of different names in one repository, and of the same in two', async () => {
    const [one, other] = [await at.repository(), await at.repository()]
    const make = (repositoryId: number) =>
      at.ask(at.ada, 'POST', '/datasets', { name: 'prices', repositoryId }).then(({ status }) => status)
    expect([await make(one), await make(one), await make(other)]).toEqual([201, 409, 201])
  })

  it('tell names of columns that differ in case apart', async () => {
    const { id } = await at.table('Price\n1\n2\n')
    expect((await at.get(`/datasets/${id}/data?$filter=Price gt 1`)).text).toBe('Price\n2\n')
    expect((await at.get(`/datasets/${id}/data?$filter=price gt 1`)).status).toBe(400)
  })

  it('give Read or Write on a repository, and writing needs Write', async () => {
    const { id, repositoryId } = await at.table('n\n1\n', { private: true })
    const member = `/repositories/${repositoryId}/members/eve`
    const append = () => at.ask(at.eve, 'POST', `/datasets/${id}/data`, 'n\n2\n', 'text/csv')
    expect((await at.ask(at.ada, 'PUT', member, { permission: 'Read' })).status).toBe(200)
    expect((await at.get(`/repositories/${repositoryId}`, at.eve)).json.permission).toBe('Read')
    expect((await append()).status).toBe(403)
    await at.ask(at.ada, 'PUT', member, { permission: 'Write' })
    expect((await append()).status).toBe(200)
    expect((await at.ask(at.eve, 'DELETE', `/datasets/${id}`)).status).toBe(204)
  })
})
