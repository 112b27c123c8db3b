import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { dataset, NUMBERS, type Platform, platform } from '../platform.ts'

let at: Platform
let ada: string
let mine: { repository: number; id: number }
let other: { repository: number; id: number }
let key: string

beforeAll(async () => {
  at = await platform()
  ada = await at.account('ada', 'pro')
  mine = await dataset(at, ada, { name: 'mine', private: true })
  other = await dataset(at, ada, { name: 'other' })
  key = await keyFor(ada, [mine.repository])
})
afterAll(() => at[Symbol.asyncDispose]())

async function keyFor(of: string, repositories: number[], name = 'limited'): Promise<string> {
  const made = await at.call(of, 'POST', '/account/keys', { json: { name, repositories } })
  expect(made.json()).toMatchObject({ repositories, lastUsedAt: null })
  return made.json().apiKey
}

const status = async (method: string, url: string, options = {}) =>
  (await at.call(key, method, url, options)).statusCode

test('reaches its repositories, and nothing else of its account', async () => {
  const body = { body: NUMBERS, headers: { 'content-type': 'text/csv' } }
  expect(await status('GET', `/datasets/${mine.id}/data`)).toBe(200)
  expect(await status('PUT', `/datasets/${mine.id}/data`, body)).toBe(200)
  expect(await status('POST', '/datasets', { json: { name: 'new', repositoryId: mine.repository } })).toBe(
    201,
  )
  for (const url of [
    `/datasets/${other.id}`,
    `/datasets/${other.id}/data`,
    `/repositories/${other.repository}`,
  ])
    expect(await status('GET', url), url).toBe(403)
  expect(await status('PUT', `/datasets/${other.id}/data`, body)).toBe(403)
  expect(await status('POST', '/datasets', { json: { name: 'x', repositoryId: other.repository } })).toBe(403)
  const moved = { json: { repositoryId: other.repository } }
  expect(await status('PATCH', `/datasets/${mine.id}`, moved)).toBe(403)
  expect(await status('GET', `/repositories/${other.repository}/odata/`)).toBe(403)
  for (const list of ['/repositories', '/datasets', '/odata/', '/search?q=n']) {
    expect((await at.call(key, 'GET', list)).body, list).not.toContain('other')
  }
  const sql = { json: { sql: `SELECT * FROM dataset_${other.id}` } }
  expect((await at.call(key, 'POST', '/sql', sql)).json()).toMatchObject({ code: 'unknown_table' })
})

test('changes nothing of the account, so that it can not get another key', async () => {
  for (const [method, url, json] of [
    ['POST', '/account/api-key', undefined],
    ['POST', '/account/keys', { name: 'wider' }],
    ['DELETE', '/account/keys/limited', undefined],
    ['PUT', '/user-keys/fred', { key: 'a-key-of-mine-1' }],
    ['POST', '/repositories', { name: 'more' }],
  ] as const) {
    const answer = await at.call(key, method, url, json && { json })
    expect(answer.json(), url).toMatchObject({ code: 'forbidden', error: expect.stringContaining('limited') })
  }
})

test('gives nobody rights, which would outlast it, and sees no other keys', async () => {
  await at.account('friend')
  const members = `/repositories/${mine.repository}/members/friend`
  const json = { permission: 'Read' }
  const said = { code: 'forbidden', error: expect.stringContaining('limited to repositories') }
  expect((await at.call(key, 'PUT', members, { json })).json()).toMatchObject(said)
  const open = { json: { private: false } }
  expect((await at.call(key, 'PATCH', `/repositories/${mine.repository}`, open)).json()).toMatchObject(said)
  expect(await status('PATCH', `/repositories/${mine.repository}`, { json: { private: true } })).toBe(200)
  expect((await at.call(ada, 'PUT', members, { json })).statusCode).toBe(200)
  expect((await at.call(key, 'DELETE', members)).json()).toMatchObject(said)
  expect((await at.call(ada, 'DELETE', members)).statusCode).toBe(204)
  await at.call(ada, 'POST', '/account/keys', { json: { name: 'second' } })
  const names = async (by: string) =>
    (await at.call(by, 'GET', '/account/keys')).json().map((one: { name: string }) => one.name)
  expect([await names(key), await names(ada)]).toEqual([['limited'], ['limited', 'second']])
  await at.call(ada, 'DELETE', '/account/keys/second')
})

test("an admin's is no admin's", async () => {
  const admins = await keyFor(at.root, [other.repository])
  expect((await at.call(admins, 'GET', '/accounts')).statusCode).toBe(403)
  expect((await at.call(admins, 'GET', `/datasets/${other.id}/data`)).statusCode).toBe(200)
  expect((await at.call(admins, 'PUT', `/datasets/${other.id}`, { json: { name: 'x' } })).statusCode).toBe(
    403,
  )
})

test('its links reach no further, and it sees no others', async () => {
  const link = async (by: string, id: number) =>
    (await at.call(by, 'POST', '/links', { json: { path: `/datasets/${id}/data` } })).json().url
  await link(ada, mine.id)
  expect((await at.call(undefined, 'GET', await link(key, mine.id))).statusCode).toBe(200)
  expect((await at.call(undefined, 'GET', await link(key, other.id))).statusCode).toBe(403)
  expect((await at.call(key, 'GET', '/links')).json()).toHaveLength(2)
  expect((await at.call(ada, 'GET', '/links')).json()).toHaveLength(3)
})

test('a key for what its account may not read is refused, and one for nothing', async () => {
  const eve = await at.account('eve')
  const make = (repositories: unknown) =>
    at.call(eve, 'POST', '/account/keys', { json: { name: 'x', repositories } })
  expect((await make([mine.repository])).statusCode).toBe(403)
  expect((await make([9_999])).statusCode).toBe(404)
  expect((await make([])).statusCode).toBe(400)
})

test('the list of keys says when each was last used', async () => {
  const lastUse = async () => (await at.call(ada, 'GET', '/account/keys')).json()[0].lastUsedAt
  await vi.waitFor(async () => expect(Date.parse(await lastUse())).toBeGreaterThan(Date.now() - 60_000))
})
