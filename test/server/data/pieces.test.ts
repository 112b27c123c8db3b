import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { dataset, type Platform, platform } from '../platform.ts'

const ROWS = 60_000
const CSV = `n,word\n${Array.from({ length: ROWS }, (_, i) => `${i},w${i % 7}`).join('\n')}\n`

let at: Platform
let key: string
let url: string
let whole: Buffer
beforeAll(async () => {
  at = await platform()
  key = await at.account('ada')
  const { id } = await dataset(at, key, { name: 'tables', csv: CSV })
  url = `/datasets/${id}/data`
  whole = (await at.call(key, 'GET', url)).rawPayload
})
afterAll(() => at[Symbol.asyncDispose]())

const get = (headers: Record<string, string> = {}, options = '', method = 'GET') =>
  at.call(key, method, url + options, { headers })

const exported = async (of: string): Promise<number> =>
  (await at.call(of, 'GET', '/account')).json().usage.exportedRows

describe('an export', () => {
  test('tells its length to HEAD, and gives ranges of the same bytes', async () => {
    const head = await get({}, '', 'HEAD')
    expect(head.statusCode).toBe(200)
    expect(head.rawPayload).toHaveLength(0)
    expect(head.headers).toMatchObject({
      'content-length': String(whole.length),
      'accept-ranges': 'bytes',
      'content-type': 'text/csv; charset=utf-8',
    })
    const piece = await get({ range: 'bytes=1000-4999' })
    expect([piece.statusCode, piece.headers['content-range']]).toEqual([
      206,
      `bytes 1000-4999/${whole.length}`,
    ])
    expect(piece.rawPayload.equals(whole.subarray(1000, 5000))).toBe(true)
    expect(piece.headers['etag']).toBe(head.headers['etag'])
    const end = await get({ range: 'bytes=-10' })
    expect(end.body).toBe(whole.subarray(-10).toString())
    expect((await get({ range: `bytes=${whole.length}-` })).statusCode).toBe(416)
    expect((await get({ range: 'lines=1-2' })).statusCode).toBe(200)
  })

  test('has its number of rows beside a range, and goes on only for the same bytes', async () => {
    const options = '?$filter=n ge 1000&$count=true'
    const first = await get({ range: 'bytes=0-99' }, options)
    expect([first.statusCode, first.headers['row-count']]).toEqual([206, String(ROWS - 1000)])
    const { etag } = first.headers
    const next = await get({ range: 'bytes=100-', 'if-range': etag as string }, options)
    expect(next.statusCode).toBe(206)
    const all = await get({}, options)
    expect(first.body + next.body).toBe(all.body)
    expect((await get({ range: 'bytes=100-', 'if-range': '"another"' }, options)).statusCode).toBe(200)
    expect((await get({ 'if-none-match': etag as string }, options)).statusCode).toBe(304)
  })

  test('of a format whose bytes may differ is not continued with other bytes', async () => {
    const later = await get({ range: 'bytes=100-' }, '?$format=parquet&$filter=n ge 9')
    expect(later.statusCode).toBe(200)
    const options = '?$format=parquet&$filter=n ge 10'
    const head = await get({}, options, 'HEAD')
    const tag = head.headers['etag'] as string
    expect(tag).not.toMatch(/^W/)
    const pieces = await Promise.all(
      ['bytes=0-99', 'bytes=100-'].map((range) => get({ range, 'if-range': tag }, options)),
    )
    expect(pieces.map(({ statusCode }) => statusCode)).toEqual([206, 206])
    const joined = Buffer.concat(pieces.map(({ rawPayload }) => rawPayload))
    expect(joined).toHaveLength(Number(head.headers['content-length']))
    expect(joined.subarray(-4).toString()).toBe('PAR1')
  })

  test('says that it can be read in pieces only where a client that was cut off can get the same bytes', async () => {
    const offered = async (options: string, method = 'GET', headers = {}) =>
      (await get(headers, options, method)).headers['accept-ranges']
    for (const format of ['xlsx', 'arrow']) {
      const options = `?$format=${format}&$filter=n ge 11`
      expect([format, await offered(options)]).toEqual([format, undefined])
      expect([format, await offered(options, 'HEAD')]).toEqual([format, 'bytes'])
      expect([format, await offered(options, 'GET', { range: 'bytes=0-' })]).toEqual([format, 'bytes'])
    }
    expect(await offered('?$filter=n ge 11')).toBe('bytes')
    await using small = await platform({ config: { limits: { exportFileBytes: 0 } } as never })
    const { id } = await dataset(small, small.root, { csv: CSV })
    const rows = await small.call(small.root, 'GET', `/datasets/${id}/data`, {
      headers: { range: 'bytes=0-9' },
    })
    expect([rows.statusCode, rows.headers['accept-ranges'], rows.body.length]).toEqual([
      200,
      undefined,
      whole.length,
    ])
  })

  test('counts the rows of the bytes that were read, and those of HEAD not at all', async () => {
    const eve = await at.account('eve')
    const options = '?$filter=n ge 30'
    await at.call(eve, 'HEAD', url + options)
    expect(await exported(eve)).toBe(0)
    const head = await at.call(eve, 'HEAD', url + options)
    const half = Math.round(Number(head.headers['content-length']) / 2)
    await at.call(eve, 'GET', url + options, { headers: { range: `bytes=0-${half - 1}` } })
    const used = await exported(eve)
    expect(used).toBeGreaterThan(ROWS * 0.49)
    expect(used).toBeLessThan(ROWS * 0.51)
  })

  test('is written once for all who ask at the same time', async () => {
    const options = '?$filter=n ge 40'
    const before = readdirSync(at.engine.temporary).filter((name) => name.startsWith('export-')).length
    const pieces = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        get({ range: `bytes=${index * 1000}-${index * 1000 + 999}` }, options),
      ),
    )
    expect(pieces.every(({ statusCode }) => statusCode === 206)).toBe(true)
    const after = readdirSync(at.engine.temporary).filter((name) => name.startsWith('export-')).length
    expect(after - before).toBe(1)
  })

  test('that was cut five times is resumed by curl to the same bytes', async () => {
    const address = await at.listen()
    const file = join(at.directory, 'resumed.csv')
    const resume = () =>
      promisify(execFile)('curl', ['-sS', '-u', `${key}:`, '-C', '-', '-o', file, `${address}${url}`])
    await resume()
    for (const share of [0.1, 0.3, 0.5, 0.7, 0.99]) {
      truncateSync(file, Math.round(whole.length * share))
      await resume()
      expect(statSync(file).size).toBe(whole.length)
    }
    const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
    expect(hash(readFileSync(file))).toBe(hash(whole))
  })
})

describe('files for ranges', () => {
  test('make room for others, and none is larger than all may be: the export is then sent whole', async () => {
    await using small = await platform({ config: { limits: { exportFileBytes: 500_000 } as never } })
    const root = small.root
    const { id } = await dataset(small, root, { name: 'tables', csv: CSV })
    const ask = (filter: string, method = 'GET') =>
      small.call(root, method, `/datasets/${id}/data?$filter=${filter}`, { headers: { range: 'bytes=0-9' } })
    const files = () => readdirSync(small.engine.temporary).filter((name) => name.startsWith('export-'))
    for (const n of [1, 2, 3]) {
      expect((await ask(`n lt ${20_000 + n}`)).statusCode).toBe(206)
      await vi.waitFor(() => expect(files().length).toBeLessThanOrEqual(2))
    }
    const large = await ask('n ge 1')
    expect([large.statusCode, large.headers['content-length']]).toEqual([200, undefined])
    expect(large.body.split('\n')).toHaveLength(ROWS + 1)
    const head = await small.call(root, 'HEAD', `/datasets/${id}/data?$filter=n ge 1`)
    expect([head.statusCode, head.headers['content-length']]).toEqual([200, undefined])
  })
})
