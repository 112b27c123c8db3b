import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataset, type Platform, platform } from '../platform.ts'

let at: Platform
let ada: string
let grace: string
let eve: string
beforeAll(async () => {
  at = await platform()
  ada = await at.account('ada')
  grace = await at.account('grace')
  eve = await at.account('eve')
})
afterAll(() => at[Symbol.asyncDispose]())

const create = async (key: string, json: Record<string, unknown>) => {
  const response = await at.call(key, 'POST', '/repositories', { json: { private: false, ...json } })
  expect(response.statusCode).toBe(201)
  return response.json()
}
const status = async (key: string, method: string, url: string, json?: unknown) =>
  (await at.call(key, method, url, json === undefined ? {} : { json })).statusCode

describe('POST /repositories', () => {
  it('creates a private repository of the caller, unless told otherwise, and says where it is', async () => {
    const response = await at.call(ada, 'POST', '/repositories', { json: { name: 'weather' } })
    expect(response.statusCode).toBe(201)
    const record = response.json()
    expect(response.headers.location).toBe(`/repositories/${record.id}`)
    expect(record).toEqual({
      id: expect.any(Number),
      name: 'weather',
      description: '',
      private: true,
      owner: 'ada',
      permission: 'Write',
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    })
  })

  it('creates a new one with each call', async () => {
    const ids = new Set<number>()
    for (let i = 0; i < 3; i++) ids.add((await create(ada, { name: 'same' })).id)
    expect(ids.size).toBe(3)
  })

  it('never uses an id again', async () => {
    const first = await create(ada, { name: 'gone' })
    expect(await status(ada, 'DELETE', `/repositories/${first.id}`)).toBe(204)
    expect((await create(ada, { name: 'next' })).id).toBeGreaterThan(first.id)
  })
})

describe('listings', () => {
  it('give everything that the key may read, without pages, and nothing else', async () => {
    const before = (await at.call(eve, 'GET', '/repositories')).json().length
    const open = await Promise.all(Array.from({ length: 60 }, (_, i) => create(ada, { name: `r${i}` })))
    const closed = await create(ada, { name: 'closed', private: true })
    const { id } = (
      await at.call(ada, 'POST', '/datasets', { json: { name: 'secret', repositoryId: closed.id } })
    ).json()
    const seen = (await at.call(eve, 'GET', '/repositories')).json()
    expect(seen.length).toBe(before + open.length)
    expect(seen.some((one: { id: number }) => one.id === closed.id)).toBe(false)
    const ids = async (key: string) =>
      (await at.call(key, 'GET', '/datasets')).json().map((one: { id: number }) => one.id)
    expect(await ids(eve)).not.toContain(id)
    expect(await ids(ada)).toContain(id)
    expect(await ids(at.root)).toContain(id)
  })
})

describe('permissions', () => {
  it('of a public repository: everybody reads, the owner writes', async () => {
    const { id } = await create(ada, { name: 'public' })
    expect((await at.call(eve, 'GET', `/repositories/${id}`)).json().permission).toBe('Read')
    expect(await status(eve, 'PUT', `/repositories/${id}`, { name: 'mine' })).toBe(403)
    expect(await status(eve, 'DELETE', `/repositories/${id}`)).toBe(403)
    expect(await status(eve, 'POST', '/datasets', { name: 'd', repositoryId: id })).toBe(403)
    expect(await status(ada, 'PUT', `/repositories/${id}`, { name: 'mine' })).toBe(200)
  })

  it('of a private repository: 403 to strangers, with its datasets', async () => {
    const { repository, id } = await dataset(at, ada, { name: 'p', private: true })
    for (const url of [
      `/repositories/${repository}`,
      `/datasets/${id}`,
      `/datasets/${id}/data`,
      `/datasets/${id}/columns`,
    ]) {
      const response = await at.call(eve, 'GET', url)
      expect(response.statusCode, url).toBe(403)
      expect(response.json()).toEqual({ error: expect.any(String), code: 'forbidden' })
    }
  })

  it('Read lets a member read, Write lets it write and delete', async () => {
    const { repository, id } = await dataset(at, ada, { name: 'team', private: true })
    const member = `/repositories/${repository}/members/grace`
    expect((await at.call(ada, 'PUT', member, { json: { permission: 'Read' } })).json()).toEqual({
      account: 'grace',
      permission: 'Read',
    })
    expect((await at.call(grace, 'GET', `/repositories/${repository}`)).json().permission).toBe('Read')
    expect(await status(grace, 'GET', `/datasets/${id}/data`)).toBe(200)
    expect(await status(grace, 'PUT', `/datasets/${id}`, { name: 'x' })).toBe(403)
    expect(await status(grace, 'DELETE', `/datasets/${id}`)).toBe(403)
    await at.call(ada, 'PUT', member, { json: { permission: 'Write' } })
    expect((await at.call(grace, 'GET', `/repositories/${repository}`)).json().permission).toBe('Write')
    expect(await status(grace, 'PUT', `/datasets/${id}`, { name: 'x' })).toBe(200)
    expect(await status(grace, 'DELETE', `/datasets/${id}`)).toBe(204)
    expect(await status(grace, 'PUT', `/repositories/${repository}`, { private: false })).toBe(403)
    expect(
      await status(grace, 'PUT', `/repositories/${repository}/members/eve`, { permission: 'Read' }),
    ).toBe(403)
    expect(await status(grace, 'DELETE', `/repositories/${repository}`)).toBe(204)
  })

  it('an admin may do everything', async () => {
    const { repository, id } = await dataset(at, ada, { name: 'seen by root', private: true })
    expect(await status(at.root, 'GET', `/datasets/${id}/data`)).toBe(200)
    expect(await status(at.root, 'PUT', `/repositories/${repository}`, { private: false })).toBe(200)
    expect((await at.call(ada, 'GET', `/repositories/${repository}`)).json()).toMatchObject({
      owner: 'ada',
      private: false,
    })
  })
})

describe('names', () => {
  it('hold no control characters for the direction of text, and the message says which it is', async () => {
    const { id } = await create(ada, { name: 'kalt' })
    for (const [character, code] of [
      ['\u202e', 'U+202E'],
      ['\u2066', 'U+2066'],
      ['\u200f', 'U+200F'],
      ['\u061c', 'U+061C'],
    ]) {
      const name = `a${character}b`
      for (const [method, path, json] of [
        ['POST', '/repositories', { name }],
        ['PATCH', `/repositories/${id}`, { name }],
        ['POST', '/datasets', { name, repositoryId: id }],
      ] as const) {
        const answer = await at.call(ada, method, path, { json })
        expect([answer.statusCode, answer.json().code]).toEqual([400, 'invalid_name'])
        expect(answer.json().error).toContain(code)
      }
    }
    for (const name of ['مبيعات 2024', 'מכירות', '売上', 'Straße 👩‍👩‍👧', 'a\u200db']) {
      expect((await at.call(ada, 'PATCH', `/repositories/${id}`, { json: { name } })).statusCode).toBe(200)
    }
  })
})

describe('members', () => {
  it('are accounts: another name is 404, with the nearest one', async () => {
    const { id } = await create(ada, { name: 'team' })
    const add = (name: string) =>
      at.call(ada, 'PUT', `/repositories/${id}/members/${name}`, { json: { permission: 'Read' } })
    await at.account('hopper')
    // Names are told only to those who share a repository with them.
    expect((await add('hoper')).json().error).toBe('There is no account "hoper".')
    const { id: shared } = await create(ada, { name: 'shared' })
    await at.call(ada, 'PUT', `/repositories/${shared}/members/hopper`, { json: { permission: 'Read' } })
    const mistyped = await add('hoper')
    expect([mistyped.statusCode, mistyped.json().error]).toEqual([
      404,
      'There is no account "hoper". Did you mean hopper?',
    ])
    expect((await add('somebody-else')).json().error).toBe('There is no account "somebody-else".')
    expect((await at.call(ada, 'GET', `/repositories/${id}/members`)).json()).toEqual([])
  })

  it('are listed, looked up, changed and removed by the owner', async () => {
    const { id } = await create(ada, { name: 'm', private: true })
    const url = `/repositories/${id}/members`
    expect((await at.call(ada, 'GET', url)).json()).toEqual([])
    await at.call(ada, 'PUT', `${url}/grace`, { json: { permission: 'Read' } })
    expect((await at.call(ada, 'GET', url)).json()).toEqual([{ account: 'grace', permission: 'Read' }])
    expect((await at.call(ada, 'GET', `${url}/grace`)).json()).toEqual({
      account: 'grace',
      permission: 'Read',
    })
    expect(await status(ada, 'GET', `${url}/eve`)).toBe(404)
    expect(await status(ada, 'PUT', `${url}/no%20name`, { permission: 'Read' })).toBe(404)
    expect(await status(ada, 'DELETE', `${url}/nobody`)).toBe(404)
    expect(await status(ada, 'PUT', `${url}/ada`, { permission: 'Read' })).toBe(400)
    expect(await status(ada, 'PUT', `${url}/grace`, { permission: 'read' })).toBe(400)
    expect(await status(ada, 'DELETE', `${url}/grace`)).toBe(204)
    expect(await status(ada, 'DELETE', `${url}/grace`)).toBe(404)
    expect(await status(grace, 'GET', `/repositories/${id}`)).toBe(403)
  })

  it('may leave by themselves, and are not shown to strangers of a public repository', async () => {
    const { id } = await create(ada, { name: 'public with members' })
    const url = `/repositories/${id}/members`
    await at.call(ada, 'PUT', `${url}/grace`, { json: { permission: 'Write' } })
    expect(await status(eve, 'GET', url)).toBe(403)
    expect(await status(grace, 'GET', url)).toBe(200)
    expect(await status(grace, 'DELETE', `${url}/grace`)).toBe(204)
    expect(await status(grace, 'PUT', `/repositories/${id}`, { name: 'x' })).toBe(403)
  })
})

describe('PUT and DELETE', () => {
  it('may be repeated', async () => {
    const { id } = await create(ada, { name: 'again' })
    const change = { name: 'renamed', description: 'twice' }
    const first = (await at.call(ada, 'PUT', `/repositories/${id}`, { json: change })).json()
    const second = (await at.call(ada, 'PUT', `/repositories/${id}`, { json: change })).json()
    expect({ ...second, updatedAt: '' }).toEqual({ ...first, updatedAt: '' })
    expect(await status(ada, 'DELETE', `/repositories/${id}`)).toBe(204)
    expect(await status(ada, 'DELETE', `/repositories/${id}`)).toBe(404)
  })

  it('PATCH changes what is given and removes what is null', async () => {
    const { id } = await create(ada, { name: 'patched', description: 'd' })
    const patch = (json: unknown) => at.call(ada, 'PATCH', `/repositories/${id}`, { json })
    expect((await patch({ name: 'new' })).json()).toMatchObject({ name: 'new', description: 'd' })
    expect((await patch({ description: null })).json()).toMatchObject({ name: 'new', description: '' })
    expect((await patch({ name: null })).statusCode).toBe(400)
  })

  it('of a repository takes its datasets with it', async () => {
    const { repository, id } = await dataset(at, ada, { name: 'whole' })
    await at.call(ada, 'DELETE', `/repositories/${repository}`)
    expect(await status(ada, 'GET', `/datasets/${id}`)).toBe(404)
    expect(await status(ada, 'GET', `/datasets/${id}/data`)).toBe(404)
  })
})

it('a repository made by the library belongs to the first admin and is private', async () => {
  const { id } = await at.engine.createRepository({ name: 'by the library' })
  expect((await at.call(at.root, 'GET', `/repositories/${id}`)).json()).toMatchObject({
    owner: 'root',
    private: true,
  })
  expect(await status(ada, 'GET', `/repositories/${id}`)).toBe(403)
})
