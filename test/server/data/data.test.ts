import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { tableFromIPC } from 'apache-arrow'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataset, NUMBERS, type Platform, platform } from '../platform.ts'

let at: Platform
let ada: string
let id: number
beforeAll(async () => {
  at = await platform()
  ada = await at.account('ada')
  id = (await dataset(at, ada, { name: 'Zahlen “und” Wörter/№1' })).id
})
afterAll(() => at[Symbol.asyncDispose]())

const get = (query = '', headers: Record<string, string> = {}, method = 'GET') =>
  at.call(ada, method, `/datasets/${id}/data${query}`, { headers })
const errorOf = async (query: string) => {
  const response = await get(query)
  expect(response.statusCode, query).toBe(400)
  expect(response.headers['row-count']).toBeUndefined()
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  return response.json().error as string
}

it('a table wider than a sheet is refused as xlsx before the first byte, and taken in another format', async () => {
  const { repository } = await dataset(at, ada)
  const columns = Array.from({ length: 16_385 }, (_, index) => ({ name: `c${index}`, type: 'integer' }))
  const made = await at.call(ada, 'POST', '/datasets', {
    json: { name: 'wide', repositoryId: repository, columns },
  })
  expect(made.statusCode).toBe(201)
  const { id } = made.json()
  const refused = await at.call(ada, 'GET', `/datasets/${id}/data?$format=xlsx`)
  expect(refused.statusCode).toBe(400)
  expect(refused.json()).toEqual({
    error: expect.stringMatching(/16,384 columns, the result has 16,385/),
    code: 'not_representable',
  })
  const whole = await at.call(ada, 'GET', `/datasets/${id}/data`)
  expect(whole.body).toBe(`${columns.map(({ name }) => name).join()}\n`)
})

describe('formats', () => {
  it('csv is the default', async () => {
    const response = await get()
    expect(response.statusCode).toBe(200)
    expect(response.headers['content-type']).toBe('text/csv; charset=utf-8')
    expect(response.body).toBe(NUMBERS)
  })

  it.each([
    ['csv', 'text/csv; charset=utf-8'],
    ['tsv', 'text/tab-separated-values; charset=utf-8'],
    ['json', 'application/json; charset=utf-8'],
    ['ndjson', 'application/x-ndjson'],
    ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    ['parquet', 'application/vnd.apache.parquet'],
    ['arrow', 'application/vnd.apache.arrow.stream'],
    ['arrow-file', 'application/vnd.apache.arrow.file', 'arrow'],
  ])('%s is sent as %s, under a name of its own', async (format, type, ending = format) => {
    const response = await get(`?$format=${format}`)
    expect(response.statusCode).toBe(200)
    expect(response.headers['content-type']).toBe(type)
    expect(response.headers['content-disposition']).toMatch(
      new RegExp(`\\.${ending}"; filename\\*=.*\\.${ending}$`),
    )
    expect(response.rawPayload.length).toBeGreaterThan(0)
  })

  it('json is an array of objects, arrow a stream of batches', async () => {
    expect((await get('?$format=json&$top=2')).json()).toEqual([
      { n: 1, word: null },
      { n: 2, word: 'w2' },
    ])
    expect(tableFromIPC((await get('?$format=arrow')).rawPayload).numRows).toBe(10)
  })

  it('others are 400', async () => {
    expect(await errorOf('?$format=xml')).toMatch(/\$format must be one of csv, tsv, json/)
    await errorOf('?$format=CSV')
    await errorOf('?$format=')
  })

  it('names the file by RFC 6266, in ASCII and in full', async () => {
    expect((await get('?$top=0')).headers['content-disposition']).toBe(
      `attachment; filename="Zahlen _und_ Worter_No1.csv"; filename*=UTF-8''Zahlen%20%E2%80%9Cund%E2%80%9D%20W%C3%B6rter_%E2%84%961.csv`,
    )
  })
})

describe('query options', () => {
  it('$top and $last truncate; Row-Count is the number before truncation', async () => {
    const top = await get('?$top=2')
    expect(top.body).toBe('n,word\n1,\n2,w2\n')
    expect(top.headers['row-count']).toBe('10')
    const last = await get('?$last=2')
    expect(last.body).toBe('n,word\n9,w9\n10,\n')
    expect(last.headers['row-count']).toBe('10')
    const filtered = await get('?$filter=n gt 4&$last=1')
    expect(filtered.body).toBe('n,word\n10,\n')
    expect(filtered.headers['row-count']).toBe('6')
  })

  it('$top=0 gives the header alone, a large $top everything', async () => {
    expect((await get('?$top=0')).body).toBe('n,word\n')
    expect((await get('?$top=99999999999999999999')).body).toBe(NUMBERS)
  })

  it('$select, $orderby and $skip', async () => {
    expect((await get('?$select=word,n&$orderby=n desc&$skip=1&$top=2')).body).toBe('word,n\nw9,9\nw8,8\n')
  })

  it('names are taken without $ and in any case', async () => {
    for (const query of ['?top=1', '?$Top=1', '?TOP=1', '?%24top=1']) {
      expect((await get(query)).body, query).toBe('n,word\n1,\n')
    }
    expect((await get(`?Filter=n eq 3&FORMAT=json`)).json()).toEqual([{ n: 3, word: 'w3' }])
  })

  it('the same option twice is 400, however it is written', async () => {
    for (const query of ['?$top=1&$top=1', '?$top=1&top=2', '?$filter=n eq 1&$FILTER=n eq 2']) {
      expect(await errorOf(query)).toMatch(/given twice/)
    }
    expect((await at.call(ada, 'GET', `/datasets/${id}/data?apiKey=x&apiKey=y`)).statusCode).toBe(400)
  })

  it('unknown options are 400, with or without $', async () => {
    for (const query of ['?$these=true', '?$foo=1', '?foo=1', '?limit=5', '?$apiKey=1', '?$=1']) {
      expect(await errorOf(query)).toMatch(/Unknown query parameter .* Valid parameters: \$format, \$filter/)
    }
  })

  it('the nearest option is suggested for one that is not known', async () => {
    expect(await errorOf('?$tpo=1')).toMatch(/^Unknown query parameter "\$tpo"\. Did you mean \$top\?/)
    expect(await errorOf('?fliter=1')).toMatch(/Did you mean \$filter\?/)
    expect(await errorOf('?$these=true')).not.toMatch(/Did you mean/)
  })

  it.each([
    '-1',
    '1.5',
    'x',
    '',
    '1e3',
    '0x10',
    ' 1',
    '+1',
    '٣',
    'null',
  ])('a count of %j is 400', async (value) => {
    for (const name of ['$top', '$last', '$skip']) {
      expect(await errorOf(`?${name}=${encodeURIComponent(value)}`)).toMatch(/non-negative integer/)
    }
  })

  it('$top with $last is 400', async () => {
    expect(await errorOf('?$top=1&$last=1')).toMatch(/can't be used together/)
  })

  it('+ is a blank, and percent-encoding is undone once', async () => {
    expect((await get('?$filter=n+eq+3')).body).toBe('n,word\n3,w3\n')
    expect((await get('?$filter=n%20eq%203')).body).toBe('n,word\n3,w3\n')
    expect((await get("?$filter=word eq 'w%2533'")).body).toBe('n,word\n')
    expect((await get("?$filter=word eq 'a=b'")).body).toBe('n,word\n')
  })

  it('malformed percent-encoding is 400', async () => {
    for (const query of ['?$filter=%', '?$filter=%zz', '?%zz=1', '?$filter=%ff']) {
      expect(await errorOf(query)).toMatch(/malformed percent-encoding/)
    }
  })

  it('invalid columns are listed, all of them', async () => {
    const sentence = (option: string) =>
      `${option} contains invalid column(s): foo, Bar. Column names are case-sensitive.`
    expect(await errorOf('?$filter=foo eq 1 and n eq 1 or Bar eq 2')).toBe(sentence('Filter'))
    expect(await errorOf('?$select=foo,n,Bar')).toBe(sentence('Select'))
    expect(await errorOf('?$orderby=foo,Bar desc')).toBe(sentence('Orderby'))
    expect(await errorOf('?$filter=N eq 1')).toMatch(/: N\./)
  })

  it('a name that is made beside is for the next step', async () => {
    const hint = /b can be used from the next step on, as in compute\(… as b\)\/compute\(…\)\.$/
    expect(await errorOf('?$apply=compute(n as b,b mul 2 as c)')).toMatch(hint)
    expect(await errorOf('?$compute=n as b,b mul 2 as c')).toMatch(hint)
    expect(await errorOf('?$apply=compute(n as b)/groupby((word))/filter(b eq 1)')).not.toMatch(/next step/)
  })

  it.each([
    '',
    'n eq',
    'n eq 1)',
    "n eq 'x'",
    'not n eq 1',
    'n eq 1 and',
    "contains(n,'x')",
    'n div 0 eq 1',
  ])('the filter %j is 400', async (filter) => {
    expect(await errorOf(`?$filter=${encodeURIComponent(filter)}`)).not.toBe('')
  })

  it('a filter of 100 KiB is taken', async () => {
    const filter = Array.from({ length: 6_000 }, (_, i) => `n eq ${i + 1000}`).join(' or ')
    expect(encodeURIComponent(filter).length).toBeGreaterThan(100 << 10)
    const response = await get(`?$filter=n eq 1 or ${filter}`)
    expect([200, 400]).toContain(response.statusCode)
    if (response.statusCode === 400) expect(response.json().code).toBe('filter_too_complex')
  })
})

describe('Row-Count', () => {
  it('is there whenever it costs nothing', async () => {
    expect((await get()).headers['row-count']).toBe('10')
    expect((await get('?$filter=n gt 4&$top=1')).headers['row-count']).toBe('6')
    expect((await get('?$filter=n gt 4')).headers['row-count']).toBeUndefined()
  })
})

describe('ETag', () => {
  const tag = async (query = '', headers = {}) => String((await get(query, headers)).headers.etag)

  it('changes with the question, the format and the coding, and is the same for the same', async () => {
    const tags = [
      await tag(),
      await tag('?$top=1'),
      await tag('?$format=json'),
      await tag('', { 'accept-encoding': 'gzip' }),
      await tag('', { 'accept-encoding': 'br' }),
    ]
    expect(new Set(tags).size).toBe(tags.length)
    expect(await tag()).toBe(tags[0])
    expect(tags[0]).toMatch(/^"[^"]+"$/)
    expect(tags[3]).toMatch(/^W\/"/)
    expect(await tag('?$format=xlsx')).toMatch(/^W\/"/)
  })

  it('gives 304 without a body where the client has it', async () => {
    const etag = await tag()
    for (const header of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await get('', { 'if-none-match': header })
      expect(response.statusCode, header).toBe(304)
      expect(response.body).toBe('')
      expect(response.headers).toMatchObject({
        etag,
        vary: 'Accept, Accept-Encoding',
        'cache-control': 'private, no-cache',
      })
    }
    expect((await get('', { 'if-none-match': '"other"' })).statusCode).toBe(200)
  })

  it('changes with a new version', async () => {
    const { id } = await dataset(at, ada, { name: 'changing' })
    const url = `/datasets/${id}/data`
    const { etag } = (await at.call(ada, 'GET', url)).headers
    await at.call(ada, 'POST', url, { body: 'n,word\n11,x\n', headers: { 'content-type': 'text/csv' } })
    const again = await at.call(ada, 'GET', url, { headers: { 'if-none-match': String(etag) } })
    expect(again.statusCode).toBe(200)
    expect(again.body).toContain('11,x')
  })

  it('is no way around permissions', async () => {
    const eve = await at.account('eve')
    const { id } = await dataset(at, ada, { name: 'closed', private: true })
    const response = await at.call(eve, 'GET', `/datasets/${id}/data`, { headers: { 'if-none-match': '*' } })
    expect(response.statusCode).toBe(403)
  })
})

describe('compression', () => {
  const unpack = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync }

  it.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['zstd', 'zstd'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip;q=1.0, zstd;q=0.5', 'gzip'],
    ['*', 'zstd'],
    ['zstd;q=0, *', 'br'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
  ] as const)('Accept-Encoding: %s gives %s', async (header, coding) => {
    const response = await get('', { 'accept-encoding': header })
    expect(response.headers['content-encoding']).toBe(coding)
    expect(unpack[coding](response.rawPayload).toString()).toBe(NUMBERS)
    expect(response.headers.vary).toBe('Accept, Accept-Encoding')
  })

  it.each([
    'identity',
    'deflate',
    'gzip;q=0',
    '',
    'identity, gzip;q=0.5',
    'gzip;q=x',
  ])('Accept-Encoding: %s gives the rows as they are', async (header) => {
    const response = await get('', { 'accept-encoding': header })
    expect(response.headers['content-encoding']).toBeUndefined()
    expect(response.body).toBe(NUMBERS)
  })

  it('is not done to xlsx and parquet', async () => {
    for (const format of ['xlsx', 'parquet']) {
      const response = await get(`?$format=${format}`, { 'accept-encoding': 'gzip, zstd' })
      expect(response.headers['content-encoding']).toBeUndefined()
    }
  })

  it('is not said of errors', async () => {
    const response = await get('?$filter=foo eq 1', { 'accept-encoding': 'gzip' })
    expect(response.headers['content-encoding']).toBeUndefined()
    expect(response.headers.etag).toBeUndefined()
  })
})

describe('HEAD', () => {
  it('gives the headers of GET and no body', async () => {
    const head = await get('?$filter=n gt 4&$top=1', {}, 'HEAD')
    expect(head.statusCode).toBe(200)
    expect(head.body).toBe('')
    const full = await get('?$filter=n gt 4&$top=1')
    for (const name of ['etag', 'row-count', 'content-type', 'content-disposition', 'vary']) {
      expect(head.headers[name], name).toBe(full.headers[name])
    }
  })

  it('refuses what GET refuses', async () => {
    expect((await get('?$filter=foo eq 1', {}, 'HEAD')).statusCode).toBe(400)
  })
})

it('an empty dataset gives an empty answer', async () => {
  const { repository } = await dataset(at, ada, { name: 'r' })
  const made = await at.call(ada, 'POST', '/datasets', { json: { name: 'empty', repositoryId: repository } })
  const response = await at.call(ada, 'GET', `/datasets/${made.json().id}/data?$format=json`)
  expect(response.json()).toEqual([])
  expect(response.headers['row-count']).toBe('0')
  for (const method of ['GET', 'HEAD']) {
    const filtered = await at.call(ada, method, `/datasets/${made.json().id}/data?$filter=true&$top=1`)
    expect(filtered.headers['row-count']).toBe('0')
  }
})

it('Server-Timing names the stages', async () => {
  const anew = await get('?$top=1&$filter=n gt 7')
  expect(anew.headers['server-timing']).toMatch(/^plan;dur=[\d.]+, queue;dur=[\d.]+, rows;dur=[\d.]+$/)
})
