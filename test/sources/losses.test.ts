import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Platform, platform } from '../server/platform.ts'
import { type Following, following } from './following.ts'

describe('a refresh of series', () => {
  let at: Following
  beforeAll(async () => {
    at = await following()
  })
  afterAll(() => at[Symbol.asyncDispose]())

  let id: number
  beforeEach(async () => {
    at.series.clear()
    at.series.set('A', [1, 2, 3, 4])
    at.series.set('B', [10])
    for (const { id } of await at.at.engine.datasets()) await at.at.engine.deleteDataset(id)
    id = await at.dataset()
    at.clock.now = new Date(at.clock.now.getTime() + 100 * 86_400_000)
  })

  /** The values in the dataset, by the id of their series. */
  const values = async () => {
    const lines = (await at.csv(id)).trim().split('\n').slice(1)
    const found: Record<string, string[]> = {}
    for (const line of lines) {
      const cells = line.split(',')
      const value = cells[6]!
      found[cells[0]!] = [...(found[cells[0]!] ?? []), value]
    }
    return found
  }
  const version = async () => (await (await at.at.engine.dataset(id)).record()).version

  it.each([
    ['nothing', [], 'There are no values where there were 4, so the earlier rows are kept.'],
    ['only gaps', [NaN, NaN, NaN, NaN], 'There are no values where there were 4'],
    ['fewer than half', [7], 'There is only 1 value where there were 4'],
  ])('keeps the rows of a series of which %s came, names it, and refreshes the others', async (_, now, says) => {
    await at.follow(id, { series: ['fred/A', 'fred/B'], every: 'day' })
    at.series.set('A', now)
    at.series.set('B', [11])
    await at.later(24)
    expect(await values()).toEqual({ 'fred/A': ['1', '2', '3', '4'], 'fred/B': ['11'] })
    const source = await at.source(id)
    expect(source['lastError']).toContain(`fred/A: ${says}`)
    expect(source['missing']).toEqual([
      { series: 'fred/A', code: 'fewer_rows', error: expect.stringContaining(says) },
    ])
    expect(at.at.log).toContainEqual({
      level: 'warn',
      msg: expect.stringContaining(`Dataset ${id} could not be refreshed: fred/A: ${says}`),
    })
    expect(Date.parse(String(source['nextRun'])) - at.clock.now.getTime()).toBe(5 * 60_000)
    at.series.set('A', [1, 2, 3, 5])
    // After what the provider's answer stays fresh.
    await at.later(0.3)
    expect(await values()).toEqual({ 'fred/A': ['1', '2', '3', '5'], 'fred/B': ['11'] })
    expect(await at.source(id)).toMatchObject({ lastError: null, missing: [] })
  })

  it('makes no version of rows that are only kept', async () => {
    await at.follow(id, { series: ['fred/A'], every: 'day' })
    const before = await version()
    at.series.set('A', [])
    await at.later(24)
    expect(await version()).toBe(before)
    await at.later(24)
    expect(await values()).toEqual({ 'fred/A': ['1', '2', '3', '4'] })
  })

  it('takes half of the values, revisions, and a series that begins empty', async () => {
    at.series.set('B', [])
    await at.follow(id, { series: ['fred/A', 'fred/B'], every: 'day' })
    at.series.set('A', [8, 9])
    await at.later(24)
    expect(await at.source(id)).toMatchObject({ lastError: null, missing: [] })
    expect(await values()).toEqual({ 'fred/A': ['8', '9'] })
  })

  it('takes fewer once that is confirmed, and only that time', async () => {
    await at.follow(id, { series: ['fred/A'], every: 'day' })
    at.series.set('A', [7])
    const again = { series: ['fred/A'], every: 'day' }
    await at.later(0.3)
    expect(await at.follow(id, again)).toMatchObject({ missing: [{ code: 'fewer_rows' }] })
    expect(await at.follow(id, { ...again, confirm: true })).toMatchObject({ lastError: null, missing: [] })
    expect(await values()).toEqual({ 'fred/A': ['7'] })
    at.series.set('A', [])
    await at.later(24)
    expect(await at.source(id)).toMatchObject({ missing: [{ code: 'fewer_rows' }] })
    expect(await values()).toEqual({ 'fred/A': ['7'] })
  })

  it('compares only what lies after a start that was set later', async () => {
    await at.follow(id, { series: ['fred/A'], every: 'day' })
    expect(await at.follow(id, { series: ['fred/A'], start: '2024-04-01' })).toMatchObject({
      lastError: null,
    })
    expect(await values()).toEqual({ 'fred/A': ['4'] })
  })

  it('keeps rows of an earlier source of the same series', async () => {
    await at.follow(id, { series: ['fred/A', 'fred/B'], every: 'day' })
    await at.at.call(at.ada, 'DELETE', `/datasets/${id}/source`)
    at.series.set('A', 503)
    at.series.set('B', [11])
    await at.later(0.3)
    await at.follow(id, { series: ['fred/A', 'fred/B'], every: 'day' })
    expect(await values()).toEqual({ 'fred/A': ['1', '2', '3', '4'], 'fred/B': ['11'] })
    at.series.set('A', [])
    await at.later(24)
    expect(await values()).toEqual({ 'fred/A': ['1', '2', '3', '4'], 'fred/B': ['11'] })
  })
})

describe('a refresh of a pattern of series', () => {
  const csv = (rows: readonly string[]) =>
    `KEY,FREQ,CURRENCY,TYPE,TIME_PERIOD,OBS_VALUE,TITLE\n${rows
      .map((row) => {
        const [currency, period, value] = row.split(' ')
        return `RATES.M.${currency}.S,M,${currency},S,${period},${value},${currency}`
      })
      .join('\n')}\n`

  it('keeps a series that the pattern no longer finds, and takes new ones', async () => {
    let now = new Date('2026-03-01T10:00:00Z')
    let body = csv(['USD 2024-01 1', 'USD 2024-02 2', 'GBP 2024-01 3'])
    await using at = await platform({ routes: { '*': () => ({ type: 'text/csv', body }) }, now: () => now })
    const { id: repositoryId } = (
      await at.call(at.root, 'POST', '/repositories', { json: { name: 'r' } })
    ).json()
    const { id } = (await at.call(at.root, 'POST', '/datasets', { json: { name: 'd', repositoryId } })).json()
    const source = async () => (await at.call(at.root, 'GET', `/datasets/${id}/source`)).json()
    const rows = async () =>
      (await at.call(at.root, 'GET', `/datasets/${id}/data?$select=series_id,value`)).body
    await at.call(at.root, 'PUT', `/datasets/${id}/source`, { json: { series: ['ecb/RATES/M..S'] } })
    await at.services.refresher.runDue()
    expect(await rows()).toBe(
      'series_id,value\necb/RATES/M.GBP.S,3\necb/RATES/M.USD.S,1\necb/RATES/M.USD.S,2\n',
    )
    body = csv(['USD 2024-01 1', 'USD 2024-02 5', 'JPY 2024-01 9'])
    now = new Date(now.getTime() + 86_400_000)
    await at.services.refresher.runDue()
    expect((await source()).missing).toEqual([
      {
        series: 'ecb/RATES/M..S',
        code: 'fewer_rows',
        error: expect.stringContaining('There are no values of ecb/RATES/M.GBP.S where there was 1'),
      },
    ])
    expect((await rows()).split('\n').slice(1, -1).sort()).toEqual([
      'ecb/RATES/M.GBP.S,3',
      'ecb/RATES/M.JPY.S,9',
      'ecb/RATES/M.USD.S,1',
      'ecb/RATES/M.USD.S,5',
    ])
  })
})

describe('a refresh of a file', () => {
  let at: Platform
  let now = new Date('2030-01-01T00:00:00Z')
  let answer: (response: ServerResponse) => void
  const server = createServer((_, response) => answer(response))
  let base: string
  let repositoryId: number
  beforeAll(async () => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    at = await platform({
      now: () => now,
      config: { sources: { hosts: [], privateHosts: ['127.0.0.1'] } },
    })
    repositoryId = (await at.call(at.root, 'POST', '/repositories', { json: { name: 'r' } })).json().id
  })
  afterAll(async () => {
    await at[Symbol.asyncDispose]()
    server.close()
  })
  const put = async (id: number, json: object) => {
    await at.call(at.root, 'PUT', `/datasets/${id}/source`, { json })
    await at.services.refresher.runDue()
    return (await at.call(at.root, 'GET', `/datasets/${id}/source`)).json()
  }
  const rows = async (id: number) => (await at.call(at.root, 'GET', `/datasets/${id}/data`)).body
  let made = 0
  const followed = async (file: string, body: string, more: object = {}) => {
    const json = { name: `d${++made}`, repositoryId }
    const { id } = (await at.call(at.root, 'POST', '/datasets', { json })).json()
    answer = (response) => response.end(body)
    await put(id, { url: `${base}/${file}`, every: 'day', ...more })
    return id as number
  }
  const later = async (id: number) => {
    now = new Date(now.getTime() + 2 * 86_400_000)
    await at.services.refresher.runDue()
    return (await at.call(at.root, 'GET', `/datasets/${id}/source`)).json().lastError as string | null
  }

  const FOUR = 'k,v\n1,a\n2,b\n3,c\n4,d\n'
  const page = '<!DOCTYPE html><html><body>Sorry, we are down</body></html>'

  it.each([
    ['an empty file', '', /./],
    ['a header alone', 'k,v\n', /There are no rows in the file where there were 4/],
    ['fewer than half', 'k,v\n1,a\n', /There is only 1 row in the file where there were 4/],
    [
      'a column without values',
      'k,v\n1,\n2,\n3,\n',
      /There are no values of "v" in the file where there were 4/,
    ],
    ['a page with 200', page, /a page or an error message in place of the file/],
    ['XML with 200', '\uFEFF<?xml version="1.0"?><Error/>', /a page or an error message/],
    ['JSON with 200', '{"error": "too many requests"}', /a page or an error message/],
  ])('of csv keeps the rows if it is %s', async (_, body, says) => {
    for (const options of [{}, { options: { columns: 'replace' } }]) {
      const id = await followed('x.csv', FOUR, options)
      answer = (response) => response.end(body)
      expect(await later(id)).toMatch(says)
      expect(await rows(id)).toBe(FOUR)
      answer = (response) => response.end(FOUR.replace('d', 'e'))
      expect(await later(id)).toBeNull()
      expect(await rows(id)).toBe(FOUR.replace('d', 'e'))
    }
  })

  it('of an upsert keeps the rows if a column of most of them has no values any more', async () => {
    const id = await followed('x.csv', FOUR, { mode: 'upsert', options: { on: 'k' } })
    answer = (response) => response.end('k,v\n3,\n4,\n')
    expect(await later(id)).toMatch(/There are no values of "v" in the file where there were 4/)
    expect(await rows(id)).toBe(FOUR)
    // Of few rows, or with new keys, or without the column.
    for (const [body, then] of [
      ['k,v\n4,\n', FOUR.replace('4,d', '4,')],
      ['k\n1\n2\n3\n', FOUR.replace('4,d', '4,')],
      ['k,v\n5,\n6,\n7,\n', `${FOUR.replace('4,d', '4,')}5,\n6,\n7,\n`],
    ] as const) {
      answer = (response) => response.end(body)
      expect(await later(id)).toBeNull()
      expect((await rows(id)).split('\n').toSorted()).toEqual(then.split('\n').toSorted())
    }
  })

  const K = '<table><tr><th>k<tr><td>1<tr><td>2<tr><td>3</table>'

  it.each([
    ['ndjson', '{"k":1}\n{"k":2}\n{"k":3}\n', '', /no columns/],
    ['ndjson', '{"k":1}\n{"k":2}\n{"k":3}\n', page, /a page or an error message/],
    ['json', '[{"k":1},{"k":2},{"k":3}]', '[]', /no columns/],
    ['json', '[{"k":1},{"k":2},{"k":3}]', '{"message":"down"}', /./],
    ['json', '[{"k":1},{"k":2},{"k":3}]', page, /a page or an error message/],
    ['html', K, page, /a page or an error message/],
    ['xls', K, `<h1>Sorry</h1>${K.replace('th', 'td')}`, /a page or an error message/],
  ])('of %s keeps the rows: %s, then %s', async (format, first, second, says) => {
    const id = await followed(`x.${format}`, first, { options: { columns: 'replace' } })
    answer = (response) => response.end(second)
    expect(await later(id)).toMatch(says)
    expect(await rows(id)).toBe('k\n1\n2\n3\n')
  })

  it('is a failure from the start if it is a page', async () => {
    const id = await followed('x.csv', page)
    expect((await at.call(at.root, 'GET', `/datasets/${id}/source`)).json()).toMatchObject({
      lastError: expect.stringContaining('a page or an error message in place of the file'),
      lastVersion: null,
    })
  })

  it('takes half of the rows, other beginnings with brackets, and fewer rows once confirmed', async () => {
    const id = await followed('x.csv', FOUR)
    answer = (response) => response.end('k,v\n1,<html>\n2,{}\n')
    expect(await later(id)).toBeNull()
    expect(await rows(id)).toBe('k,v\n1,<html>\n2,{}\n')
    answer = (response) => response.end('k,v\n')
    expect((await put(id, { url: `${base}/x.csv` })).lastError).toMatch(/no rows/)
    expect((await put(id, { url: `${base}/x.csv`, confirm: true })).lastError).toBeNull()
    expect(await rows(id)).toBe('k,v\n')
    const sparse = await followed('z.csv', 'k,v\n1,a\n2,\n3,\n')
    answer = (response) => response.end('k,v\n1,\n2,\n3,\n')
    expect(await later(sparse)).toBeNull()
    const other = await followed('y.csv', '<5,[a]\n1,2\n')
    expect(await rows(other)).toBe('<5,[a]\n1,2\n')
  })

  it('adds nothing where an empty file is appended', async () => {
    const id = await followed('x.csv', FOUR, { mode: 'append' })
    answer = (response) => response.end('k,v\n')
    expect(await later(id)).toBeNull()
    expect(await rows(id)).toBe(FOUR)
  })
})
