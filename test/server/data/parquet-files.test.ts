import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ERROR_TABLE } from '../../../server/http/errors.ts'
import { rangesIn } from '../../../server/transfers/pieces.ts'
import { dataset, type Platform, platform } from '../platform.ts'

const ROWS = 20_000
const CSV = `n,Body Mass (g)\n${Array.from({ length: ROWS }, (_, i) => `${i},w${i % 7}`).join('\n')}\n`

let at: Platform
let key: string
let id: number
let url: string
let whole: Buffer
beforeAll(async () => {
  at = await platform()
  key = await at.account('ada')
  id = (await dataset(at, key, { name: 'tables', csv: CSV })).id
  const [file] = (await at.call(key, 'GET', `/datasets/${id}/parquet`)).json()
  url = new URL(file.url).pathname
  whole = (await at.call(key, 'GET', url)).rawPayload
})
afterAll(() => at[Symbol.asyncDispose]())

const get = (headers: Record<string, string> = {}) => at.call(key, 'GET', url, { headers })

describe('the list of files', () => {
  test('has names, rows and bytes, and addresses that end in .parquet', async () => {
    const files = (await at.call(key, 'GET', `/datasets/${id}/parquet`)).json()
    expect(files).toEqual([
      {
        url: expect.stringMatching(/^http:.*\/parquet\/1\/\d+\.parquet\?ticket=/),
        rows: ROWS,
        bytes: whole.length,
      },
    ])
  })

  test('has tickets next to which an API key may stand', async () => {
    const [file] = (await at.call(key, 'GET', `/datasets/${id}/parquet`)).json()
    const { pathname, search } = new URL(file.url)
    for (const query of [`${search}&apiKey=${key}`, search.replace('?', `?apiKey=${key}&`)]) {
      const answer = await at.call(undefined, 'HEAD', `${pathname}${query}`)
      expect([answer.statusCode, answer.headers['content-length']]).toEqual([200, String(whole.length)])
    }
  })

  test('of a version that never was is 404, as of another dataset', async () => {
    expect((await at.call(key, 'GET', `/datasets/${id}/parquet?version=77`)).statusCode).toBe(404)
    expect((await at.call(key, 'GET', '/datasets/999/parquet')).statusCode).toBe(404)
    expect((await at.call(key, 'GET', `/datasets/${id}/parquet/1/x.parquet`)).statusCode).toBe(404)
    expect((await at.call(key, 'GET', `/datasets/${id}/parquet/x/1.parquet`)).statusCode).toBe(404)
  })

  test('is for those who may read', async () => {
    const made = await dataset(at, key, { name: 'secret', private: true })
    const [file] = (await at.call(key, 'GET', `/datasets/${made.id}/parquet`)).json()
    const other = await at.account('bob')
    expect((await at.call(other, 'GET', `/datasets/${made.id}/parquet`)).statusCode).toBe(403)
    expect((await at.call(other, 'GET', new URL(file.url).pathname)).statusCode).toBe(403)
  })
})

describe('a file', () => {
  test('is Parquet with the columns as the dataset names them', async () => {
    const { mkdtempSync, rmSync, writeFileSync } = await import('node:fs')
    const { openFiles } = await import('../../../engine/index.ts')
    const folder = mkdtempSync(`${at.directory}/files-`)
    writeFileSync(`${folder}/a.parquet`, whole)
    await using files = await openFiles([`${folder}/a.parquet`])
    using query = files.query({ filter: 'n ge 19998' })
    const rows: unknown[] = []
    for await (const row of query.rows()) rows.push(row)
    expect(rows).toEqual([
      { n: 19998, 'Body Mass (g)': 'w6' },
      { n: 19999, 'Body Mass (g)': 'w0' },
    ])
    rmSync(folder, { recursive: true })
  })

  test('tells its length and that it takes ranges, to HEAD without a body', async () => {
    for (const method of ['HEAD', 'GET']) {
      const { headers, statusCode } = await at.call(key, method, url)
      expect([statusCode, headers['content-length'], headers['accept-ranges']]).toEqual([
        200,
        String(whole.length),
        'bytes',
      ])
    }
    expect((await at.call(key, 'HEAD', url)).rawPayload).toHaveLength(0)
    const head = await at.call(key, 'HEAD', url, { headers: { range: 'bytes=0-9' } })
    expect([head.statusCode, head.headers['content-length']]).toEqual([206, '10'])
  })

  test('gives any range, over the border between rows and footer too', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(whole.length + 100), async (from, length) => {
        const response = await get({ range: `bytes=${from}-${from + length}` })
        const to = Math.min(from + length + 1, whole.length)
        expect(response.statusCode).toBe(206)
        expect(response.headers['content-range']).toBe(`bytes ${from}-${to - 1}/${whole.length}`)
        expect(response.rawPayload.equals(whole.subarray(from, to))).toBe(true)
      }),
      { numRuns: 30 },
    )
    const last = await get({ range: 'bytes=-8' })
    expect(last.rawPayload.toString('latin1').slice(4)).toBe('PAR1')
  })

  test('gives several ranges in one body', async () => {
    const response = await get({ range: 'bytes=0-3, 10-19,-4' })
    const boundary = /boundary=(\w+)/.exec(String(response.headers['content-type']))![1]!
    expect(response.headers['content-length']).toBe(String(response.rawPayload.length))
    const parts = response.rawPayload.toString('latin1').split(`\r\n--${boundary}`)
    expect(parts.at(-1)).toBe('--\r\n')
    const bodies = parts.slice(1, -1).map((part) => part.split('\r\n\r\n')[1])
    expect(bodies).toEqual(['PAR1', whole.subarray(10, 20).toString('latin1'), 'PAR1'])
  })

  test('has no range behind its end', async () => {
    const response = await get({ range: `bytes=${whole.length}-` })
    expect([response.statusCode, response.headers['content-range']]).toEqual([416, `bytes */${whole.length}`])
    expect(response.json()).toMatchObject({ code: 'range_not_satisfiable' })
    expect(ERROR_TABLE.get('range_not_satisfiable')).toMatchObject({ status: 416 })
  })

  test('is sent whole where the range belongs to another state, and not at all to who has it', async () => {
    const etag = String((await get()).headers['etag'])
    expect((await get({ range: 'bytes=0-3', 'if-range': etag })).statusCode).toBe(206)
    expect((await get({ range: 'bytes=0-3', 'if-range': '"other"' })).statusCode).toBe(200)
    expect((await get({ 'if-none-match': etag })).statusCode).toBe(304)
  })

  test('stays readable under its address while others write', async () => {
    const made = await dataset(at, key, { name: 'changing', csv: 'n\n1\n' })
    const [file] = (await at.call(key, 'GET', `/datasets/${made.id}/parquet`)).json()
    const path = new URL(file.url).pathname
    const before = (await at.call(key, 'GET', path)).rawPayload
    await at.call(key, 'PUT', `/datasets/${made.id}/data`, {
      body: 'n\n2\n3\n',
      headers: { 'content-type': 'text/csv' },
    })
    await at.engine.settled()
    const after = await at.call(key, 'GET', path)
    expect(after.statusCode).toBe(200)
    expect(after.rawPayload.equals(before)).toBe(true)
    const [current] = (await at.call(key, 'GET', `/datasets/${made.id}/parquet`)).json()
    expect([current.rows, current.url === file.url]).toEqual([2, false])
  })

  test('counts each of its rows once, however it is read', async () => {
    const used = async (who: string) => (await at.call(who, 'GET', '/account')).json().usage.exportedRows
    const one = await at.account('one', 'free')
    await at.call(one, 'GET', url)
    expect(await used(one)).toBe(ROWS)
    const two = await at.account('two', 'free')
    const step = Math.ceil(whole.length / 10)
    for (let from = 0; from < whole.length; from += step) {
      await at.call(two, 'GET', url, { headers: { range: `bytes=${from}-${from + step - 1}` } })
    }
    expect(await used(two)).toBeGreaterThanOrEqual(ROWS)
    expect(await used(two)).toBeLessThan(ROWS + 20)
    const three = await at.account('three', 'free')
    // The footer holds no rows.
    await at.call(three, 'GET', url, { headers: { range: 'bytes=-100' } })
    expect(await used(three)).toBe(0)
  })
})

test('malformed ranges are passed over, as the standard says', () => {
  for (const header of ['bytes=a-b', 'bytes=5-3', 'bytes=-', 'rows=0-1', 'bytes', undefined]) {
    expect(rangesIn(header, 100)).toBeUndefined()
  }
  expect(rangesIn('bytes=0-0,5-', 10)).toEqual([
    { from: 0, to: 1 },
    { from: 5, to: 10 },
  ])
  expect(rangesIn('bytes=-500', 100)).toEqual([{ from: 0, to: 100 }])
  expect(rangesIn('bytes=-0', 100)).toBe('none')
  expect(rangesIn(`bytes=${'0-0,'.repeat(200)}0-0`, 100)).toBe('none')
})
