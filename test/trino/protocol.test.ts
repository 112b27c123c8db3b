import { request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { TrinoClient } from '../../engine/trino/client.ts'
import { basic, dataset, type Platform, platform } from '../server/platform.ts'
import { FakeTrino, type Page } from './fake-trino.ts'

let fake: FakeTrino
let at: Platform
let id: number
beforeEach(async () => {
  fake = await FakeTrino.start()
})
afterEach(async () => {
  await at[Symbol.asyncDispose]()
  await fake[Symbol.asyncDispose]()
})

/** A service with ten rows, whose questions go to the fake. */
async function start(options: { firstByte?: number; trino?: object } = {}): Promise<void> {
  at = await platform({
    config: {
      trinoUrl: fake.url,
      trino: { minBytes: 0, ...options.trino },
      ...(options.firstByte && { timeouts: { firstByte: options.firstByte } }),
    },
  })
  id = (await dataset(at, at.root)).id
}

/** Answers rows with these pages, and counts with 3. */
function says(...pages: Page[]): void {
  fake.script = (sql) => (sql.includes('count(*) AS VARCHAR') ? [{ data: [['3']] }] : pages)
}

const ask = (options: string) => at.call(at.root, 'GET', `/datasets/${id}/data?${options}`)
/** A question that the fake may answer with words that DuckDB would not give. */
const TOP = '$format=csv&$top=3&$orderby=n desc'
const FROM_DUCKDB = 'n,word\n10,\n9,w9\n8,w8\n'
const error = (errorName: string, errorType: string) => ({
  error: { errorName, errorType, message: 'secret words of Trino' },
})
const trino = async () => (await at.engine.stats()).executor!.trino!

describe('an answer', () => {
  test('comes page by page, and is asked for by a statement with its values in it', async () => {
    await start()
    says({ stats: {} }, { data: [['7', 'x']] }, {}, { data: [['8', null]] }, {})
    const answer = await ask("$format=csv&$top=3&$filter=word ne 'it''s'")
    expect(answer.statusCode, answer.body).toBe(200)
    expect(answer.body).toBe('n,word\n7,x\n8,\n')
    const { sql, headers } = fake.asked.find((one) => !one.sql.includes('count('))!
    expect(sql).toBe(
      `EXECUTE IMMEDIATE 'SELECT CAST(c0 AS VARCHAR), c1 FROM (SELECT * FROM (SELECT c0, c1, f + r AS o FROM ` +
        `r1.d${id}_1) WHERE coalesce(c1 IS DISTINCT FROM ?, TRUE)) ORDER BY o ASC NULLS FIRST LIMIT 35' USING 'it''s'`,
    )
    expect(headers).toMatchObject({
      authorization: basic('us@er', 'pass word'),
      'x-trino-user': 'us@er',
      'x-trino-catalog': 'lake',
      'x-trino-time-zone': 'UTC',
      'x-trino-client-capabilities': 'PARAMETRIC_DATETIME',
    })
    expect(await trino()).toMatchObject({ answered: 1, repeated: 0, failed: 0, running: 0 })
  })

  test('is waited for while Trino is busy', async () => {
    await start()
    let tried = 0
    const busy = (response: Parameters<Extract<Page, (...given: never[]) => unknown>>[0]) =>
      ++tried < 3 ? response.writeHead(503).end() : response.end('{"data":[["1","x"]]}')
    says({}, busy)
    expect((await ask(TOP)).body).toBe('n,word\n1,x\n')
    expect(tried).toBe(3)
  })
})

describe('a failure is not seen, since DuckDB answers the question', () => {
  const cut = (response: Parameters<Extract<Page, (...given: never[]) => unknown>>[0]) => {
    response.writeHead(200, { 'content-length': 1000 })
    response.write('{"data":[["1",')
    setTimeout(() => response.destroy(), 20)
  }
  const row = { data: [['1', 'x']] }
  test.each<[string, readonly Page[]]>([
    ['an error before the first row', [error('GENERIC_INTERNAL_ERROR', 'INTERNAL_ERROR')]],
    ['an error between the rows', [row, error('REMOTE_HOST_GONE', 'INTERNAL_ERROR')]],
    ['a value', [error('DIVISION_BY_ZERO', 'USER_ERROR')]],
    ['a cut connection', [row, cut]],
    ['an end without an answer', [{ stats: {} }]],
    ['a status', [row, (response) => response.writeHead(500).end('broken')]],
    ['a status that stays busy', [(response) => response.writeHead(503).end('busy')]],
    ['no JSON', [(response) => response.end('<html>')]],
    ['other columns', [{ data: [['1', 'x', 'y']] }]],
    ['other types', [{ data: [[1, 'x']] }]],
    ['no number', [{ data: [['1.5', 'x']] }]],
    ['too many rows', [{ data: Array.from({ length: 20 }, (_, n) => [String(n), 'x']) }]],
    ['an encoding of rows that was not asked for', [{ data: { encoding: 'json', segments: [] } }]],
  ])('%s', async (_, pages) => {
    await start({ trino: { maxRows: 10 } })
    says(...pages)
    const answer = await ask(TOP)
    expect([answer.statusCode, answer.body]).toEqual([200, FROM_DUCKDB])
    expect(await trino()).toMatchObject({ answered: 0, repeated: 1, failed: 0 })
    const logged = at.engine.stats()
    expect((await logged).events.trino_failed).toBe(1)
  })

  test('a Trino that is not there', async () => {
    await start()
    await fake[Symbol.asyncDispose]()
    const [rows, count] = [await ask(TOP), await ask('$format=csv&$filter=n gt 8&$top=1')]
    expect([rows.statusCode, rows.body]).toEqual([200, FROM_DUCKDB])
    expect([count.body, count.headers['row-count']]).toEqual(['n,word\n9,w9\n', '2'])
    fake = await FakeTrino.start()
  })
})

describe('a Trino that hangs costs three seconds, and after three failures a minute without it', () => {
  const queued = { stats: { state: 'QUEUED' } }
  const slowly = async (response: { end(text: string): void }) => {
    await wait(1_000)
    response.end(JSON.stringify({ ...queued, nextUri: `${fake.origin}/query/0/1` }))
  }
  test.each<[string, readonly Page[]]>([
    ['it does not answer', [() => {}]],
    ['the query stays queued', [queued, slowly]],
  ])('%s', async (_, pages) => {
    await start()
    says(...pages)
    const began = performance.now()
    const answer = await ask(TOP)
    expect([answer.statusCode, answer.body]).toEqual([200, FROM_DUCKDB])
    expect(performance.now() - began).toBeLessThan(7_000)
  })

  test('a pause begins with the third failure, whatever was asked, and ends with an answer', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      await start()
      says({ stats: {} })
      for (let asked = 1; asked <= 5; asked++) {
        expect((await ask(`${TOP}&$filter=n lt ${100 + asked}`)).body).toBe(FROM_DUCKDB)
      }
      const rows = () => fake.asked.filter(({ sql }) => !sql.includes('count(')).length
      expect(rows()).toBe(3)
      vi.advanceTimersByTime(61_000)
      expect((await ask(`${TOP}&$filter=n lt 106`)).body).toBe(FROM_DUCKDB)
      expect(rows()).toBe(4)
      expect((await ask(`${TOP}&$filter=n lt 107`)).body).toBe(FROM_DUCKDB)
      expect(rows()).toBe(4)
      vi.advanceTimersByTime(61_000)
      says({ data: [['1', 'x']] })
      expect((await ask(`${TOP}&$filter=n lt 108`)).body).toBe('n,word\n1,x\n')
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('if no time is left after a failure', () => {
  test.each([
    ['GENERIC_INTERNAL_ERROR', 'INTERNAL_ERROR', 503, 'overloaded'],
    ['QUERY_QUEUE_FULL', 'INSUFFICIENT_RESOURCES', 503, 'overloaded'],
    ['EXCEEDED_TIME_LIMIT', 'INSUFFICIENT_RESOURCES', 504, 'timeout'],
    ['DIVISION_BY_ZERO', 'USER_ERROR', 400, 'filter_failed'],
  ])('%s is an error of ours, and nothing of Trino is shown', async (name, type, status, code) => {
    await start({ firstByte: 1_000 })
    says(async (response: { end(text: string): void }) => {
      await wait(600)
      response.end(JSON.stringify(error(name, type)))
    })
    const answer = await ask(TOP)
    expect([answer.statusCode, answer.json().code]).toEqual([status, code])
    expect(answer.body).not.toMatch(/trino|secret|filter fails/i)
    expect(await trino()).toMatchObject({ answered: 0, repeated: 0, failed: 1 })
  })
})

describe('the query is ended in Trino', () => {
  const never = () => {}

  test('at the deadline of the first byte', async () => {
    await start({ firstByte: 500 })
    says({}, never)
    const answer = await ask(TOP)
    expect(answer.statusCode).toBe(504)
    await vi.waitFor(() => expect(fake.cancelled).toEqual(['/query/0/1']))
  })

  test('when the client leaves', async () => {
    await start()
    says({}, never)
    const { port } = new URL(await at.listen())
    const path = encodeURI(`/datasets/${id}/data?${TOP}`)
    const asking = request({ port, host: '127.0.0.1', path, headers: { authorization: basic(at.root) } })
    asking.on('error', () => {})
    asking.end()
    await vi.waitFor(() => expect(fake.asked).toHaveLength(1))
    await wait(100)
    asking.destroy()
    await vi.waitFor(() => expect(fake.cancelled).toEqual(['/query/0/1']))
    expect(await trino()).toMatchObject({ running: 0, repeated: 0 })
  })

  test('when more rows come than are wanted', async () => {
    await start({ trino: { maxRows: 10 } })
    says({ data: Array.from({ length: 11 }, (_, n) => [String(n), 'x']) }, {}, {}, {})
    expect((await ask(TOP)).body).toBe(FROM_DUCKDB)
    await vi.waitFor(() => expect(fake.cancelled).toHaveLength(1))
  })
})

test('an answer that is too large for memory is given up', async () => {
  await start()
  const client = new TrinoClient(fake.url, 1_000)
  const text = 'x'.repeat(600)
  const options = { types: ['string'], maxRows: 10 } as const
  says({ data: [[text]] }, { data: [[text]] }, {})
  await expect(client.answer('SELECT 1', options)).rejects.toThrow()
  says({ data: [[text]] })
  expect(await client.answer('SELECT 1', options)).toHaveLength(1)
  await client.close()
})

describe('Trino is not asked', () => {
  test.each([
    ['for few bytes', { minBytes: 1_000_000 }, TOP],
    ['with too few cores', { minBytes: undefined, cores: 4 }, TOP],
    ['for rows in the order of upload', {}, '$format=csv&$top=3'],
    ['for many rows', { maxRows: 2 }, TOP],
    ['for what it can not say in the same way', {}, '$format=csv&$filter=n divby 2 gt 4&$top=3'],
    ['for Parquet', {}, '$format=parquet&$top=3&$orderby=n desc'],
  ])('%s', async (_, limits, options) => {
    await start({ trino: limits })
    expect((await ask(options)).statusCode).toBe(200)
    expect(fake.asked).toEqual([])
  })

  test('where it has too few cores, which explain says', async () => {
    await start({ trino: { minBytes: undefined, cores: 4 } })
    using query = await (await at.engine.dataset(id)).query({ orderBy: 'n', top: 3 })
    expect(await query.explain()).toMatch(
      /^Read by: DuckDB, because Trino has too few cores to be quicker than this machine\n/,
    )
  })

  test('and explain says why', async () => {
    await start({ trino: { minBytes: 60, maxRows: 1_000 } })
    const why = async (options: object) => {
      using query = await (await at.engine.dataset(id)).query(options)
      return (await query.explain()).split('\n')[0]
    }
    const bytes = /it reads \d+ bytes of columns, fewer than 60$/
    expect(await why({ orderBy: 'n', top: 3, select: 'n' })).toMatch(bytes)
    expect(await why({ orderBy: 'n', top: 3 })).toMatch(/^Read by: Trino, because it reads \d+ bytes/)
    expect(await why({ orderBy: 'n' })).toMatch(/^Read by: DuckDB, because more rows may come back/)
    expect(await why({ apply: 'groupby((word,n))' })).toMatch(/^Read by: Trino/)
    expect(await why({ filter: "n divby 2 gt 1 and word ne ''", top: 5 })).toBe(
      'Read by: DuckDB, because Trino has no divby of integer, integer with the same meaning',
    )
    expect(await why({ search: 'w9', orderBy: 'n', top: 3 })).toMatch(/^Read by: Trino/)
    expect(fake.asked).toEqual([])
  })
})
