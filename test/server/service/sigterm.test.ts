import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { basic, ROOT_KEY } from '../platform.ts'
import { type Served, serveProcess } from '../process.ts'

/** Rows of so many bytes each, in csv. */
const csvOf = (rows: number, bytes: number) =>
  `n,text\n${Array.from({ length: rows }, (_, n) => `${n},${String(n).padStart(bytes, 'x')}`).join('\n')}\n`
const MIB = 2 ** 20
/** What takes a moment to send. */
const LARGE = csvOf(100_000, 94)
/** More than the buffers of sockets hold for a client that does not read. */
const HUGE = csvOf(32, MIB)
const EXPORTS = 10

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parquetry-sigterm-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const authorization = basic(ROOT_KEY)
/** Uncompressed, since these rows are hardly more than nothing otherwise. */
const ask = (server: Served, path: string, init: RequestInit = {}) =>
  fetch(server.url + path, {
    ...init,
    headers: { authorization, 'accept-encoding': 'identity', ...init.headers },
  })

async function start(timeouts: Readonly<Record<string, number>>): Promise<Served> {
  const file = join(folder, 'config.json')
  // A machine with other work must not make the server refuse requests.
  const shedding = { eventLoopDelay: 0, memoryBytes: 0 }
  writeFileSync(file, JSON.stringify({ timeouts, shedding, engine: { threads: 2, workers: 1 } }))
  const environment = { PARQUETRY_ROOT_KEY: ROOT_KEY, PARQUETRY_CONFIG: file, PARQUETRY_LOG_LEVEL: 'warn' }
  return serveProcess({ data: join(folder, 'data'), environment })
}

/** A dataset of these rows; gives the path of its data. */
async function filled(server: Served, csv: string): Promise<string> {
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const made = await ask(server, path, { method: 'POST', headers, body: JSON.stringify(body) })
    return ((await made.json()) as { id: number }).id
  }
  const repositoryId = await post('/repositories', { name: 'r' })
  const path = `/datasets/${await post('/datasets', { name: 'd', repositoryId })}/data`
  await ask(server, path, { method: 'PUT', headers: { 'content-type': 'text/csv' }, body: csv })
  return path
}

/** A download as it is when nobody disturbs it. */
const undisturbed = async (server: Served, path: string) =>
  Buffer.from(await (await ask(server, path)).arrayBuffer())

interface Received {
  readonly bytes: Buffer
  /** Whether the client was told that this is all. */
  readonly whole: boolean
}

/** Begins a download and gives its end, for which it reads piece by piece, with a rest of so many ms after each. */
async function download(server: Served, path: string, rest: number): Promise<() => Promise<Received>> {
  const response = await ask(server, path)
  expect(response.status).toBe(200)
  const reader = response.body!.getReader()
  const pieces = [(await reader.read()).value!]
  return async () => {
    for (;;) {
      await sleep(rest)
      try {
        const { done, value } = await reader.read()
        if (done) return { bytes: Buffer.concat(pieces), whole: true }
        pieces.push(value)
      } catch {
        return { bytes: Buffer.concat(pieces), whole: false }
      }
    }
  }
}

/** Resolves when the server has noticed that it is to end. */
async function noticed(server: Served): Promise<void> {
  await vi.waitUntil(async () => (await ask(server, '/readyz')).status === 503, 10_000)
}

async function expectRefusal(server: Served): Promise<void> {
  for (const [path, init] of [
    ['/repositories', {}],
    ['/datasets/1/data', {}],
    ['/datasets/1/data', { method: 'PUT', body: 'n\n1\n', headers: { 'content-type': 'text/csv' } }],
  ] as const) {
    const refused = await ask(server, path, init)
    expect(refused.status).toBe(503)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused.json()).toMatchObject({ code: 'shutting_down' })
  }
  expect((await ask(server, '/healthz')).status).toBe(200)
  expect((await ask(server, '/readyz')).status).toBe(503)
}

/** Nothing is left of the process, and it complained about nothing. */
function expectGone(server: Served): void {
  expect(server.said().err).toBe('')
  for (const left of ['locks', 'tmp']) expect(readdirSync(join(folder, 'data', left))).toEqual([])
}

it('SIGTERM during ten exports: all end whole, new requests are refused, the process leaves with 0', async () => {
  await using server = await start({ shutdown: 30_000 })
  const path = await filled(server, LARGE)
  const paths = ['csv', 'json'].map((format) => `${path}?$format=${format}`)
  const expected = await Promise.all(paths.map((one) => undisturbed(server, one)))
  expect(expected[0]!.equals(Buffer.from(LARGE))).toBe(true)
  const ends = await Promise.all(
    Array.from({ length: EXPORTS }, (_, n) => download(server, paths[n % 2]!, 1)),
  )
  const metrics = await (await ask(server, '/metrics')).text()
  expect(Number(/transfers_running\{of="downloads"\} (\d+)/.exec(metrics)?.[1])).toBeGreaterThan(0)
  const stopped = server.stop()
  await noticed(server)
  const received = Promise.all(ends.map((end) => end()))
  await expectRefusal(server)
  for (const [n, { bytes, whole }] of (await received).entries()) {
    expect(whole).toBe(true)
    expect(bytes.equals(expected[n % 2]!)).toBe(true)
  }
  const { code, milliseconds } = await stopped
  expect(code).toBe(0)
  expect(milliseconds).toBeLessThan(30_000)
  expectGone(server)
})

it('those that do not end within the limit are cut so that their clients notice', async () => {
  const shutdown = 2_000
  await using server = await start({ shutdown })
  const path = await filled(server, HUGE)
  const short = await undisturbed(server, `${path}?$top=2`)
  const ends = await Promise.all(
    Array.from({ length: EXPORTS }, (_, n) => download(server, n % 2 ? `${path}?$top=2` : path, 0)),
  )
  const stopped = server.stop()
  await noticed(server)
  await expectRefusal(server)
  for (const end of ends.filter((_, n) => n % 2 === 1)) {
    const { bytes, whole } = await end()
    expect(whole).toBe(true)
    expect(bytes.equals(short)).toBe(true)
  }
  // The others read nothing until the server has gone.
  const { code, milliseconds } = await stopped
  expect(code).toBe(0)
  expect(milliseconds).toBeGreaterThan(shutdown - 50)
  expect(milliseconds).toBeLessThan(shutdown + 5_000)
  const huge = Buffer.from(HUGE)
  for (const end of ends.filter((_, n) => n % 2 === 0)) {
    const { bytes, whole } = await end()
    expect(whole).toBe(false)
    expect(bytes.length).toBeLessThan(huge.length)
    expect(bytes.equals(huge.subarray(0, bytes.length))).toBe(true)
  }
  expectGone(server)
})

it('an upload under way is taken in whole, or nothing of it, and the client knows which', async () => {
  await using server = await start({ shutdown: 1_500 })
  const path = await filled(server, csvOf(10, 10))
  const upload = (pieces: number, pause: number) =>
    ask(server, path, {
      method: 'POST',
      headers: { 'content-type': 'text/csv' },
      duplex: 'half',
      body: (async function* () {
        yield Buffer.from('n,text\n')
        for (let n = 0; n < pieces; n++) {
          await sleep(pause)
          yield Buffer.from(`${n},appended\n`)
        }
      })() as never,
    } as RequestInit).then(
      async (response) => response.status,
      () => 'cut' as const,
    )
  const [short, long] = [upload(10, 50), upload(1_000, 50)]
  await sleep(200)
  const stopped = server.stop()
  expect(await short).toBe(200)
  // Cut in the middle of its body.
  expect([503, 'cut']).toContain(await long)
  expect((await stopped).code).toBe(0)
  expectGone(server)
  await using again = await start({})
  const rows = await ask(again, `${path}?$filter=text eq 'appended'&$top=0`)
  expect(rows.headers.get('row-count')).toBe('10')
})
