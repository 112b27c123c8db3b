import { afterAll, describe, expect, test, vi } from 'vitest'
import { ServerError } from '../../server/http/errors.ts'
import { dataset } from '../server/platform.ts'
import { encoded, openFeed } from './feed.ts'

const feed = await openFeed()
const { at, key, root, get } = feed
afterAll(() => feed[Symbol.asyncDispose]())

describe('refusals', () => {
  test.each([
    ['GET', '/nothing', 404, 'There is no entity set "nothing"'],
    ['GET', '/my_table(4)', 404, 'it has 3 rows'],
    ['GET', '/my_table(0)', 404, 'no row 0'],
    ['GET', '/my_table(1)/a,b', 404, 'no property "a,b"'],
    ['GET', '/my_table?$expand=x', 501, 'no relations'],
    ['GET', '/my_table?$nonsense=x', 400, 'Unknown query parameter'],
    ['GET', '/my_table?$format=atom', 400, '$format is "atom"'],
    ['DELETE', '/my_table(1)', 405, 'read-only'],
    ['POST', '/my_table', 405, 'read-only'],
    ['GET', '/$batch', 405, 'send a POST'],
    ['POST', '/$batch', 415, 'must be application/json'],
    ['POST', '/my_table/$query', 415, 'must be text/plain'],
  ])('%s %s is %i', async (method, path, status, message) => {
    const response = await at.call(key, method, encoded(root + path))
    expect(response.statusCode).toBe(status)
    expect(response.json().error.message).toContain(message)
    expect(response.headers['odata-version']).toBe('4.01')
    if (status === 405) expect(response.headers['allow']).toBe(path === '/$batch' ? 'POST' : 'GET, HEAD')
  })

  test('of malformed paths have the form of OData', async () => {
    const response = await at.call(key, 'GET', '/odata/x%ff')
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ error: { code: 'invalid_url' } })
  })

  test('name the option that is wrong', async () => {
    const { error } = (await get('/my_table?$filter=day eq')).json()
    expect(error).toMatchObject({ code: 'invalid_filter', target: '$filter' })
    const failed = (await get("/my_table?$orderby=day add duration'P106751990D'")).json()
    expect(failed.error).toMatchObject({ code: 'filter_failed', target: '$orderby' })
  })

  test.each([
    ['$filter=nothing eq 1', 'invalid_columns'],
    ['$select=nothing', 'invalid_columns'],
    ['$orderby=nothing', 'invalid_columns'],
    ['$orderby=day,', 'invalid_option'],
    ['$compute=nothing add 1 as x', 'invalid_columns'],
    ['$compute=x', 'invalid_option'],
    ['$apply=groupby((nothing))', 'invalid_columns'],
    ['$search="', 'invalid_option'],
    ['$top=-1', 'invalid_query'],
    ['$skiptoken=x', 'badRequest'],
    ['$format=x', 'badRequest'],
  ])('of %s name the option', async (query, code) => {
    const { error } = (await get(`/my_table?${query}`)).json()
    expect(error).toMatchObject({ code, target: query.split('=', 1)[0] })
  })

  test.each([
    ['/my_table(1)?$filter=Row eq 9', '$filter'],
    ['/my_table(1)?$search=b', '$search'],
    ['/my_table(1)?$select=Row&$apply=identity', '$apply'],
    ['/my_table(1)?$count=true', '$count'],
    ['/my_table(1)/Row_1?$select=day', '$select'],
    ['/my_table(1)/Row_1/$value?$top=1', '$top'],
  ])('%s names an option that only several rows have', async (path, target) => {
    const response = await get(path)
    expect(response.statusCode).toBe(400)
    expect(response.json().error).toMatchObject({ code: 'badRequest', target })
  })

  test('have none of the headers that describe rows', async () => {
    const failed = await get("/my_table?$filter=day add duration'P106751990D' ne null")
    expect(failed.statusCode).toBe(400)
    for (const name of ['etag', 'vary', 'row-count', 'content-disposition']) {
      expect(failed.headers).not.toHaveProperty(name)
    }
  })

  test('of ours are warnings in the log if they pass', async () => {
    vi.spyOn(at.services.exports.slots, 'enter').mockRejectedValueOnce(new ServerError('busy', 'Too many.'))
    expect((await get('/my_table')).statusCode).toBe(503)
    expect(at.log.findLast(({ msg }) => msg === 'request failed')).toMatchObject({ level: 40, code: 'busy' })
  })

  test('of an option that is unknown name none', async () => {
    expect((await get('/my_table?$nonsense=x')).json().error).not.toHaveProperty('target')
  })

  test.each(['text/csv', 'application/atom+xml'])('say what a body in %s should be', async (type) => {
    const post = (path: string) =>
      at.call(key, 'POST', root + path, { body: 'x', headers: { 'content-type': type } })
    const [query, batch, write] = await Promise.all([
      post('/my_table/$query'),
      post('/$batch'),
      post('/my_table'),
    ])
    expect([query.statusCode, batch.statusCode, write.statusCode]).toEqual([415, 415, 405])
    expect(query.json().error.message).toContain('must be text/plain')
    expect(batch.json().error.message).toContain('must be application/json')
  })

  test('say of several parts that only a batch has them', async () => {
    const headers = { 'content-type': 'multipart/mixed; boundary=b' }
    const post = (path: string) => at.call(key, 'POST', root + path, { body: 'x', headers })
    const query = await post('/my_table/$query')
    expect([query.statusCode, query.json().error.message]).toEqual([
      415,
      expect.stringContaining('must be text/plain'),
    ])
    expect((await post('/$batch')).statusCode).toBe(400)
  })

  test('challenge who sends no key, and keep private repositories to their owners', async () => {
    const unknown = await at.call(undefined, 'GET', `${root}/`)
    expect(unknown.statusCode).toBe(401)
    expect(unknown.headers['www-authenticate']).toContain('Basic')
    expect(unknown.json().error.code).toBe('unauthorized')
    const made = await dataset(at, key, { name: 'secret', private: true })
    const other = await at.account('bob')
    const response = await at.call(other, 'GET', `/repositories/${made.repository}/odata/secret`)
    expect(response.statusCode).toBe(403)
    expect((await at.call(other, 'GET', '/odata/')).body).not.toContain('secret')
  })
})
