import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataset, type Platform, platform } from '../server/platform.ts'

let at: Platform
let id: number
let repository: number
let ada: string
const put = (body: string, query = '', key = at.root) =>
  at.call(key, 'PUT', `/datasets/${id}/data${query}`, { body, headers: { 'content-type': 'text/csv' } })
const get = (path: string, key = at.root) => at.call(key, 'GET', `/datasets/${id}${path}`)

beforeAll(async () => {
  at = await platform()
  ada = await at.account('ada')
  const made = await dataset(at, at.root, { private: true })
  repository = made.repository
  id = made.id
  for (const n of [1, 2, 3]) await put(`n\n${n}\n`, `?note=number ${n}&columns=replace`)
})
afterAll(() => at[Symbol.asyncDispose]())

describe('versions over HTTP', () => {
  it('are listed, with who made them and why', async () => {
    const answer = await get('/versions?limit=2&offset=1')
    expect(answer.statusCode).toBe(200)
    const [second, first] = answer.json()
    expect(second).toMatchObject({
      operation: 'replace',
      by: 'root',
      note: 'number 2',
      addedRows: 1,
      removedRows: 1,
    })
    expect((await get(`/versions/${first.number}`)).json()).toEqual(first)
    expect((await get('/versions/0')).json()).toMatchObject({ operation: 'create', by: 'root' })
    expect((await get('/versions/99')).statusCode).toBe(404)
    expect((await get('/versions/x')).statusCode).toBe(404)
    expect((await get('/versions?limit=0')).statusCode).toBe(400)
  })

  it('are read by number and by moment, in every way to read rows', async () => {
    const [newest, before] = (await get('/versions')).json()
    const past = await get(`/data?$version=${before.number}`)
    expect(past.body).toBe('n\n2\n')
    expect(past.headers['memento-datetime']).toBe(new Date(before.createdAt).toUTCString())
    expect(past.headers['link']).toContain(`</datasets/${id}/versions/${before.number}>; rel="memento"`)
    const again = await at.call(at.root, 'GET', `/datasets/${id}/data?$version=${before.number}`, {
      headers: { 'if-none-match': String(past.headers['etag']) },
    })
    expect(again.statusCode).toBe(304)
    expect((await get('/data')).body).toBe('n\n3\n')
    expect((await get('/data')).headers['memento-datetime']).toBeUndefined()
    expect((await get(`/data?asOf=${newest.createdAt}`)).body).toBe('n\n3\n')
    expect((await get(`/data?asOf=${before.createdAt}&$filter=n gt 2`)).body).toBe('n\n')
    const question = await at.call(at.root, 'POST', `/datasets/${id}/data/$query`, {
      json: { $version: before.number, $select: 'n' },
    })
    expect(question.body).toBe('n\n2\n')
    expect((await get(`/columns?$version=${before.number}`)).json()).toHaveLength(1)
    const files = (await get(`/parquet?$version=${before.number}`)).json()
    expect(files[0].url).toContain(`/parquet/${before.number}/`)
  })

  it.each([
    ['$version=1&asOf=2024-01-01', 400],
    ['$version=-1', 400],
    ['$version=99', 404],
    ['asOf=2001-01-01', 404],
    ['asOf=yesterday', 400],
  ])('%s is %i', async (query, status) => {
    for (const path of ['/data', '/columns', '/parquet']) {
      expect((await get(`${path}?${query}`)).statusCode, path).toBe(status)
    }
  })

  it('are read by OData, as rows, counts and single rows', async () => {
    const [newest, before] = (await get('/versions')).json()
    const odata = async (path: string) =>
      (await at.call(at.root, 'GET', `/repositories/${repository}/odata/${path}`)).body
    const value = async (path: string) => JSON.parse(await odata(path)).value[0].n
    expect(await value(`table?$version=${before.number}`)).toBe(2)
    expect(await value(`table?asOf=${newest.createdAt}`)).toBe(3)
    expect(await odata(`table/$count?$version=${before.number}&$filter=n eq 2`)).toBe('1')
    expect(JSON.parse(await odata(`table(1)?$version=${before.number}`)).n).toBe(2)
    expect(JSON.parse(await odata('table?$version=99')).error.code).toBe('not_found')
  })

  it('that are no longer kept are 410, and the answer says which are', async () => {
    const [newest] = (await get('/versions')).json()
    for (let n = 4; n < 15; n++) await put(`n\n${n}\n`)
    await at.engine.settled()
    const gone = await get(`/data?$version=${newest.number}`)
    // Nodes of a cluster keep a version for two minutes after that.
    if (!at.engine.database.isShared) {
      expect([gone.statusCode, gone.json().code]).toEqual([410, 'version_gone'])
      expect(gone.json().error).toContain(`Kept versions: ${newest.number + 11} to ${newest.number + 2}`)
    }
  })

  it('are restored as a new version, by who may write, if nothing has changed meanwhile', async () => {
    const [newest, before] = (await get('/versions')).json()
    const restore = (json: object, key = at.root, headers = {}) =>
      at.call(key, 'POST', `/datasets/${id}/restore`, { json, headers })
    expect((await restore({ version: before.number }, ada)).statusCode).toBe(403)
    const stale = await restore({ version: before.number }, at.root, { 'if-match': '"old"' })
    expect([stale.statusCode, stale.json().code]).toEqual([412, 'changed_meanwhile'])
    expect((await restore({})).statusCode).toBe(400)
    expect((await restore({ version: 999 })).statusCode).toBe(404)
    const tag = String((await get('')).headers['etag'])
    const done = await restore({ version: before.number, note: 'undo' }, at.root, { 'if-match': tag })
    expect(done.statusCode).toBe(200)
    expect(done.json()).toMatchObject({ version: newest.number + 1, rowCount: 1 })
    expect((await get('/data')).body).toBe((await get(`/data?$version=${before.number}`)).body)
    expect((await get('/versions')).json()[0]).toMatchObject({
      operation: 'restore',
      by: 'root',
      note: 'undo',
    })
    await restore({ version: newest.number })
    expect((await get('/versions')).json()[0].note).toBe(`Version ${newest.number}, restored.`)
  })

  it('are kept as long as the dataset says', async () => {
    const set = (keep: unknown) => at.call(at.root, 'PUT', `/datasets/${id}`, { json: { keep } })
    expect((await set({ versions: 2, days: 3 })).json().keep).toEqual({ versions: 2, days: 3 })
    expect((await get('')).json().keep).toEqual({ versions: 2, days: 3 })
    await put('n\n1\n')
    await at.engine.settled()
    const numbers = (await get('/versions')).json().map(({ number }: { number: number }) => number)
    if (!at.engine.database.isShared) expect(numbers).not.toContain(numbers[0] - 2)
    for (const wrong of [{ versions: 0, days: 1 }, { versions: 1 }, { versions: 1, days: -1 }, 5]) {
      expect((await set(wrong)).statusCode, JSON.stringify(wrong)).toBe(400)
    }
    expect((await set(null)).json().keep).toBeUndefined()
  })

  it('say nothing to who may not read the dataset', async () => {
    for (const path of ['/versions', '/versions/1', '/data?$version=1']) {
      expect((await get(path, ada)).statusCode, path).toBe(403)
    }
  })
})
