import { afterAll, beforeAll, expect, it } from 'vitest'
import { Client } from '../../server/client/index.ts'
import { dataset, type Platform, platform } from '../server/platform.ts'

let at: Platform
beforeAll(async () => {
  at = await platform()
})
afterAll(() => at[Symbol.asyncDispose]())

async function table(csv: string, key?: readonly string[]) {
  const { id } = await dataset(at, at.root, { csv })
  if (key) await at.call(at.root, 'PATCH', `/datasets/${id}`, { json: { key } })
  const call = (method: string, query = '', options = {}) =>
    at.call(at.root, method, `/datasets/${id}/data${query}`, options)
  const rows = async () => (await call('GET', '?$format=json')).json()
  return { id, call, rows }
}
const csv = (body: string, headers = {}) => ({ body, headers: { 'content-type': 'text/csv', ...headers } })
const UPSERT = { headers: { prefer: 'resolution=merge-duplicates' } }

it('Prefer: resolution=merge-duplicates keeps what rows do not name', async () => {
  const { call, rows } = await table('k,v,w\n2,b,y\n', ['k'])
  const done = await call('POST', '', { json: [{ k: 2, w: 'W' }], ...UPSERT })
  expect([done.statusCode, done.headers['preference-applied']]).toEqual([200, 'resolution=merge-duplicates'])
  expect(await rows()).toEqual([{ k: 2, v: 'b', w: 'W' }])
})

it('mode=upsert keeps what a csv or a row of JSON does not name', async () => {
  const { call, rows } = await table('k,v,w\n1,a,x\n2,b,y\n', ['k'])
  expect((await call('POST', '?mode=upsert', csv('k,w\n2,W\n'))).statusCode).toBe(200)
  expect(await rows()).toContainEqual({ k: 2, v: 'b', w: 'W' })
  const each = [
    { k: 1, v: 'a2' },
    { k: 2, w: 'w2' },
  ]
  expect((await call('POST', '?mode=upsert', { json: each })).statusCode).toBe(200)
  expect(await rows()).toEqual([
    { k: 1, v: 'a2', w: 'x' },
    { k: 2, v: 'b', w: 'w2' },
  ])
  const one = { body: '{"k":1,"w":null}\n', headers: { 'content-type': 'application/x-ndjson' } }
  expect((await call('POST', '?mode=upsert', one)).statusCode).toBe(200)
  expect(await rows()).toContainEqual({ k: 1, v: 'a2', w: null })
  expect((await call('POST', '?mode=upsert&missing=null', csv('k\n2\n'))).statusCode).toBe(200)
  expect(await rows()).toContainEqual({ k: 2, v: null, w: null })
})

it('PUT and POST of rows that lack columns are 409, unless missing=null says that they are null', async () => {
  const { call, rows } = await table('date,price\n2024-01-01,5\n')
  for (const method of ['PUT', 'POST']) {
    const refused = await call(method, '', csv('date\n2024-02-01\n'))
    expect([refused.statusCode, refused.json().code]).toEqual([409, 'missing_columns'])
    expect(refused.json().error).toMatch(/"price".*missing=null/)
    const dry = await call(method, '?dryRun=true', csv('date\n2024-02-01\n'))
    expect(dry.json()).toMatchObject({ errors: [{ error: refused.json().error }] })
    const tried = await call(method, '?dryRun=true&missing=null', csv('date\n2024-02-01\n'))
    expect(tried.json()).toMatchObject({ errors: [], rows: [{ date: '2024-02-01', price: null }] })
  }
  expect((await call('POST', '?missing=zero', csv('date\n2024-02-01\n'))).statusCode).toBe(400)
  expect((await call('POST', '?missing=null', csv('date\n2024-02-01\n'))).statusCode).toBe(200)
  expect(await rows()).toEqual([
    { date: '2024-01-01', price: 5 },
    { date: '2024-02-01', price: null },
  ])
  expect((await call('PUT', '?columns=replace', csv('date\n2024-03-01\n'))).statusCode).toBe(200)
  expect(await rows()).toEqual([{ date: '2024-03-01' }])
})

it('dryRun of an upsert lacks no columns but those of the key', async () => {
  const { call } = await table('k,v\n1,a\n', ['k'])
  expect((await call('POST', '?mode=upsert&dryRun=true', { json: [{ k: 1 }] })).json().errors).toEqual([])
  const [fault] = (await call('POST', '?mode=upsert&dryRun=true', { json: [{ v: 'b' }] })).json().errors
  expect(fault.error).toContain('"k" of the key')
})

it('columns=add declares new columns in the version that appends', async () => {
  const { id, call, rows } = await table('a\n1\n')
  expect((await call('POST', '', csv('a,b\n2,x\n'))).json().code).toBe('column_conflict')
  expect((await call('PUT', '?columns=add', csv('a,b\n2,x\n'))).json().code).toBe('invalid_option')
  expect((await call('POST', '?columns=replace', csv('b\nx\n'))).json().code).toBe('invalid_option')
  expect((await call('POST', '?columns=add', csv('a,b\n2,x\n'))).json()).toMatchObject({
    version: 2,
    rowCount: 2,
  })
  expect(await rows()).toEqual([
    { a: 1, b: null },
    { a: 2, b: 'x' },
  ])
  const [version] = (await at.call(at.root, 'GET', `/datasets/${id}/versions`)).json()
  expect(version).toMatchObject({ operation: 'append', addedRows: 1, removedRows: 0 })
})

it('columns=add of an upsert without rows adds the columns to those that there are', async () => {
  const { call, rows } = await table('k,v\n1,a\n', ['k'])
  const done = await call('POST', '?mode=upsert&columns=add', csv('k,w\n'))
  expect([done.statusCode, done.body]).toEqual([200, expect.stringContaining('"w"')])
  expect(await rows()).toEqual([{ k: 1, v: 'a', w: null }])
})

it('changes have rows before and after an upsert as they were', async () => {
  const { id, call } = await table('k,v,w\n1,a,x\n2,b,y\n', ['k'])
  await call('POST', '?mode=upsert', {
    json: [
      { k: 2, w: 'W' },
      { k: 3, v: 'n' },
    ],
  })
  const changes = await at.call(at.root, 'GET', `/datasets/${id}/changes?since=1`)
  expect(changes.body.split('\n').slice(1, -1).sort()).toEqual([
    expect.stringMatching(/^insert,\d,3,n,$/),
    expect.stringMatching(/^update_after,\d,2,b,W$/),
    expect.stringMatching(/^update_before,\d,2,b,y$/),
  ])
})

it('the client keeps, lacks and adds columns as HTTP does', async () => {
  const { id, rows } = await table('k,v\n1,a\n', ['k'])
  const { datasets } = new Client({ url: await at.listen(), key: at.root })
  await datasets.upsert(id, { format: 'json', body: '[{"k":1}]' })
  const lacking = { format: 'csv', body: 'k\n2\n' } as const
  await expect(datasets.append(id, lacking)).rejects.toMatchObject({ code: 'missing_columns' })
  await datasets.append(id, { ...lacking, options: { missing: 'null' } })
  await datasets.append(id, { format: 'csv', body: 'k,v,n\n3,c,1.5\n', options: { columns: 'add' } })
  expect(await rows()).toEqual([
    { k: 1, v: 'a', n: null },
    { k: 2, v: null, n: null },
    { k: 3, v: 'c', n: 1.5 },
  ])
})
