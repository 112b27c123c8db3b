import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { dataset, type Platform, platform } from '../platform.ts'

let at: Platform
let table: { repository: number; id: number }
beforeAll(async () => {
  at = await platform()
  table = await dataset(at, at.root)
})
afterAll(() => at[Symbol.asyncDispose]())

const columns = [
  { name: 'n', type: 'integer', description: 'counted' },
  { name: 'word', type: 'string' },
]

describe.each([
  ['a dataset', () => `/datasets/${table.id}`, { description: 'one' }],
  ['the columns of a dataset', () => `/datasets/${table.id}/columns`, { columns }],
  ['a repository', () => `/repositories/${table.repository}`, { description: 'one' }],
])('PUT of %s with If-Match', (_what, url, json) => {
  const put = (tag: string) => at.call(at.root, 'PUT', url(), { json, headers: { 'if-match': tag } })
  const tag = async () => String((await at.call(at.root, 'GET', url())).headers['etag'])

  it('changes what is as it was seen, and gives the new tag', async () => {
    const seen = await tag()
    const changed = await put(seen)
    expect(changed.statusCode).toBe(200)
    expect(changed.headers['etag']).not.toBe(seen)
    expect(changed.headers['etag']).toBe(await tag())
  })

  it('is 412 where it is another by now, and changes nothing', async () => {
    const before = (await at.call(at.root, 'GET', url())).json()
    const refused = await put('"of-something-else"')
    expect([refused.statusCode, refused.json().code]).toEqual([412, 'changed_meanwhile'])
    expect((await put(`W/${await tag()}`)).statusCode).toBe(412)
    expect((await at.call(at.root, 'GET', url())).json()).toEqual(before)
  })

  it('takes a list of tags, and * for any', async () => {
    expect((await put(`"other", ${await tag()}`)).statusCode).toBe(200)
    expect((await put('*')).statusCode).toBe(200)
  })
})

describe.each(['dataset', 'repository'] as const)('DELETE of a %s with If-Match', (what) => {
  it('is 412 where it is another by now, and deletes nothing', async () => {
    const { id, repository } = await dataset(at, at.root, { name: `deleted-${what}` })
    const url = what === 'dataset' ? `/datasets/${id}` : `/repositories/${repository}`
    const remove = (tag: string) => at.call(at.root, 'DELETE', url, { headers: { 'if-match': tag } })
    const refused = await remove('"of-something-else"')
    expect([refused.statusCode, refused.json().code]).toEqual([412, 'changed_meanwhile'])
    const seen = await at.call(at.root, 'GET', url)
    expect(seen.statusCode).toBe(200)
    expect((await remove(String(seen.headers['etag']))).statusCode).toBe(204)
    expect((await at.call(at.root, 'GET', url)).statusCode).toBe(404)
  })
})

it('of two PUTs of columns that saw the same, one is made', async () => {
  const url = `/datasets/${table.id}/columns`
  const tag = String((await at.call(at.root, 'GET', url)).headers['etag'])
  const put = (description: string) =>
    at.call(at.root, 'PUT', url, {
      json: { columns: columns.map((one) => ({ ...one, description })) },
      headers: { 'if-match': tag },
    })
  const written = Promise.withResolvers<void>()
  // Nobody else can change anything until both have been let in.
  const writing = at.engine.transaction(() => written.promise)
  const asked = vi.spyOn(at.services.lifecycle, 'during')
  const both = Promise.all([put('by Ada'), put('by Bob')])
  await vi.waitFor(() => expect(asked).toHaveBeenCalledTimes(2))
  written.resolve()
  const [answers] = await Promise.all([both, writing])
  expect(answers.map((one) => one.statusCode).sort()).toEqual([200, 412])
  const made = answers.find((one) => one.statusCode === 200)!.json()
  expect((await at.call(at.root, 'GET', url)).json()).toEqual(made.columns)
})

it('the tag of a dataset changes with its rows', async () => {
  const tag = async () => (await at.call(at.root, 'GET', `/datasets/${table.id}`)).headers['etag']
  const before = await tag()
  await at.call(at.root, 'POST', `/datasets/${table.id}/data`, {
    body: 'n,word\n11,more\n',
    headers: { 'content-type': 'text/csv' },
  })
  expect(await tag()).not.toBe(before)
})
