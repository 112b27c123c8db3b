import { afterAll, beforeAll, expect, it } from 'vitest'
import { dataset, type Platform, platform } from '../server/platform.ts'

let at: Platform
beforeAll(async () => {
  at = await platform()
})
afterAll(() => at[Symbol.asyncDispose]())

const table = async (csv = 'n,word\n1,a\n2,b\n3,c\n') => {
  const { id } = await dataset(at, at.root, { csv })
  const call = (method: string, query = '', options = {}) =>
    at.call(at.root, method, `/datasets/${id}/data${query}`, options)
  const rows = async () => (await call('GET')).body
  return { id, call, rows }
}
const csv = (body: string, headers = {}) => ({ body, headers: { 'content-type': 'text/csv', ...headers } })

it('rows are deleted and set by a filter, with a note, once for each Idempotency-Key', async () => {
  const { id, call, rows } = await table()
  expect((await call('DELETE')).json().code).toBe('invalid_option')
  const headers = { 'idempotency-key': 'once', 'if-match': '*' }
  for (let i = 0; i < 2; i++) {
    const done = await call('PATCH', '?$filter=n ge 2&note=fix', { json: { n: '=n mul 10' }, headers })
    expect([done.statusCode, done.json()]).toEqual([200, { version: 2, matchedRows: 2 }])
  }
  expect(await rows()).toBe('n,word\n1,a\n20,b\n30,c\n')
  const other = await call('PATCH', '?$filter=n ge 2&note=fix', { json: { n: '=n' }, headers })
  expect(other.statusCode).toBe(422)
  expect(
    (await call('DELETE', '?$filter=n gt @m&@m=25', { headers: { 'if-match': '"old"' } })).statusCode,
  ).toBe(412)
  expect((await call('DELETE', '?$filter=n gt @m&@m=25')).json()).toEqual({ version: 3, matchedRows: 1 })
  expect((await call('DELETE', '?$filter=n gt 25')).json()).toEqual({ version: 3, matchedRows: 0 })
  const versions = (await at.call(at.root, 'GET', `/datasets/${id}/versions`)).json()
  expect(versions.slice(0, 2)).toMatchObject([
    { operation: 'delete', by: 'root' },
    { operation: 'edit', note: 'fix' },
  ])
  expect((await call('DELETE', '?$filter=m eq 1')).statusCode).toBe(400)
  expect((await call('DELETE', '?$top=1&$filter=true')).statusCode).toBe(400)
  expect((await call('PATCH', '?$filter=true', { json: { n: { a: 1 } } })).statusCode).toBe(400)
  expect((await call('PATCH', '?$filter=true', { json: [] })).statusCode).toBe(400)
})

it('numbers that JavaScript would read as others are refused, and are set exactly as text', async () => {
  const { call, rows } = await table()
  const set = (body: string) =>
    call('PATCH', '?$filter=n ge 2', { body, headers: { 'content-type': 'application/json' } })
  for (const number of [
    '9007199254740993',
    '-123456789012345678901234567890',
    '1e400',
    '0.123456789012345678',
  ]) {
    const refused = await set(`{"n":${number}}`)
    expect([refused.statusCode, refused.json().code], number).toEqual([400, 'invalid_body'])
    expect(refused.json().error).toContain(`The number ${number} `)
  }
  expect(await rows()).toBe('n,word\n1,a\n2,b\n3,c\n')
  expect((await set('{"n":"9007199254740993"}')).statusCode).toBe(200)
  expect(await rows()).toBe('n,word\n1,a\n9007199254740993,b\n9007199254740993,c\n')
  for (const number of ['9007199254740992', '1e15', '7.0']) {
    expect((await set(`{"n":${number}}`)).statusCode, number).toBe(200)
  }
  expect(await rows()).toBe('n,word\n1,a\n7,b\n7,c\n')
})

it('a key is declared by PATCH, is in the record, and uploads that repeat it are 409 with rows', async () => {
  const { id, call, rows } = await table()
  const patch = (json: object) => at.call(at.root, 'PATCH', `/datasets/${id}`, { json })
  expect((await patch({ key: ['n'], name: 'x' })).statusCode).toBe(400)
  expect((await patch({ key: ['m'] })).json().code).toBe('column_conflict')
  expect((await patch({ key: ['n'] })).json().key).toEqual(['n'])
  expect((await at.call(at.root, 'GET', `/datasets/${id}`)).json().key).toEqual(['n'])
  const refused = await call('POST', '', csv('n,word\n4,d\n2,x\n'))
  expect(refused.statusCode).toBe(409)
  expect(refused.json()).toMatchObject({ code: 'duplicate_key', errors: [{ row: 2, value: 'n = 2' }] })
  expect((await call('POST', '?mode=upsert', csv('n,word\n4,d\n2,x\n'))).statusCode).toBe(200)
  expect(await rows()).toBe('n,word\n1,a\n3,c\n4,d\n2,x\n')
  const preferred = await call('POST', '', csv('n,word\n4,e\n', { prefer: 'resolution=merge-duplicates' }))
  expect(preferred.headers['preference-applied']).toBe('resolution=merge-duplicates')
  const json = { rows: [{ n: 1, word: 'z' }] }
  expect((await call('POST', '?mode=upsert', { json })).json().rowCount).toBe(4)
  expect(await rows()).toBe('n,word\n3,c\n2,x\n4,e\n1,z\n')
  expect((await call('POST', '?on=n', csv('n,word\n9,d\n'))).statusCode).toBe(400)
  expect((await call('POST', '?mode=upsert&on=word', csv('n,word\n9,d\n'))).statusCode).toBe(400)
  expect((await patch({ key: null })).json().key).toBeUndefined()
  expect((await call('POST', '?mode=upsert', csv('n,word\n9,d\n'))).statusCode).toBe(400)
  expect((await call('POST', '?mode=upsert&on=word', csv('n,word\n9,z\n'))).json().rowCount).toBe(4)
  const made = await at.call(at.root, 'POST', '/datasets', {
    json: { name: 'keyed', repositoryId: 1, columns: [{ name: 'a', type: 'date' }], key: ['a'] },
  })
  expect(made.json().key).toEqual(['a'])
})

it('If-Match takes the strong ETag of the rows, as of any query of them, until rows change', async () => {
  const { call, rows } = await table()
  for (const query of ['', '?$filter=n eq 2&$format=json', '?$format=ndjson']) {
    const { etag } = (await call('GET', query)).headers
    const send = (headers = {}) => call('POST', '', csv('n,word\n7,g\n', { 'if-match': etag, ...headers }))
    expect((await send()).statusCode, query).toBe(200)
    const again = await send()
    expect([again.statusCode, again.json().code], query).toEqual([412, 'changed_meanwhile'])
    expect((await send({ 'if-match': `"other", ${(await call('GET')).headers.etag}` })).statusCode).toBe(200)
  }
  const before = (await call('GET')).headers.etag
  expect(
    (await call('PATCH', '?$filter=n eq 1', { json: { word: 'z' }, headers: { 'if-match': before } }))
      .statusCode,
  ).toBe(200)
  expect((await call('DELETE', '?$filter=n eq 1', { headers: { 'if-match': before } })).statusCode).toBe(412)
  expect(await rows()).toContain('1,z\n')
})

it('If-Match says that a weak ETag never matches, and the rows of other datasets do not', async () => {
  const [one, other] = [await table(), await table()]
  const headers = { 'accept-encoding': 'gzip' }
  const { etag } = (await one.call('GET', '', { headers })).headers
  expect(etag).toMatch(/^W\//)
  const refused = await one.call('PUT', '', csv('n,word\n7,g\n', { 'if-match': etag }))
  expect([refused.statusCode, refused.json().error]).toEqual([
    412,
    expect.stringContaining('GET /datasets/{id}'),
  ])
  const { etag: foreign } = (await other.call('GET')).headers
  expect((await one.call('PUT', '', csv('n,word\n7,g\n', { 'if-match': foreign }))).statusCode).toBe(412)
})

it.each([
  ['=word mul', 'Column "n": At position 9: the expression ends after \'mul\''],
  ['=', 'Column "n": At position 1: the expression is empty'],
  ['=n as m', 'Column "n": At position 3: found \'as\''],
  ['=nope', 'Expression contains invalid column(s): nope'],
])('an expression that is wrong is named as it was sent: %s', async (text, message) => {
  const { call } = await table()
  const refused = await call('PATCH', '?$filter=true', { json: { n: text } })
  expect([refused.statusCode, refused.json().error]).toEqual([400, expect.stringContaining(message)])
})
