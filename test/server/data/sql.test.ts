import { gunzipSync } from 'node:zlib'
import { tableFromIPC } from 'apache-arrow'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dataset, type Platform, platform } from '../platform.ts'

let at: Platform
let ann: string
let bob: string
let private_: { repository: number; id: number }

beforeAll(async () => {
  at = await platform({ config: { plans: { small: { exportedRows: 25 } } as never } })
  ann = await at.account('ann')
  bob = await at.account('bob')
  await dataset(at, ann, { name: 'open' })
  private_ = await dataset(at, ann, { name: 'closed', private: true, csv: 'n,secret\n1,s1\n2,s2\n' })
})
afterAll(() => at[Symbol.asyncDispose]())

const sql = (key: string, text: string, query = '', headers: Record<string, string> = {}) =>
  at.call(key, 'POST', `/sql${query}`, { body: text, headers: { 'content-type': 'text/plain', ...headers } })

describe('formats, headers and options', () => {
  test('rows come in each format', async () => {
    const text = 'SELECT n, word FROM open ORDER BY n DESC LIMIT 2'
    expect((await sql(ann, text)).body).toBe('n,word\n10,\n9,w9\n')
    expect((await sql(ann, text, '?$format=tsv')).body).toBe('n\tword\n10\t\n9\tw9\n')
    expect((await sql(ann, text, '?$format=json')).json()).toEqual([
      { n: 10, word: null },
      { n: 9, word: 'w9' },
    ])
    expect((await sql(ann, text, '?$format=ndjson')).body).toBe('{"n":10,"word":null}\n{"n":9,"word":"w9"}\n')
    const arrow = tableFromIPC((await sql(ann, text, '?$format=arrow')).rawPayload)
    expect(arrow.toArray().map(String)).toEqual(['{"n": 10, "word": null}', '{"n": 9, "word": "w9"}'])
    for (const format of ['parquet', 'xlsx']) {
      const answer = await sql(ann, text, `?$format=${format}`)
      expect([answer.statusCode, answer.rawPayload.length > 200]).toEqual([200, true])
    }
  })

  test('GET takes the statement as q, with window, writing options and the number of rows', async () => {
    const url = `/sql?q=${encodeURIComponent('SELECT n FROM open')}&$top=2&$skip=3&$delimiter=;&$bom=true`
    const answer = await at.call(ann, 'GET', url)
    expect(answer.body).toBe('\ufeffn\n4\n5\n')
    expect(answer.headers['row-count']).toBe('10')
    expect(answer.headers['content-disposition']).toContain('query.csv')
    expect(answer.headers['server-timing']).toMatch(/plan;dur=/)
    expect((await at.call(ann, 'GET', '/sql')).statusCode).toBe(400)
    expect((await at.call(ann, 'GET', `${url}&$filter=n`)).statusCode).toBe(400)
    const zipped = await at.call(ann, 'GET', url, { headers: { 'accept-encoding': 'gzip' } })
    expect(gunzipSync(zipped.rawPayload).toString()).toBe('\ufeffn\n4\n5\n')
  })

  test('parameters are values, by number or by name', async () => {
    const post = (json: unknown) => at.call(ann, 'POST', '/sql', { json })
    const named = await post({
      sql: 'SELECT word FROM open WHERE n = $n AND word = $w',
      parameters: { n: 2, w: 'w2' },
    })
    expect(named.body).toBe('word\nw2\n')
    expect((await post({ sql: 'SELECT $1 AS a', parameters: ["x'; DROP TABLE open; --"] })).body).toBe(
      "a\nx'; DROP TABLE open; --\n",
    )
    for (const wrong of [
      { sql: 'SELECT $a', parameters: { b: 1 } },
      { sql: 'SELECT 1', parameters: [1] },
      { sql: 'SELECT $1', parameters: [{}] },
      { sql: 'SELECT 1', parameters: 1 },
      { sql: 'SELECT 1', extra: 1 },
      { sql: 1 },
      [],
    ])
      expect((await post(wrong)).statusCode, JSON.stringify(wrong)).toBe(400)
  })

  test('an ETag follows the tables, and there is none where time or chance decide', async () => {
    const text = 'SELECT sum(n) AS s FROM changing'
    const { id } = await dataset(at, ann, { name: 'changing' })
    const first = await sql(ann, text)
    const tag = String(first.headers.etag)
    expect(tag).toMatch(/^"/)
    expect((await sql(ann, text, '', { 'if-none-match': tag })).statusCode).toBe(304)
    await at.call(ann, 'POST', `/datasets/${id}/data`, {
      body: 'n,word\n100,x\n',
      headers: { 'content-type': 'text/csv' },
    })
    const second = await sql(ann, text, '', { 'if-none-match': tag })
    expect([second.statusCode, second.body]).toEqual([200, 's\n155\n'])
    expect((await sql(ann, 'SELECT sum(n) AS s FROM changing AT (VERSION => 1)')).body).toBe('s\n55\n')
    for (const volatile of [
      'SELECT now()',
      'SELECT random()',
      'SELECT current_timestamp',
      'SELECT n FROM open USING SAMPLE 2',
    ])
      expect((await sql(ann, volatile)).headers.etag, volatile).toBeUndefined()
  })

  test('$explain=true says what was read, in place of the rows', async () => {
    const { id } = await dataset(at, ann, { name: 'explained' })
    const told = await sql(ann, 'SELECT word FROM explained WHERE n > 3', '?$explain=true')
    expect(told.json()).toMatchObject({
      where: expect.stringContaining('process of its own'),
      verdict: expect.stringMatching(/^Reading .*Name only the columns that you need/),
      parts: { read: 1, of: 1, byRanges: 0 },
      rowGroups: { read: 1, of: 1 },
    })
    const counted = await sql(ann, 'SELECT count(*) FROM explained', '?$explain=true')
    expect(counted.json(), 'statistics alone answer it').toMatchObject({
      verdict: 'Nothing is read.',
      steps: [],
    })
    const joined =
      "SELECT e.word AS n, o.word AS x FROM explained e JOIN open o ON o.n = e.n WHERE e.word > 'b'"
    const scans = (await sql(ann, joined, '?$explain=true')).json().steps.slice(-2)
    for (const { details } of scans)
      expect(new Set(details.Projections), 'names of the table, not of the result').toEqual(
        new Set(['n', 'word']),
      )
    expect(JSON.stringify(scans)).toContain("word>'b'")
    const url = `/datasets/${id}/data?$filter=n gt 3&$select=word&$explain=true`
    const { steps, ...plan } = (await at.call(ann, 'GET', url)).json()
    expect(plan).toMatchObject({
      // With a Trino, it says why that doesn't read them.
      where: expect.stringMatching(/in the server|Read by: DuckDB, because/),
      strategy: expect.any(String),
      verdict: expect.stringMatching(/^Reading takes/),
      rowGroups: { read: 1, of: 1 },
      parts: { read: 1, of: 1, byRanges: 0 },
    })
    const scan = steps.at(-1)
    expect(scan).toMatchObject({ name: 'READ_PARQUET', rows: 7, ms: expect.any(Number) })
    expect(JSON.stringify(scan.details)).toContain('n>3')
    expect(JSON.stringify(steps)).not.toContain('.parquet')
    const named = `/datasets/${id}/data?$filter=n gt 3 or word eq 'a c0 b'&$explain=true`
    expect((await at.call(ann, 'GET', named)).body).toContain("'a c0 b'")
    expect((await at.call(bob, 'GET', `/datasets/${private_.id}/data?$explain=true`)).statusCode).toBe(403)
  })

  test('what is wrong is said with its place and the nearest name', async () => {
    const wrong = async (text: string) => {
      const { statusCode, body } = await sql(ann, text)
      expect(statusCode).toBe(400)
      return JSON.parse(body)
    }
    expect(await wrong('SELECT wrd FROM open')).toMatchObject({
      code: 'invalid_sql',
      error: expect.stringMatching(/Did you mean "word"\? \(at character 8\)$/),
    })
    expect(await wrong('SELECT * FROM opn')).toMatchObject({
      code: 'unknown_table',
      error: expect.stringMatching(/Did you mean "open"."open"\? \(at character 15\)$/),
    })
    expect(await wrong('SELECT 1 +')).toMatchObject({
      code: 'invalid_sql',
      error: expect.stringContaining('syntax error at end of input'),
    })
    expect(await wrong('SELECT uppr(word) FROM open')).toMatchObject({
      code: 'sql_not_allowed',
      error: expect.stringContaining('Did you mean upper?'),
    })
    expect(await wrong('SELECT 5, -1e400')).toEqual({
      position: 11,
      code: 'invalid_sql',
      error: 'A number is larger than 1.8e308. (at character 12)',
    })
    expect((await wrong("SELECT 'x'::integer")).error).toContain("Could not convert string 'x'")
  })
})

describe('rights', () => {
  test('a private table of others does not exist', async () => {
    for (const name of ['closed', 'closed.closed', `dataset_${private_.id}`]) {
      const answer = await sql(bob, `SELECT * FROM ${name}`)
      expect([answer.statusCode, answer.json().code]).toEqual([400, 'unknown_table'])
      expect(answer.body.replaceAll(name, '')).not.toMatch(/secret|"closed"/)
    }
    expect((await sql(ann, 'SELECT secret FROM closed')).body).toBe('secret\ns1\ns2\n')
    expect((await sql(bob, 'SELECT count(*) AS n FROM open.open')).body).toBe('n\n10\n')
  })

  test('a kept answer is not given to who has lost the right, at whatever moment that was', async () => {
    const members = `/repositories/${private_.repository}/members/bob`
    const grant = () => at.call(ann, 'PUT', members, { json: { permission: 'Read' } })
    const revoke = () => at.call(ann, 'DELETE', members)
    const text = 'SELECT secret FROM closed ORDER BY 1'
    await grant()
    expect((await sql(bob, text)).body).toContain('s1')
    await revoke()
    expect((await sql(bob, text)).statusCode).toBe(400)
    // The right ends after the statement was read and its columns were found, and before its rows are read.
    await grant()
    const account = await at.services.accounts.byName('bob')
    const tables = async () => {
      const readable = await at.services.access.readable(account)
      return (await at.engine.sqlTables()).filter(({ repositoryId }) => readable.has(repositoryId))
    }
    using query = await at.engine.sql(text, undefined, { tables })
    await revoke()
    await expect(query.bytes('csv')).rejects.toMatchObject({ code: 'unknown_table' })
    await expect(query.count()).rejects.toMatchObject({ code: 'unknown_table' })
    // Between reading the statement and naming its tables.
    await grant()
    const late = async () => {
      await revoke()
      return tables()
    }
    await expect(at.engine.sql(text, undefined, { tables: late })).rejects.toMatchObject({
      code: 'unknown_table',
    })
  })

  test('rows count against the plan', async () => {
    const key = await at.account('small', 'small')
    expect((await sql(key, 'SELECT * FROM range(20)')).statusCode).toBe(200)
    const over = await sql(key, 'SELECT * FROM range(6)')
    expect([over.statusCode, over.json().code]).toEqual([402, 'plan_limit'])
    expect((await sql(key, 'SELECT * FROM range(5)')).statusCode).toBe(200)
  })
})

describe('a statement that is too much', () => {
  test('is given up at the deadline', { timeout: 60_000 }, async () => {
    await using slow = await platform({ config: { timeouts: { firstByte: 6_000 } } })
    const answer = await slow.call(slow.root, 'POST', '/sql', {
      json: { sql: 'SELECT count(*) FROM range(1000000000) a, range(1000)' },
    })
    expect([answer.statusCode, answer.json().code]).toEqual([504, 'timeout'])
    // Another process takes the place of the one that was ended.
    await expect
      .poll(async () => (await slow.call(slow.root, 'GET', '/sql?q=SELECT+1+AS+a')).body, { timeout: 30_000 })
      .toBe('a\n1\n')
  })
})
