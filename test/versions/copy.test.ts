import { afterAll, beforeAll, expect, it } from 'vitest'
import { dataset, type Platform, platform } from '../server/platform.ts'

let at: Platform
beforeAll(async () => {
  at = await platform()
})
afterAll(() => at[Symbol.asyncDispose]())

it('a copy shares the files of a version, and outlives the dataset', async () => {
  const { id, repository } = await dataset(at, at.root, { csv: 'n\n1\n2\n' })
  const url = `/datasets/${id}`
  await at.call(at.root, 'PATCH', url, { json: { key: ['n'] } })
  await at.call(at.root, 'PATCH', url, { json: { description: 'd', title: 'T', license: 'CC0-1.0' } })
  await at.call(at.root, 'PUT', `${url}/data`, { body: 'n\n3\n', headers: { 'content-type': 'text/csv' } })
  const copy = (json: object, headers = {}) => at.call(at.root, 'POST', `${url}/copy`, { json, headers })
  const before = (await at.engine.stats()).cache
  const made = await copy({ repositoryId: repository, name: 'past', version: 1 }, { 'idempotency-key': 'a' })
  expect(made.statusCode).toBe(201)
  expect(made.json()).toMatchObject({
    version: 1,
    rowCount: 2,
    name: 'past',
    description: 'd',
    title: 'T',
    license: 'CC0-1.0',
  })
  expect(made.headers['location']).toBe(`/datasets/${made.json().id}`)
  const again = await copy({ repositoryId: repository, name: 'past', version: 1 }, { 'idempotency-key': 'a' })
  expect(again.json().id).toBe(made.json().id)
  const now = (await copy({ repositoryId: repository, name: 'now' })).json()
  expect([now.key, now.rowCount]).toEqual([['n'], 1])
  expect((await at.engine.stats()).cache).toEqual(before)
  expect((await copy({ repositoryId: repository, name: 'now' })).json().code).toBe('name_taken')
  expect((await copy({ repositoryId: repository, name: 'x', version: 99 })).statusCode).toBe(404)
  expect((await copy({ repositoryId: 999_999, name: 'x' })).statusCode).toBe(404)
  await at.call(at.root, 'DELETE', url)
  await at.engine.settled()
  const read = async (one: number) => (await at.call(at.root, 'GET', `/datasets/${one}/data`)).body
  expect(await read(made.json().id)).toBe('n\n1\n2\n')
  await at.call(at.root, 'DELETE', `/datasets/${now.id}/data?$filter=n eq 3`)
  expect([await read(now.id), (await at.engine.verify()).problems]).toEqual(['n\n', []])
  const versions: { operation: string; by: string }[] = (
    await at.call(at.root, 'GET', `/datasets/${now.id}/versions`)
  ).json()
  expect(versions.map(({ operation, by }) => `${operation} by ${by}`)).toEqual([
    'delete by root',
    'replace by root',
    'create by root',
  ])
})

it('a plan limits how long versions are kept', async () => {
  const ada = await at.account('ada', 'free')
  const { id } = await dataset(at, ada)
  const keep = async (versions: number, days: number) =>
    (await at.call(ada, 'PATCH', `/datasets/${id}`, { json: { keep: { versions, days } } })).statusCode
  expect([await keep(100, 366), await keep(101, 1), await keep(1, 367)]).toEqual([200, 402, 402])
})
