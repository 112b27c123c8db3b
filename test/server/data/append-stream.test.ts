import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type ClientRequest, type IncomingMessage, request as send } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client } from '../../../server/client/index.ts'
import { basic, dataset, type Overrides, type Platform, platform } from '../platform.ts'
import { serveProcess } from '../process.ts'

let at: Platform
let url: string
beforeAll(async () => {
  at = await platform()
  url = await at.listen()
})
afterAll(() => at[Symbol.asyncDispose]())

interface Stream extends AsyncDisposable {
  readonly request: ClientRequest
  write(text: string): void
  end(text?: string): void
  /** The status, once there is an answer. */
  status(): Promise<number>
  /** The next line of the answer, as JSON; undefined at its end. */
  line(): Promise<Record<string, unknown> | undefined>
}

interface OpenOptions {
  readonly key?: string
  readonly type?: string
  readonly headers?: Record<string, string>
  readonly to?: string
}

/** Begins to send rows, without an end. */
function open(id: number, query: string, options: OpenOptions = {}): Stream {
  const { key = at.root, type = 'application/x-ndjson', headers = {}, to = url } = options
  const request = send(`${to}/datasets/${id}/data?${query}`, {
    method: 'POST',
    headers: { authorization: basic(key), 'content-type': type, ...headers },
    agent: false,
  })
  const answered = once(request, 'response') as Promise<[IncomingMessage]>
  answered.catch(() => {})
  // The server may end the connection while there is more to send.
  request.on('error', () => {})
  request.flushHeaders()
  let lines: AsyncIterator<string> | undefined
  return {
    request,
    write: (text) => void request.write(text),
    end: (text) => void request.end(text),
    status: async () => (await answered)[0].statusCode!,
    async line() {
      lines ??= createInterface((await answered)[0])[Symbol.asyncIterator]()
      const { value } = await lines.next()
      return value === undefined ? undefined : JSON.parse(value)
    },
    async [Symbol.asyncDispose]() {
      request.destroy()
    },
  }
}

async function table(key = at.root, csv = 'n,w\n0,a\n', platform = at) {
  const { id, repository } = await dataset(platform, key, { name: `t${Math.random()}`, csv })
  const rows = async () =>
    (await platform.call(key, 'GET', `/datasets/${id}/data?$format=json`)).json() as {
      n: number
      w: string
    }[]
  return { id, repository, rows, numbers: async () => (await rows()).map(({ n }) => n) }
}

const row = (n: number) => `{"n":${n},"w":"w${n}"}\n`
const rows = (from: number, to: number) => {
  return Array.from({ length: to - from + 1 }, (_, index) => row(from + index)).join('')
}
const noneRunning = (platform = at) =>
  expect.poll(() => platform.services.changeStreams.slots.running, { timeout: 60_000 }).toBe(0)

describe('a body that is committed while it comes', () => {
  it('is answered with a line for each commit while more is sent', async () => {
    const { id, numbers } = await table()
    await using stream = open(id, 'commit=2')
    stream.write(rows(1, 2))
    expect(await stream.line()).toEqual({ version: 2, rows: 2, total: 2 })
    expect(await numbers()).toEqual([0, 1, 2])
    stream.write(row(3))
    stream.write(row(4).slice(0, 5))
    stream.write(row(4).slice(5) + rows(5, 6))
    expect(await stream.line()).toEqual({ version: 3, rows: 2, total: 4 })
    expect(await stream.line()).toEqual({ version: 4, rows: 2, total: 6 })
    stream.end(row(7).trimEnd())
    expect(await stream.line()).toEqual({ version: 5, rows: 1, total: 7 })
    expect(await stream.line()).toBeUndefined()
    expect(await numbers()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    await noneRunning()
  })

  it('is committed after some seconds, even if no more rows come', async () => {
    const { id, numbers } = await table()
    await using stream = open(id, 'commit=1s')
    stream.write(row(1))
    expect(await stream.line()).toMatchObject({ rows: 1, total: 1 })
    stream.write(`${row(2)}{"n":3`)
    expect(await stream.line()).toMatchObject({ rows: 1, total: 2 })
    expect(await numbers()).toEqual([0, 1, 2])
    stream.end(',"w":"c"}')
    expect(await stream.line()).toMatchObject({ rows: 1, total: 3 })
  })

  it('is committed at least every 2 MiB', async () => {
    const { id } = await table()
    await using stream = open(id, 'commit=59s')
    const long = 'x'.repeat(100_000)
    for (let n = 0; n < 50; n++) stream.write(`{"n":${n},"w":"${long}"}\n`)
    stream.end()
    const lines = [await stream.line(), await stream.line(), await stream.line()]
    expect(lines.map((line) => line!['rows'])).toEqual([21, 21, 8])
  })

  it('of csv has its header once, and is read as the last upload was', async () => {
    const { id, rows } = await table()
    const replaced = await at.call(
      at.root,
      'PUT',
      `/datasets/${id}/data?skip=1&delimiter=%3B&columns=replace`,
      {
        body: 'a note\nn;w\n0;a\n',
        headers: { 'content-type': 'text/csv' },
      },
    )
    expect(replaced.statusCode).toBe(200)
    await using stream = open(id, 'commit=1', { type: 'text/csv' })
    stream.write('a "note\nw')
    stream.write(';n\n"x;\n')
    stream.write('""";1\r\n')
    expect(await stream.line()).toMatchObject({ rows: 1, total: 1 })
    stream.write('\n5" pipe;2\n"un')
    expect(await stream.line()).toMatchObject({ rows: 1, total: 2 })
    stream.end('der";3')
    expect(await stream.line()).toMatchObject({ rows: 1, total: 3 })
    expect((await rows()).slice(1)).toEqual([
      { n: 1, w: 'x;\n"' },
      { n: 2, w: '5" pipe' },
      { n: 3, w: 'under' },
    ])
  })

  it('replaces rows by their key with mode=upsert', async () => {
    const { id, rows } = await table(at.root, 'n,w\n1,a\n2,b\n')
    await using stream = open(id, 'commit=1&mode=upsert&on=n')
    stream.write(row(2))
    expect(await stream.line()).toMatchObject({ rows: 1, total: 1 })
    stream.end(row(3))
    expect(await stream.line()).toMatchObject({ rows: 1, total: 2 })
    expect(await rows()).toEqual([
      { n: 1, w: 'a' },
      { n: 2, w: 'w2' },
      { n: 3, w: 'w3' },
    ])
  })

  it('has given all that was confirmed and nothing else when it breaks off', async () => {
    const { id, numbers } = await table()
    const stream = open(id, 'commit=2')
    stream.write(rows(1, 3))
    expect(await stream.line()).toMatchObject({ total: 2 })
    stream.request.destroy()
    await noneRunning()
    expect(await numbers()).toEqual([0, 1, 2])
  })

  it('ends with the error of a row, by its number in the whole body', async () => {
    const { id, numbers } = await table()
    await using stream = open(id, 'commit=2')
    stream.write(rows(1, 2))
    expect(await stream.line()).toMatchObject({ total: 2 })
    stream.write(`${row(3)}{"n":"four"}\n`)
    const error = 'Row 4, column "n": "four" is not an integer.'
    expect(await stream.line()).toMatchObject({
      code: 'invalid_upload',
      error,
      row: 4,
      errors: [{ row: 4, error }],
    })
    expect(await stream.line()).toBeUndefined()
    expect(await numbers()).toEqual([0, 1, 2])

    await using broken = open(id, 'commit=1')
    broken.write(row(3))
    await broken.line()
    broken.write('{"n":4,,\n')
    const position = row(3).length + 7
    expect(await broken.line()).toMatchObject({
      row: 2,
      position,
      error: expect.stringContaining(`Row 2, byte ${position}:`),
    })
  })

  it('has the status of an error if its first rows are wrong', async () => {
    const { id } = await table()
    await using stream = open(id, 'commit=1')
    stream.write('{"n":"one","w":""}\n')
    expect(await stream.status()).toBe(400)
    expect(await stream.line()).toMatchObject({ code: 'invalid_upload', row: 1 })
    await using long = open(id, 'commit=1')
    long.write(`${row(1)}{"w":"`)
    expect(await long.line()).toMatchObject({ total: 1 })
    for (let n = 0; n < 33; n++) long.write('x'.repeat(65_536))
    expect(await long.line()).toMatchObject({
      row: 2,
      error: 'Row 2 is longer than 2 MiB, the most in a stream.',
    })
  })

  it('without rows changes nothing', async () => {
    const { id, numbers } = await table()
    await using stream = open(id, 'commit=1', { type: 'text/csv' })
    stream.end('n,w\n\n')
    expect([await stream.status(), await stream.line()]).toEqual([200, undefined])
    expect(await numbers()).toEqual([0])
  })

  it('ends when the sender may no longer write', async () => {
    const owner = await at.account('stream-owner')
    const writer = await at.account('stream-writer')
    const { id, repository, numbers } = await table(owner)
    const member = `/repositories/${repository}/members/stream-writer`
    await at.call(owner, 'PUT', member, { json: { permission: 'Write' } })
    await using stream = open(id, 'commit=1', { key: writer })
    stream.write(row(1))
    expect(await stream.line()).toMatchObject({ total: 1 })
    await at.call(owner, 'PUT', member, { json: { permission: 'Read' } })
    stream.write(row(2))
    expect(await stream.line()).toMatchObject({ code: 'forbidden' })
    expect([await stream.line(), await numbers()]).toEqual([undefined, [0, 1]])
  })

  it('is refused where it would not be what it says', async () => {
    const { id } = await table()
    const post = async (query: string, headers: Record<string, string> = {}) => {
      const all = { 'content-type': 'text/csv', ...headers }
      const answer = await at.call(at.root, 'POST', `/datasets/${id}/data?${query}`, {
        body: 'n,w\n1,a\n',
        headers: all,
      })
      return [answer.statusCode, answer.json().code, answer.json().error]
    }
    expect(await post('commit=0')).toEqual([
      400,
      'invalid_option',
      'commit must be a number of rows, as 1000, or of seconds up to 59, as 5s (got "0").',
    ])
    expect((await post('commit=60s'))[1]).toBe('invalid_option')
    expect((await post('commit=5&dryRun=true'))[1]).toBe('invalid_query')
    expect(await post('commit=5', { 'if-match': '"x"' })).toEqual([
      400,
      'bad_request',
      'if-match is for one commit; with commit=, there are many.',
    ])
    expect((await post('commit=5', { 'idempotency-key': 'x' }))[1]).toBe('bad_request')
    const type = [
      415,
      'unsupported_media_type',
      'With commit=, the body has the Content-Type application/x-ndjson or text/csv or text/tab-separated-values, in UTF-8 and without Content-Encoding.',
    ]
    expect(await post('commit=5', { 'content-encoding': 'gzip' })).toEqual(type)
    expect(await post('commit=5', { 'content-type': 'application/json' })).toEqual(type)
    expect(await post('commit=5', { 'content-type': 'text/csv; charset=latin1' })).toEqual(type)
    for (const query of ['dialect=auto', 'footer=1', 'encoding=utf-16'])
      expect((await post(`commit=5&${query}`))[1]).toBe('invalid_option')
    expect((await at.call(at.root, 'PUT', `/datasets/${id}/data?commit=5`)).json().code).toBe('invalid_query')
  })
})

describe('a stream of rows', () => {
  async function limited<T>(
    config: Overrides,
    work: (other: Platform, to: string) => Promise<T>,
  ): Promise<T> {
    await using other = await platform({ config })
    return await work(other, await other.listen())
  }

  it('has only the place of a stream while no rows come', async () => {
    const config = { timeouts: { queue: 20 }, limits: { streams: 4, streamsPerAccount: 1 } }
    await limited(config, async (other, to) => {
      const { id } = await table(other.root, undefined, other)
      await using stream = open(id, 'commit=1', { to, key: other.root })
      stream.write(row(1))
      expect(await stream.line()).toMatchObject({ total: 1 })
      const { uploads, changeStreams } = other.services
      expect([uploads.slots.running, uploads.smallSlots.running, changeStreams.slots.running]).toEqual([
        0, 0, 1,
      ])
      await using second = open(id, 'commit=1', { to, key: other.root })
      second.end(row(2))
      expect([await second.status(), (await second.line())!['code']]).toEqual([503, 'busy'])
      stream.end()
      await noneRunning(other)
    })
  })

  it('ends when it stays idle', async () => {
    await limited({ timeouts: { idle: 2_000 } }, async (other, to) => {
      const { id, numbers } = await table(other.root, undefined, other)
      await using stream = open(id, 'commit=1', { to, key: other.root })
      stream.write(row(1))
      expect(await stream.line()).toMatchObject({ total: 1 })
      stream.write('{"n":2')
      expect(await stream.line()).toMatchObject({
        code: 'request_timeout',
        error:
          'No data of the body has arrived for 2 seconds. Rows that no line has confirmed were not saved.',
      })
      expect(await stream.line()).toBeUndefined()
      expect(await numbers()).toEqual([0, 1])
      await noneRunning(other)
    })
  })

  it('counts each commit as a request', async () => {
    await limited({ limits: { requestsPerMinute: 5 } }, async (other, to) => {
      const key = await other.account('stream-limited')
      const { id } = await table(other.root, undefined, other)
      const { repositoryId } = await (await other.engine.dataset(id)).record()
      await other.call(other.root, 'PUT', `/repositories/${repositoryId}/members/stream-limited`, {
        json: { permission: 'Write' },
      })
      await using stream = open(id, 'commit=1', { to, key })
      stream.write(rows(1, 6))
      for (const total of [1, 2, 3, 4, 5]) expect(await stream.line()).toMatchObject({ total })
      expect(await stream.line()).toMatchObject({ code: 'too_many_requests' })
    })
  })

  it('ends when the server is being stopped', async () => {
    await limited({}, async (other, to) => {
      const { id } = await table(other.root, undefined, other)
      await using stream = open(id, 'commit=1', { to, key: other.root })
      stream.write(row(1))
      expect(await stream.line()).toMatchObject({ total: 1 })
      await other.services.lifecycle.leave(0)
      expect(await stream.line()).toMatchObject({ code: 'shutting_down' })
      expect(await stream.line()).toBeUndefined()
    })
  })

  it('has given all that was confirmed, and no part of a commit, when the server is killed', async () => {
    const data = await mkdtemp(join(tmpdir(), 'parquetry-stream-'))
    const environment = { PARQUETRY_ROOT_KEY: 'a-root-key-of-this-test' }
    const ROWS = 20
    try {
      let id: number | undefined
      let saved = 0
      for (const commits of [1, 4, 9, 0]) {
        await using served = await serveProcess({ data, environment })
        const client = new Client({ url: served.url, key: environment.PARQUETRY_ROOT_KEY })
        id ??= await newTable(client)
        const before = await numbersIn(client, id)
        // What was not confirmed may have been saved, too: one commit at most.
        expect([saved, saved + ROWS]).toContain(before.length)
        expect(before).toEqual(before.map((_, n) => n))
        saved = before.length
        await using stream = open(id, `commit=${ROWS}`, {
          to: served.url,
          key: environment.PARQUETRY_ROOT_KEY,
        })
        // One commit more than are read here, and a part of another.
        stream.write(rows(saved, saved + (commits + 1.5) * ROWS))
        for (let line = 1; line <= commits; line++)
          expect(await stream.line()).toMatchObject({ total: line * ROWS })
        saved += commits * ROWS
        // Disposing of it kills the server.
      }
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })
})

async function newTable(client: Client): Promise<number> {
  const { id: repositoryId } = await client.repositories.create({ name: 'mine', private: true })
  return (await client.datasets.create({ name: 'events', repositoryId, columns: COLUMNS })).id
}

async function numbersIn(client: Client, id: number): Promise<number[]> {
  return (await Array.fromAsync(client.datasets.rows<{ n: number }>(id))).map(({ n }) => n)
}

const COLUMNS = [
  { name: 'n', type: 'integer' },
  { name: 'w', type: 'string' },
] as const
