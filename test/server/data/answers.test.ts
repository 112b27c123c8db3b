import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openEngine } from '../../../engine/index.ts'
import { answerCache } from '../../../server/transfers/answers.ts'
import { dataset, NO_LIMITS, type Platform, platform } from '../platform.ts'

let at: Platform
let table: { repository: number; id: number }
beforeAll(async () => {
  at = await platform({
    config: {
      plans: { free: { ...NO_LIMITS, privateRepositories: 1, exportedRows: 25 } },
    },
  })
  table = await dataset(at, at.root, { name: 'tables' })
})
afterAll(() => at[Symbol.asyncDispose]())

const get = (key: string, query: string, headers: Record<string, string> = {}, method = 'GET') =>
  at.call(key, method, `/datasets/${table.id}/data${query}`, { headers })
/** Whether an answer was one that had been kept. */
const kept = (response: { headers: Record<string, unknown> }) =>
  String(response.headers['server-timing']).startsWith('kept;')
/** Asks until the answer comes from memory: one that took its time is kept a moment after it was sent. */
async function keptAnswer(query: string, headers: Record<string, string> = {}) {
  for (let n = 0; n < 100; n++) {
    const response = await get(at.root, query, headers)
    if (kept(response)) return response
  }
  throw new Error(`${query} is never kept`)
}

/** Headers but for those that tell of time, and of whether the length was known at the start. */
const lasting = (headers: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) =>
        !['date', 'server-timing', 'x-request-id', 'content-length', 'transfer-encoding'].includes(name),
    ),
  )

describe('the same question again', () => {
  it.each([
    '',
    '?$top=3',
    '?$last=2&$format=json',
    '?$filter=n gt 4&$format=xlsx',
    '?$filter=n gt 4&$top=2',
    '?$top=0',
  ])('%s has the same answer from memory, byte for byte and with the same headers', async (query) => {
    const first = await get(at.root, query)
    const second = await keptAnswer(query)
    expect([first.statusCode, kept(first), second.statusCode]).toEqual([200, false, 200])
    expect(lasting(second.headers)).toEqual(lasting(first.headers))
    expect(second.rawPayload.equals(first.rawPayload)).toBe(true)
  })

  it('is another one in another coding', async () => {
    const gzip = { 'accept-encoding': 'gzip' }
    const first = await get(at.root, '?$format=json&$skip=1', gzip)
    const second = await keptAnswer('?$format=json&$skip=1', gzip)
    const plain = await get(at.root, '?$format=json&$skip=1')
    expect([kept(first), kept(plain)]).toEqual([false, false])
    expect(second.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(second.rawPayload).equals(gunzipSync(first.rawPayload))).toBe(true)
    expect(plain.headers['content-encoding']).toBeUndefined()
  })

  it('is 304 for whoever has the answer, and headers alone for HEAD', async () => {
    const { headers } = await get(at.root, '?$top=4')
    const again = await get(at.root, '?$top=4', { 'if-none-match': String(headers['etag']) })
    expect([again.statusCode, again.body]).toEqual([304, ''])
    expect(Object.keys(again.headers).sort()).toEqual([
      'cache-control',
      'connection',
      'date',
      'etag',
      'vary',
      'x-request-id',
    ])
    const head = await get(at.root, '?$top=4', {}, 'HEAD')
    expect([head.statusCode, head.body, head.headers['row-count']]).toEqual([200, '', '10'])
  })

  it.each([
    '$filter=now() gt 2020-01-01T00:00:00Z',
    '$filter=2020-01-01T00:00:00Z lt%09now()',
    '$filter=2020-01-01T00:00:00Z lt%0Anow()',
    '$filter=NOW%09() gt 2020-01-01T00:00:00Z',
  ])('with the moment in it is asked anew: %s', async (filter) => {
    const query = `?${filter}&$top=1`
    expect((await get(at.root, query)).statusCode).toBe(200)
    expect(kept(await get(at.root, query))).toBe(false)
  })

  it.each([
    '$compute=now() as t&$select=t&$top=1',
    '$filter=now() gt 2020-01-01T00:00:00Z',
    '$orderby=n add second(now())',
  ])('whose rows depend on the time has no tag by which a client could have them: %s', async (query) => {
    const { statusCode, headers } = await get(at.root, `?${query}`, { 'if-none-match': '*' })
    expect([statusCode, headers['etag'], headers['accept-ranges']]).toEqual([200, undefined, undefined])
  })

  it('is kept if now() is only a text in it', async () => {
    expect((await keptAnswer("?$filter=word ne 'now()'&$select=n")).body).toMatch(/^n\n1\n2\n/)
  })

  it('of new rows has new ones', async () => {
    const other = await dataset(at, at.root, { name: 'changing', csv: 'a\n1\n' })
    const rows = async () => (await at.call(at.root, 'GET', `/datasets/${other.id}/data`)).body
    expect([await rows(), await rows()]).toEqual(['a\n1\n', 'a\n1\n'])
    await at.call(at.root, 'POST', `/datasets/${other.id}/data`, {
      body: 'a\n2\n',
      headers: { 'content-type': 'text/csv' },
    })
    expect(await rows()).toBe('a\n1\n2\n')
  })
})

describe('an answer from memory', () => {
  it('counts against the plan, and is refused where rows are spent', async () => {
    const ada = await at.account('ada', 'free')
    const statuses = []
    for (let n = 0; n < 3; n++) statuses.push((await get(ada, '')).statusCode)
    expect(statuses).toEqual([200, 200, 402])
    expect((await at.call(ada, 'GET', '/account')).json().usage.exportedRows).toBe(20)
  })

  it('is for those alone who may read, from the moment that they may not', async () => {
    const bob = await at.account('bob')
    expect((await get(bob, '?$top=5')).statusCode).toBe(200)
    await at.call(at.root, 'PUT', `/repositories/${table.repository}`, { json: { private: true } })
    expect((await get(bob, '?$top=5')).statusCode).toBe(403)
    await at.call(at.root, 'PUT', `/repositories/${table.repository}`, { json: { private: false } })
    const made = (await at.call(bob, 'POST', '/account/api-key')).json().apiKey
    expect([(await get(bob, '?$top=5')).statusCode, (await get(made, '?$top=5')).statusCode]).toEqual([
      401, 200,
    ])
  })

  it('is counted by the metrics and told of in the log', async () => {
    const rows = async () =>
      Number(
        /parquetry_export_rows_total\{format="tsv"\} (\d+)/.exec(
          (await at.call(at.root, 'GET', '/metrics')).body,
        )?.[1] ?? 0,
      )
    const before = await rows()
    for (let n = 0; n < 3; n++) await get(at.root, '?$format=tsv')
    expect((await rows()) - before).toBe(30)
    const lines = at.log.filter((line) => line['route'] === '/datasets/:id/data')
    expect(lines.at(-1)).toMatchObject({ rows: 10, bytes: expect.any(Number) })
  })
})

it('what another process writes is seen by the next request', async () => {
  const read = async () => (await at.call(at.root, 'GET', `/datasets/${table.id}`)).json()
  const { description } = await read()
  {
    await using beside = await openEngine({ directory: at.directory })
    await beside.updateDataset(table.id, { description: `${description} and more` })
    expect((await read()).description).toBe(`${description} and more`)
  }
})

it('answers give way to newer ones, and large ones are not kept', async () => {
  await using small = await platform({ config: { limits: { cachedAnswerBytes: 4_000 } as never } })
  const wide = Array.from({ length: 200 }, (_, i) => `${i},${'x'.repeat(2_000)}`).join('\n')
  const { id } = await dataset(small, small.root, { csv: `n,text\n${wide}\n` })
  const ask = (query: string) => small.call(small.root, 'GET', `/datasets/${id}/data${query}`)
  for (let n = 0; n < 8; n++) expect((await ask(`?$select=n&$top=${n}`)).statusCode).toBe(200)
  expect(small.services.exports.answers?.calculatedSize).toBeGreaterThan(0)
  expect(small.services.exports.answers?.calculatedSize).toBeLessThanOrEqual(4_000)
  expect(kept(await ask('?$select=n&$top=0'))).toBe(false)
  expect([kept(await ask('')), kept(await ask(''))]).toEqual([false, false])
})

it('an answer takes the bytes of its body, two for each character of its name, and 512 for the rest', () => {
  expect([answerCache(0), answerCache(511)]).toEqual([undefined, undefined])
  const answers = answerCache(512)!
  const answer = { etag: '"tag"', headers: {}, rows: 0, matches: undefined }
  answers.set('', { ...answer, body: Buffer.alloc(0) })
  expect(answers.calculatedSize).toBe(512)
  const more = answerCache(2_000)!
  more.set('a name', { ...answer, body: Buffer.alloc(100) })
  expect(more.calculatedSize).toBe(512 + 12 + 100)
  more.set('a large one', { ...answer, body: Buffer.alloc(2_000 - 512) })
  expect([...more.keys()]).toEqual(['a name'])
})

it('an answer without all rows that were counted is not kept', async () => {
  const { id } = await dataset(at, at.root, { name: 'short' })
  const ask = () => at.call(at.root, 'GET', `/datasets/${id}/data`)
  const sql = 'UPDATE versions SET rows = 11 WHERE id = (SELECT version_id FROM datasets WHERE id = ?)'
  await at.engine.database.run(sql, id)
  const answers = [await ask(), await ask()]
  expect(
    answers.map((answer) => [answer.statusCode, answer.body.split('\n').length - 2, kept(answer)]),
  ).toEqual([
    [200, 10, false],
    [200, 10, false],
  ])
  const lines = at.log.filter(({ msg }) => msg === 'an answer does not have the rows that were counted')
  expect(lines).toMatchObject([
    { rows: 10, counted: 11 },
    { rows: 10, counted: 11 },
  ])
})

describe('an answer from memory is also given', () => {
  const twice = async (url: string) => {
    const [first, second] = [await at.call(at.root, 'GET', url), await at.call(at.root, 'GET', url)]
    expect([second.body, lasting(second.headers)]).toEqual([first.body, lasting(first.headers)])
    return [first, second].map(({ headers }) => String(headers['server-timing']).includes('kept;'))
  }

  it('for a statement, with and without its count', async () => {
    const url = `/sql?q=${encodeURIComponent(`SELECT n FROM dataset_${table.id} WHERE n > 3`)}`
    expect(await twice(url)).toEqual([false, true])
    const counted = await at.call(at.root, 'GET', `${url}&$count=true`)
    expect(counted.headers['row-count']).toBe('7')
    expect((await at.call(at.root, 'GET', url)).headers['row-count']).toBeUndefined()
  })

  it('for a saved query, a page of OData and changes', async () => {
    const query = { sql: `SELECT n FROM dataset_${table.id}` }
    const view = { name: 'view', repositoryId: table.repository, query }
    const saved = (await at.call(at.root, 'POST', '/datasets', { json: view })).json()
    const feed = `/repositories/${table.repository}/odata/tables`
    for (const url of [
      `/datasets/${saved.id}/data`,
      `${feed}?$count=true`,
      `${feed}?$apply=aggregate(n with sum as total)`,
      `/datasets/${table.id}/changes?since=0`,
    ]) {
      expect([url, ...(await twice(url))]).toEqual([url, false, true])
    }
  })

  it('not for a statement whose rows depend on chance', async () => {
    const url = '/sql?q=SELECT%20random()%20AS%20r'
    const first = await at.call(at.root, 'GET', url)
    const second = await at.call(at.root, 'GET', url, { headers: { 'if-none-match': '*' } })
    expect([second.statusCode, second.headers['etag']]).toEqual([200, undefined])
    expect(second.body).not.toBe(first.body)
  })

  it('in pieces, but not for a tag that only says that the rows are the same', async () => {
    const etag = String((await keptAnswer('?$format=xlsx&$skip=1')).headers['etag'])
    expect(etag).toMatch(/^W\//)
    const range = { range: 'bytes=0-9' }
    const piece = await get(at.root, '?$format=xlsx&$skip=1', range)
    const whole = await get(at.root, '?$format=xlsx&$skip=1', { ...range, 'if-range': etag })
    expect([piece.statusCode, kept(piece), whole.statusCode, kept(whole)]).toEqual([206, true, 200, true])
  })
})
