import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { get as httpGet, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { basic, dataset, type Platform, platform } from '../platform.ts'

const ROWS = 300_000
const STALL = 1_500
/** How many exports are broken off; PARQUETRY_BROKEN_OFF=1000 for a long run. */
const BROKEN_OFF = Number(process.env['PARQUETRY_BROKEN_OFF'] ?? 20)

let at: Platform
let ada: string
let port: number
let id: number
beforeAll(async () => {
  at = await platform({
    config: {
      timeouts: { stall: STALL, queue: 300 },
      limits: { exports: 3, exportsPerAccount: 2, queue: 1 },
    } as never,
  })
  ada = await at.account('ada')
  port = Number(new URL(await at.listen()).port)
  id = (await dataset(at, ada)).id
  const filler = 'x'.repeat(90)
  const csv = async function* () {
    yield Buffer.from('n,word\n')
    for (let n = 0; n < ROWS; n += 1000) {
      yield Buffer.from(Array.from({ length: 1000 }, (_, i) => `${n + i},${filler}${n + i}\n`).join(''))
    }
  }
  await (await at.engine.dataset(id)).replace({ format: 'csv', body: csv() })
}, 60_000)
afterAll(() => at[Symbol.asyncDispose]())

const path = (query = '') => `/datasets/${id}/data${query}`
const headers = (key = ada) => ({ authorization: basic(key) })

/** Sends a GET and gives its answer, of which nothing has been read. */
function open(query = '', key = ada): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpGet({ port, host: '127.0.0.1', path: path(query), headers: headers(key), agent: false }, resolve).on(
      'error',
      reject,
    )
  })
}

async function read(answer: IncomingMessage): Promise<{ bytes: number; whole: boolean }> {
  let bytes = 0
  try {
    for await (const chunk of answer) bytes += (chunk as Buffer).length
  } catch {
    return { bytes, whole: false }
  }
  return { bytes, whole: answer.complete }
}

async function until(condition: () => boolean, milliseconds = 8_000): Promise<void> {
  const end = performance.now() + milliseconds
  while (!condition()) {
    if (performance.now() > end) throw new Error('it did not happen in time')
    await delay(10)
  }
}

const idle = () => until(() => at.services.exports.slots.running === 0)
const lastLine = () => at.log.filter((line) => line['msg'] === 'request').at(-1)!

describe('a download', () => {
  it('arrives whole, and its line in the log has rows, bytes, milliseconds and first byte', async () => {
    const { bytes, whole } = await read(await open())
    expect(whole).toBe(true)
    expect(bytes).toBeGreaterThan(30_000_000)
    await idle()
    await until(() => lastLine()['rows'] === ROWS)
    expect(lastLine()).toMatchObject({
      account: 'ada',
      method: 'GET',
      route: '/datasets/:id/data',
      path: path(),
      status: 200,
      rows: ROWS,
      bytes,
      ms: expect.any(Number),
      firstByteMs: expect.any(Number),
      id: expect.any(String),
    })
  })

  it('that fails after the first byte ends without the final chunk', async () => {
    const answer = await open(`?$filter=${encodeURIComponent(`10 div (n sub ${ROWS - 5}) lt 1000`)}`)
    expect(answer.statusCode).toBe(200)
    const { bytes, whole } = await read(answer)
    expect(bytes).toBeGreaterThan(0)
    expect(whole).toBe(false)
    await idle()
    expect(await at.services.metrics.text()).toMatch(
      /parquetry_exports_total\{format="csv",outcome="failed"\} 1/,
    )
  })

  it.each([
    ['resets the connection of an HTTP/1.0 client, which knows no chunks', '1.0', 'ECONNRESET'],
    ['resets no connection of an HTTP/1.1 client, which gets all chunks before', '1.1', undefined],
  ])('that fails after the first byte %s', async (_, version, code) => {
    const filter = encodeURIComponent(`10 div (n sub ${ROWS - 5}) lt 1000`)
    const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.write(
        `GET ${path(`?$filter=${filter}`)} HTTP/${version}\r\nhost: x\r\nauthorization: ${basic(ada)}\r\n\r\n`,
      )
      socket
        .on('error', resolve)
        .on('end', () => resolve(undefined))
        .resume()
    })
    expect(error?.code).toBe(code)
    await idle()
  })

  it('ends at once when its client leaves', async () => {
    const answer = await open()
    expect(at.services.exports.slots.running).toBe(1)
    answer.destroy()
    const started = performance.now()
    await idle()
    expect(performance.now() - started).toBeLessThan(1_000)
    await until(() => lastLine()['status'] === 499)
    expect(lastLine()).toMatchObject({ cut: true, sentStatus: 200 })
  })

  it('ends when its client leaves before the first byte', async () => {
    const request = httpRequest({
      port,
      host: '127.0.0.1',
      path: path('?$orderby=word+desc'),
      headers: headers(),
      agent: false,
    })
    request.on('error', () => {})
    request.end()
    await until(() => at.services.exports.slots.running === 1)
    request.destroy()
    await idle()
  })

  it('is cut when its client does not read for the stall limit, and others are not harmed', async () => {
    const answers = await Promise.all([open(), open()])
    const started = performance.now()
    // Nothing of these is read; somebody else gets its answers meanwhile.
    expect((await fetch(`http://127.0.0.1:${port}/repositories`, { headers: headers() })).status).toBe(200)
    await idle()
    const waited = performance.now() - started
    expect(waited).toBeGreaterThan(STALL * 0.9)
    expect(waited).toBeLessThan(STALL * 2 + 5_000)
    for (const answer of answers) expect((await read(answer)).whole).toBe(false)
    const metrics = await at.services.metrics.text()
    expect(metrics).toMatch(/parquetry_exports_total\{format="csv",outcome="stalled"\} 2/)
    expect(metrics).toMatch(/parquetry_exports_total\{format="csv",outcome="failed"\} 3/)
  })

  it('goes on for clients that read slowly, and gives them the bytes that others get', async () => {
    const read = async (slowly: boolean) => {
      const answer = await open()
      const hash = createHash('sha256')
      let bytes = 0
      const started = performance.now()
      for await (const chunk of answer) {
        bytes += chunk.length
        hash.update(chunk)
        if (slowly && performance.now() - started < STALL * 2) await delay(20)
      }
      expect(answer.complete).toBe(true)
      expect(bytes).toBeGreaterThan(30_000_000)
      return hash.digest('hex')
    }
    const slow = await Promise.all([read(true), read(true)])
    expect(slow).toEqual(Array(2).fill(await read(false)))
  })

  it('goes on with the rows of its version when they are replaced, or the dataset is deleted', async () => {
    const made = await dataset(at, ada)
    const file = await (
      await fetch(`http://127.0.0.1:${port}${path('?$format=parquet')}`, { headers: headers() })
    ).arrayBuffer()
    const url = `http://127.0.0.1:${port}/datasets/${made.id}`
    const put = (body: BodyInit, type: string) =>
      fetch(`${url}/data`, { method: 'PUT', body, headers: { ...headers(), 'content-type': type } })
    expect((await put(file, 'application/vnd.apache.parquet')).status).toBe(200)
    const first = await fetch(`${url}/data`, { headers: headers() })
    expect((await put('n,word\n1,x\n', 'text/csv')).status).toBe(200)
    expect((await first.text()).length).toBeGreaterThan(30_000_000)
    expect((await put(file, 'application/vnd.apache.parquet')).status).toBe(200)
    const second = await fetch(`${url}/data`, { headers: headers() })
    expect((await fetch(url, { method: 'DELETE', headers: headers() })).status).toBe(204)
    expect((await second.text()).length).toBeGreaterThan(30_000_000)
    expect((await fetch(`${url}/data`, { headers: headers() })).status).toBe(404)
  })

  it('tells its length as whole columns of Parquet, however large, and where it is small', async () => {
    for (const query of [
      '?$format=parquet',
      '?$format=parquet&$select=word',
      '?$top=9',
      '?$top=9&$format=xlsx',
    ]) {
      const answer = await open(query)
      const { bytes, whole } = await read(answer)
      expect([query, answer.headers['content-length'], whole]).toEqual([query, String(bytes), true])
    }
    const unknown = await open('?$format=parquet&$filter=n gt 0'.replaceAll(' ', '%20'))
    expect(unknown.headers['content-length']).toBeUndefined()
    expect(await read(unknown)).toMatchObject({ whole: true })
  })

  it('is compressed on the way, and a broken compressed one is broken for the client too', async () => {
    const get = (filter: string) =>
      fetch(`http://127.0.0.1:${port}${path(`?$filter=${encodeURIComponent(filter)}`)}`, {
        headers: { ...headers(), 'accept-encoding': 'gzip' },
      })
    const whole = await get('n ge 0')
    expect(whole.headers.get('content-encoding')).toBe('gzip')
    expect((await whole.text()).length).toBeGreaterThan(30_000_000)
    const broken = await get(`10 div (n sub ${ROWS - 5}) lt 1000`)
    // Everything may still have been in the compressor; then the error is told instead.
    if (broken.status === 200) await expect(broken.text()).rejects.toThrow()
    else expect(await broken.json()).toMatchObject({ code: 'filter_failed' })
    await idle()
  })

  it('leaves nothing behind when its rows are there but can not be counted', async () => {
    const filter = encodeURIComponent(`10 div (n sub ${ROWS - 5}) lt 1000`)
    const answer = await open(`?$top=5&$filter=${filter}`)
    expect(answer.statusCode).toBe(400)
    answer.resume()
    await idle()
    const statistics = async () => (await at.engine.stats()).executor
    await expect.poll(statistics).toMatchObject({ exports: 0, statements: 0 })
  })

  it('leaves nothing behind when it is broken off anywhere, from either end', {
    timeout: 600_000,
  }, async () => {
    const handles = () => readdirSync('/proc/self/fd').length
    const breakOff = async (run: number): Promise<void> => {
      const failing = encodeURIComponent(`10 div (n sub ${Math.floor(Math.random() * ROWS)}) lt 1000`)
      const format = ['csv', 'json', 'xlsx', 'ndjson'][run % 4]
      const query = `?$format=${format}${run % 3 === 0 ? `&$filter=${failing}` : ''}`
      const request = httpRequest({
        port,
        host: '127.0.0.1',
        path: path(query),
        headers: headers(),
        agent: false,
      })
      await new Promise<void>((resolve) => {
        request.once('close', resolve).on('error', () => {})
        request.once('response', (answer: IncomingMessage) => {
          let left = Math.random() * 20_000_000
          answer.on('error', () => {})
          answer.on('data', (chunk: Buffer) => {
            left -= chunk.length
            if (left < 0) request.destroy()
          })
        })
        if (run % 5 === 0) setTimeout(() => request.destroy(), Math.random() * 60)
        request.end()
      })
    }
    const breakOffSome = () =>
      Promise.all([0, 1].map((one) => breakOff(one + Math.floor(Math.random() * 60))))
    await breakOffSome()
    await idle()
    const before = process.platform === 'linux' ? handles() : 0
    for (let run = 0; run < BROKEN_OFF; run += 2) await breakOffSome()
    await idle()
    const statistics = async () => (await at.engine.stats()).executor
    await expect
      .poll(statistics, { timeout: 8_000 })
      .toMatchObject({ exports: 0, statements: 0, encoding: 0 })
    if (process.platform === 'linux') await until(() => handles() <= before + 2)
    expect(await read(await open())).toMatchObject({ whole: true })
  })
})

describe('more downloads than there are places', () => {
  it('wait for a short time, then are 503 with Retry-After', async () => {
    const running = [await open(), await open()]
    const started = performance.now()
    const third = await open()
    expect(third.statusCode).toBe(503)
    expect(performance.now() - started).toBeGreaterThan(250)
    expect(Number(third.headers['retry-after'])).toBeGreaterThan(0)
    third.resume()
    for (const answer of running) answer.destroy()
    await idle()
  })

  it('are refused at once when the queue is full too', async () => {
    const running = [await open(), await open()]
    const answers = await Promise.all([open(), open(), open()])
    expect(answers.map((answer) => answer.statusCode)).toEqual([503, 503, 503])
    for (const answer of [...running, ...answers]) answer.destroy()
    await idle()
  })

  it('get a place when one becomes free', async () => {
    const running = [await open(), await open()]
    const third = open('?$top=1')
    await until(() => at.services.exports.slots.queued === 1)
    running[0]!.destroy()
    expect((await third).statusCode).toBe(200)
    ;(await third).resume()
    running[1]!.destroy()
    await idle()
  })

  it('of one account do not take the places of another', async () => {
    const eve = await at.account('eve')
    const running = [await open(), await open()]
    const answer = await open('?$top=1', eve)
    expect(answer.statusCode).toBe(200)
    answer.resume()
    for (const one of running) one.destroy()
    await idle()
  })
})

/** What comes back on a connection of its own, which the request asks to be closed. */
const answerTo = (head: string) =>
  new Promise<string>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('close', () => resolve(received))
    socket.write(`${head}\r\nConnection: close\r\n\r\n`)
  })

it('a request line of 128 KiB is accepted, a longer one is 431 in our shape', async () => {
  const ask = async (length: number) => {
    const filter = `n eq 1 or word eq '${'y'.repeat(length)}'`
    return fetch(`http://127.0.0.1:${port}${path(`?$top=1&$filter=${encodeURIComponent(filter)}`)}`, {
      headers: headers(),
    })
  }
  const accepted = await ask(128 * 1024 - 200)
  expect([200, 400]).toContain(accepted.status)
  await accepted.text()
  const refused = await ask(400 * 1024)
  expect(refused.status).toBe(431)
  expect(await refused.json()).toEqual({ error: expect.any(String), code: 'headers_too_large' })
})

it.each([
  [128 * 1024, 200],
  [128 * 1024 + 1, 414],
  [150 * 1024, 414],
])('a request line of %i bytes is answered with %i', async (bytes, status) => {
  const target = path('?$top=0&$filter=word%20eq%20%27@%27')
  const line = `GET ${target} HTTP/1.1`.replace('@', 'x'.repeat(bytes - `GET ${target} HTTP/1.1`.length + 1))
  const text = await answerTo(`${line}\r\nHost: x\r\nAuthorization: ${headers().authorization}`)
  expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  if (status === 200) return
  expect(JSON.parse(text.split('\r\n\r\n')[1]!)).toEqual({ error: expect.any(String), code: 'uri_too_long' })
})

it.each([
  ['what is no HTTP', 'NONSENSE', 'bad_request'],
  ['a blank in a URL', "GET /datasets/1/data?$filter=word eq 'x' HTTP/1.1", 'invalid_url'],
  ['a letter outside of ASCII in a URL', 'GET /datasets/1/data?$select=größe HTTP/1.1', 'invalid_url'],
])('%s is 400 in our shape', async (_name, line, code) => {
  const text = await answerTo(`${line}\r\nHost: x`)
  expect(text).toMatch(/^HTTP\/1\.1 400 /)
  expect(JSON.parse(text.split('\r\n\r\n')[1]!)).toEqual({ error: expect.any(String), code })
})
