import { readdirSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { basic, dataset, NUMBERS, type Platform, platform } from '../platform.ts'

let at: Platform
let ada: string
let id: number
let address: string
beforeAll(async () => {
  at = await platform({ config: { limits: { uploadBytes: 200_000 }, timeouts: { stall: 1_500 } } as never })
  ada = await at.account('ada')
  id = (await dataset(at, ada)).id
  address = await at.listen()
})
afterAll(() => at[Symbol.asyncDispose]())

const send = (method: string, body: string | Buffer, headers: Record<string, string>, target = id) =>
  at.call(ada, method, `/datasets/${target}/data`, { body, headers })
const csv = async (target = id) => (await at.call(ada, 'GET', `/datasets/${target}/data`)).body
const empty = async () => {
  const { repository } = await dataset(at, ada)
  return (
    await at.call(ada, 'POST', '/datasets', { json: { name: 'empty', repositoryId: repository } })
  ).json().id as number
}

describe('forms', () => {
  it.each([
    ['text/csv', 'a,b\n1,x\n2,y\n'],
    ['text/csv; charset=utf-8', 'a,b\n1,x\n2,y\n'],
    ['text/tab-separated-values', 'a\tb\n1\tx\n2\ty\n'],
    ['application/x-ndjson', '{"a":1,"b":"x"}\n{"a":2,"b":"y"}\n'],
    ['application/json', '{"rows":[{"a":1,"b":"x"},{"a":2,"b":"y"}]}'],
    [
      'application/json',
      '{"columns":[{"name":"a","type":"integer"},{"name":"b","type":"string"}],"rows":[[1,"x"],[2,"y"]]}',
    ],
  ])('%s', async (type, body) => {
    // RFC 9110, 8.4.1.3 has the old name of gzip mean the same.
    for (const coding of [undefined, 'gzip', 'X-Gzip']) {
      const target = await empty()
      const headers = { 'content-type': type, ...(coding && { 'content-encoding': coding }) }
      const response = await send('PUT', coding ? gzipSync(body) : body, headers, target)
      expect(response.json(), response.body).toMatchObject({ id: target, version: 1, rowCount: 2 })
      expect(response.statusCode).toBe(200)
      expect(await csv(target)).toBe('a,b\n1,x\n2,y\n')
    }
  })

  it.each(['parquet', 'arrow', 'xlsx'])('%s, as it was downloaded', async (format) => {
    const file = await at.call(ada, 'GET', `/datasets/${id}/data?$format=${format}`)
    const target = await empty()
    const response = await send(
      'PUT',
      file.rawPayload,
      { 'content-type': String(file.headers['content-type']) },
      target,
    )
    expect(response.statusCode, response.body).toBe(200)
    expect(await csv(target)).toBe(NUMBERS)
  })

  it.each([
    [
      'an unknown type',
      { 'content-type': 'application/pdf' },
      /^The Content-Type application\/pdf is not supported; send uploads as text\/csv, .*, or as a form\.$/,
    ],
    ['a form without a boundary', { 'content-type': 'multipart/form-data' }, /has no boundary/],
    [
      'gzip around a form',
      { 'content-type': 'multipart/form-data; boundary=x', 'content-encoding': 'gzip' },
      /^multipart\/form-data is already compressed/,
    ],
    ['another charset', { 'content-type': 'text/csv; charset=koi8-r' }, /koi8-r/],
    ['csv without a header', { 'content-type': 'text/csv; header=absent' }, /header=absent/],
    ['another coding', { 'content-type': 'text/csv', 'content-encoding': 'br' }, /Content-Encoding br/],
    [
      'gzip around Parquet',
      { 'content-type': 'application/vnd.apache.parquet', 'content-encoding': 'gzip' },
      /^application\/vnd.apache.parquet is already compressed/,
    ],
  ])('%s is 415', async (_name, headers, message) => {
    const response = await send('PUT', NUMBERS, headers as Record<string, string>)
    expect(response.statusCode).toBe(415)
    expect(response.json()).toMatchObject({
      error: expect.stringMatching(message),
      code: 'unsupported_media_type',
    })
  })

  it('csv without a header is answered with the option that reads it', async () => {
    const refused = await send('PUT', '1,2\n', { 'content-type': 'text/csv; header=absent' })
    expect(refused.json().error).toBe(
      'The content type says header=absent, which is not supported there; write it as an option in the URL: ?header=absent.',
    )
  })

  it('another charset is answered with the option that reads it', async () => {
    const response = await send('PUT', NUMBERS, { 'content-type': 'text/csv; charset=koi8-r' })
    expect(response.json().error).toBe(
      'The charset koi8-r is not supported; send text as UTF-8, or without a charset and with the option encoding=latin1 or encoding=utf-16 in the URL.',
    )
  })
})

describe('replace and append', () => {
  it('PUT replaces, however often; POST appends', async () => {
    const target = await empty()
    await send('PUT', 'a\n1\n', { 'content-type': 'text/csv' }, target)
    const appended = await send('POST', 'a\n2\n', { 'content-type': 'text/csv' }, target)
    expect(appended.statusCode).toBe(200)
    expect(appended.json()).toMatchObject({ version: 2, rowCount: 2 })
    expect(await csv(target)).toBe('a\n1\n2\n')
    await send('PUT', 'a\n3\n', { 'content-type': 'text/csv' }, target)
    await send('PUT', 'a\n3\n', { 'content-type': 'text/csv' }, target)
    expect(await csv(target)).toBe('a\n3\n')
  })

  it('two appends at once both arrive', async () => {
    const target = await empty()
    await send('PUT', 'a\n0\n', { 'content-type': 'text/csv' }, target)
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) => send('POST', `a\n${n}\n`, { 'content-type': 'text/csv' }, target)),
    )
    expect(answers.map((one) => one.statusCode)).toEqual([200, 200, 200, 200])
    expect((await csv(target)).trim().split('\n').slice(1).sort()).toEqual(['0', '1', '2', '3', '4'])
  })
})

describe('options of an upload', () => {
  const put = (target: number, query: string, body: string, method = 'PUT') =>
    at.call(ada, method, `/datasets/${target}/data?${query}`, {
      body,
      headers: { 'content-type': 'text/csv' },
    })

  it('say how csv is written', async () => {
    const target = await empty()
    const body = 'n;x;d\n1;"1,5";3.2.2020\n-;NA;4.2.2020\n'
    const query = 'delimiter=%3B&decimal=,&nulls=NA,-&dates=D.M.YYYY'
    expect((await put(target, query, body)).json()).toMatchObject({ rowCount: 2 })
    expect(await csv(target)).toBe('n,x,d\n1,1.5,2020-02-03\n,,2020-02-04\n')
    await put(target, 'dialect=standard&header=absent', '2,2,2020-02-05\n', 'POST')
    expect(await csv(target)).toBe('n,x,d\n1,1.5,2020-02-03\n,,2020-02-04\n2,2,2020-02-05\n')
  })

  it('replace columns with the rows, which is otherwise a conflict', async () => {
    const target = await empty()
    await put(target, '', 'a,b\n1,x\n')
    const other = 'a,c\n2020-01-01,true\n'
    const conflict = await put(target, '', other)
    expect(conflict.statusCode).toBe(409)
    expect(conflict.json().error).toMatch(/columns=replace/)
    const replaced = await put(target, 'columns=replace', other)
    expect(replaced.json().columns).toMatchObject([
      { name: 'a', type: 'date' },
      { name: 'c', type: 'boolean' },
    ])
    expect(await csv(target)).toBe('a,c\n2020-01-01,true\n')
  })

  it.each([
    ['PUT', 'columns=keep'],
    ['POST', 'columns=replace'],
    ['PUT', 'decimal=x'],
    ['PUT', 'delimiter=ab'],
    ['PUT', 'dates=YY'],
    ['PUT', 'nul=NA'],
    ['PUT', 'header=absent&header=absent'],
  ])('are refused where they are not known: %s %s', async (method, query) => {
    const response = await put(id, query, 'a\n1\n', method)
    expect(response.statusCode, response.body).toBe(400)
  })
})

describe('what is wrong is said, and nothing is changed', () => {
  it.each([
    ['a bad value', 'POST', 'text/csv', 'n,word\n1,x\nnone,y\n', 400, /n/],
    [
      'a bad value of a declared type',
      'PUT',
      'application/json',
      '{"columns":[{"name":"n","type":"integer"},{"name":"word","type":"string"}],"rows":[[1,"a"],["x","b"]]}',
      400,
      /row 2.*n/i,
    ],
    ['malformed JSON', 'PUT', 'application/json', '{"rows":[', 400, /the file ends/],
    ['JSON without rows', 'PUT', 'application/json', '{}', 400, /rows/],
    ['JSON that is null', 'PUT', 'application/json', 'null', 400, /rows|object/],
    ['JSON that is a text', 'PUT', 'application/json', '"series"', 400, /rows|object/],
    ['rows and more', 'PUT', 'application/json', '{"rows":[],"series":1}', 400, /key "series"/],
    ['JSON that is a list', 'PUT', 'application/json', '[1]', 400, /rows|object/],
    ['no Parquet', 'PUT', 'application/vnd.apache.parquet', 'PAR0 nonsense', 400, /Parquet/i],
    [
      'no xlsx',
      'PUT',
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      'PK nonsense',
      400,
      /xlsx|zip|workbook/i,
    ],
    ['an empty body', 'PUT', 'application/json', '', 400, /./],
  ])('%s', async (_name, method, type, body, status, message) => {
    const before = (await at.call(ada, 'GET', `/datasets/${id}`)).json()
    const response = await send(method, body, { 'content-type': type })
    expect(response.json()).toMatchObject({ error: expect.stringMatching(message), code: expect.any(String) })
    expect(response.statusCode, response.body).toBe(status)
    expect((await at.call(ada, 'GET', `/datasets/${id}`)).json()).toEqual(before)
    expect(await csv()).toBe(NUMBERS)
  })

  it('gzip that is none', async () => {
    const response = await send('PUT', 'plain', { 'content-type': 'text/csv', 'content-encoding': 'gzip' })
    expect(response.statusCode).toBe(400)
  })

  it('too many bytes are 413, by Content-Length before they come and else while they do', async () => {
    const declared = await send('PUT', 'a\n'.repeat(150_000), { 'content-type': 'text/csv' })
    expect(declared.statusCode).toBe(413)
    expect(declared.json()).toEqual({ error: expect.stringMatching(/200000/), code: 'body_too_large' })
    const streamed = await raw('PUT', async (write) => {
      for (let i = 0; i < 30; i++) write('n,word\n'.repeat(1_500))
    })
    expect(streamed.status).toBe(413)
    expect(JSON.parse(streamed.body).code).toBe('upload_too_large')
    expect(await csv()).toBe(NUMBERS)
  })
})

describe('over a real connection', () => {
  it('a body of JSON is told apart from a wish for series however it is cut', async () => {
    const response = await raw(
      'PUT',
      async (write) => {
        for (const character of '{ "columns": [{"name":"n","type":"integer"}, {"name":"word","type":"string"}], "rows": [[1,""]]}')
          write(character)
      },
      'application/json',
    )
    expect(response.status, response.body).toBe(200)
    await send('PUT', NUMBERS, { 'content-type': 'text/csv' })
  })

  it('an upload that breaks off changes nothing and leaves nothing', async () => {
    const before = (await at.call(ada, 'GET', `/datasets/${id}`)).json()
    const request = begin('PUT', 'text/csv')
    request.on('error', () => {})
    request.write(NUMBERS)
    await until(() => at.services.uploads.slots.running === 1)
    request.destroy()
    await until(() => at.services.uploads.slots.running === 0)
    expect((await at.call(ada, 'GET', `/datasets/${id}`)).json()).toEqual(before)
    await until(() => leftovers().length === 0)
    await until(() => at.log.some((line) => line['cut'] === true && line['status'] === 499))
  })

  it.each([
    ['POST', '/repositories', 'application/json'],
    ['PUT', '/datasets/ID/data', 'text/csv'],
  ])('a body of %s %s that breaks off is no error of ours', async (method, path, type) => {
    const before = at.log.length
    const request = httpRequest(`${address}${path.replace('ID', String(id))}`, {
      method,
      headers: { authorization: basic(ada), 'content-type': type, 'transfer-encoding': 'chunked' },
      agent: false,
    })
    request.on('error', () => {})
    request.write('{"na')
    await delay(150)
    request.destroy()
    const lines = () => at.log.slice(before)
    await until(() => lines().some((line) => line['status'] === 499))
    await delay(50)
    expect(lines().filter((line) => Number(line['level']) >= 40)).toEqual([])
  })

  it('an upload that stalls is 408 after the limit, and changes nothing', async () => {
    const response = await new Promise<{ status: number; body: string }>((resolve, reject) => {
      const request = begin('POST', 'text/csv')
      request.on('error', reject)
      request.on('response', (answer) => void collect(answer).then(resolve))
      request.write(NUMBERS)
    })
    expect(response.status).toBe(408)
    expect(JSON.parse(response.body)).toEqual({
      error: expect.stringMatching(/1.5 seconds/),
      code: 'request_timeout',
    })
    expect(await csv()).toBe(NUMBERS)
    await until(() => leftovers().length === 0)
  })

  it('an upload that trickles is 408, and changes nothing', async () => {
    const response = await new Promise<{ status: number; body: string }>((resolve, reject) => {
      const request = begin('POST', 'text/csv')
      request.on('error', reject)
      request.write('n,word\n')
      const timer = setInterval(() => request.write('1'), 50)
      request.on('response', (answer) => {
        clearInterval(timer)
        void collect(answer).then(resolve)
      })
    })
    expect(response.status).toBe(408)
    expect(JSON.parse(response.body).error).toBe(
      'The body arrives at less than 1,024 bytes a second. Nothing was changed.',
    )
    expect(await csv()).toBe(NUMBERS)
  })

  it('an upload that goes on slowly but goes on arrives', async () => {
    const response = await raw('PUT', async (write) => {
      for (const line of NUMBERS.match(/.*\n/g)!) {
        write(line)
        await delay(80)
      }
    })
    expect(response.status).toBe(200)
  })

  it('an upload that is sent again slowly, with its Idempotency-Key, gets its answer again', async () => {
    const lines = Array.from({ length: 40 }, (_, n) => `${n},${'x'.repeat(2_000)}\n`)
    const key = { 'content-type': 'text/csv', 'idempotency-key': 'slowly' }
    expect((await send('PUT', `n,word\n${lines.join('')}`, key)).statusCode).toBe(200)
    const again = await raw(
      'PUT',
      async (write) => {
        write('n,word\n')
        for (const line of lines) {
          write(line)
          await delay(120)
        }
      },
      'text/csv',
      key,
    )
    expect(again).toMatchObject({ status: 200 })
    await send('PUT', NUMBERS, { 'content-type': 'text/csv' })
  })

  it('a refused upload gets its answer although it is still sending', async () => {
    const response = await raw(
      'PUT',
      async (write) => {
        for (let i = 0; i < 50; i++) write('x'.repeat(10_000))
      },
      'application/pdf',
    )
    expect(response.status).toBe(415)
  })
})

function begin(method: string, type: string, more: Record<string, string> = {}) {
  return httpRequest(`${address}/datasets/${id}/data`, {
    method,
    headers: { authorization: basic(ada), 'content-type': type, 'transfer-encoding': 'chunked', ...more },
    agent: false,
  })
}

async function collect(answer: AsyncIterable<Buffer> & { statusCode?: number }) {
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk)
  return { status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString() }
}

function raw(
  method: string,
  write: (write: (text: string) => void) => Promise<void>,
  type = 'text/csv',
  more: Record<string, string> = {},
) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const request = begin(method, type, more)
    request.on('error', reject)
    request.on('response', (answer) => void collect(answer).then(resolve, reject))
    void write((text) => request.write(text)).then(() => request.end())
  })
}

/** Files of uploads that are under way, or were not cleared away. */
function leftovers(): string[] {
  return readdirSync(join(at.directory, 'tmp'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.includes('/') && !/duckdb/i.test(name),
  )
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (condition()) return
    await delay(25)
  }
  throw new Error('it did not happen')
}
