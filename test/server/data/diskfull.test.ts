import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { IS_CLUSTER } from '../../cluster/elsewhere.ts'
import { startUpstream, type Upstream } from '../../connectors/support/upstream.ts'
import { mountDisk } from '../../store/disk.ts'
import { basic, ROOT_KEY } from '../platform.ts'
import { type Served, serveProcess } from '../process.ts'

const MIB = 2 ** 20
const ROWS = 20_000
/** Numbers that hardly compress: about 400 KB of text. */
const NUMBERS = Array.from({ length: ROWS }, (_, n) => [n, ((n + 1) * 0.754877666) % 1] as const)
const CSV = `n,x\n${NUMBERS.map((row) => row.join()).join('\n')}\n`
const JSON_ROWS = JSON.stringify({ rows: NUMBERS })

const disk = mountDisk(64 * MIB)
let upstream: Upstream
let server: Served
let dataset: string
let rows: string

const authorization = basic(ROOT_KEY)
const ask = (method: string, path: string, body?: string, type = 'application/json') =>
  fetch(server.url + path, {
    method,
    headers: { authorization, ...(body !== undefined && { 'content-type': type }) },
    ...(body !== undefined && { body }),
  })

const start = () =>
  serveProcess({
    data: join(disk!.folder, 'data'),
    environment: {
      PARQUETRY_ROOT_KEY: ROOT_KEY,
      PARQUETRY_LOG_LEVEL: 'warn',
      PARQUETRY_PROVIDER_FRED_URL: upstream.url,
      PARQUETRY_PROVIDER_FRED_KEY: 'k',
    },
  })

async function made(path: string, fields: object): Promise<number> {
  const answer = await ask('POST', path, JSON.stringify(fields))
  expect(answer.status).toBe(201)
  return ((await answer.json()) as { id: number }).id
}

async function expectRefused(answer: Response): Promise<void> {
  const body = await answer.json()
  expect(body).toEqual({ error: expect.stringMatching(/disk is full/), code: 'storage_full' })
  expect(answer.status).toBe(503)
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
}

/** All that only reads, while nothing can be written. */
async function expectReadable(): Promise<void> {
  const whole = await ask('GET', `${rows}?$format=csv`)
  expect(whole.status).toBe(200)
  expect(await whole.text()).toBe(CSV)
  const some = await ask('GET', `${rows}?$filter=n lt 3&$select=n`)
  expect(await some.text()).toBe('n\n0\n1\n2\n')
  for (const path of ['/datasets', '/repositories', '/account', '/metrics', '/healthz', '/console/']) {
    expect((await ask('GET', path)).status, path).toBeLessThan(405)
  }
}

describe.runIf(disk)('a server with a full disk', () => {
  beforeAll(async () => {
    upstream = await startUpstream({
      '/category/children': { body: { categories: [] } },
      '/series': { body: { seriess: [{ id: 'X', title: 'X' }] } },
      '*': { body: { count: 1, observations: [{ date: '2024-01-01', value: '1.5' }] } },
    })
    server = await start()
    const repositoryId = await made('/repositories', { name: 'r' })
    dataset = `/datasets/${await made('/datasets', { name: 'd', repositoryId })}`
    rows = `${dataset}/data`
    expect((await ask('PUT', rows, CSV, 'text/csv')).status).toBe(200)
  })
  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    await upstream.close()
    disk![Symbol.dispose]()
  })

  test.for([
    ['not a byte', 0],
    ['room for a little', 64 * 1024],
    ['room for the body alone', 450 * 1024],
  ] as const)('that has %s left refuses uploads, reads on, and takes them when there is room again', async ([
    ,
    left,
  ]) => {
    const before = await (await ask('GET', dataset)).json()
    disk!.leave(left)
    await expectRefused(await ask('PUT', rows, CSV, 'text/csv'))
    await expectRefused(await ask('POST', rows, CSV, 'text/csv'))
    await expectRefused(await ask('POST', rows, JSON_ROWS))
    await expectReadable()
    expect(await (await ask('GET', dataset)).json()).toEqual(before)
    disk!.clear()
    expect((await ask('PUT', rows, CSV, 'text/csv')).status).toBe(200)
    await expectReadable()
  })

  test.skipIf(IS_CLUSTER)('refuses also what only the catalog would hold', async () => {
    disk!.leave(16 * 1024)
    const made: number[] = []
    for (let n = 0; n < 100; n++) {
      const answer = await ask('POST', '/repositories', JSON.stringify({ name: `${n}${'x'.repeat(150)}` }))
      if (answer.status === 201) made.push(((await answer.json()) as { id: number }).id)
      else await expectRefused(answer)
    }
    expect(made.length).toBeLessThan(100)
    const all = (await (await ask('GET', '/repositories')).json()) as { id: number }[]
    expect(all.slice(1).map(({ id }) => id)).toEqual(made)
    for (const [method, path, body] of [
      ['PUT', '/user-keys/fred', { key: 'k'.repeat(1_000) }],
      ['PUT', dataset, { description: 'y'.repeat(5_000) }],
      ['PUT', dataset, { description: 'z'.repeat(9_000) }],
    ] as const) {
      disk!.leave(0)
      await expectRefused(await ask(method, path, JSON.stringify(body)))
    }
    // Its limit can't be written down meanwhile.
    expect((await ask('GET', '/providers/fred/series/X')).status).toBe(200)
    await expectReadable()
    disk!.clear()
    expect((await ask('POST', '/repositories', JSON.stringify({ name: 'again' }))).status).toBe(201)
  })

  test('is not ready until there is room again', async () => {
    disk!.leave(0)
    await expectRefused(await ask('GET', '/readyz'))
    expect((await ask('GET', '/healthz')).status).toBe(200)
    disk!.clear()
    expect((await ask('GET', '/readyz')).status).toBe(200)
  })

  test('says so in the log, once a request, and ends and starts as ever', async () => {
    const refusals = server
      .said()
      .out.split('\n')
      .filter((line) => line.includes('storage_full'))
      .map((line) => JSON.parse(line) as { id?: string; msg: string })
      .filter(({ msg }) => msg === 'request failed')
    expect(refusals.length).toBeGreaterThan(8)
    expect(new Set(refusals.map(({ id }) => id)).size).toBe(refusals.length)
    disk!.leave(0)
    expect((await server.stop()).code).toBe(0)
    expect(server.said().err).toBe('')
    disk!.leave(0)
    server = await start()
    await expectReadable()
    await expectRefused(await ask('PUT', rows, CSV, 'text/csv'))
    disk!.clear()
    expect((await ask('PUT', rows, CSV, 'text/csv')).status).toBe(200)
  })
})
