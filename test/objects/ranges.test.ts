import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Engine, type EngineOptions, openEngine } from '../../engine/index.ts'
import { FaultyLine } from '../cluster/faulty-line.ts'
import { S3_SERVERS, S3Server } from '../cluster/s3-server.ts'
import { httpfsFolder } from '../cluster/tools.ts'

const httpfs = httpfsFolder()
const folder = mkdtempSync(join(tmpdir(), 'parquetry-ranges-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ROWS = 600_000
const ONE_BY_SQL = 'SELECT n, seventh FROM d WHERE n = 300000'
/** The same row, asked for in both ways. */
const ASKED = [
  ['a filter', { filter: 'n eq 300000' }],
  ['SQL', ONE_BY_SQL],
] as const
const MIB = 2 ** 20
const SLOW = { timeout: 60_000 }
const PATIENT = { timeout: 30_000 }

describe.runIf(S3_SERVERS.length > 0 && httpfs !== undefined)('a cold read of a few rows', SLOW, () => {
  let server: S3Server
  let line: FaultyLine
  /** The bytes of the dataset. */
  let bytes: number
  beforeAll(async () => {
    server = await S3Server.start()
    line = await FaultyLine.before(server.port)
    const file = join(folder, 'rows.parquet')
    const duck = await (await DuckDBInstance.create()).connect()
    await duck.run(
      `COPY (SELECT range AS n, sha256(range::VARCHAR) AS text, (hash(range) % 1000000007)::BIGINT AS spread,
         range % 7 = 0 AS seventh FROM range(${ROWS})) TO '${file}' (FORMAT parquet, COMPRESSION zstd)`,
    )
    duck.closeSync()
    await using engine = await open('made')
    const repository = await engine.createRepository({ name: 'r' })
    const { id } = await engine.createDataset({ repositoryId: repository.id, name: 'd' })
    await (await engine.dataset(id)).replace({ body: { file }, format: 'parquet' })
    bytes = (await (await engine.dataset(id)).record()).bytes
    expect(bytes).toBeGreaterThan(16 * MIB)
    await engine.settled()
  }, 60_000)
  afterEach(() => {
    line.fault = () => undefined
  })
  afterAll(async () => {
    await line?.[Symbol.asyncDispose]()
    await server?.[Symbol.asyncDispose]()
  })

  const open = (name: string, more: Partial<EngineOptions> = {}, store: object = {}) =>
    openEngine({
      directory: join(folder, name),
      role: 'server',
      threads: 2,
      keep: { versions: 1 },
      store: {
        address: 's3://tests/ranges',
        endpoint: line.endpoint,
        cacheBytes: 500 * MIB,
        httpfs,
        ...store,
      },
      ...more,
    })

  /** An engine with the same catalog, on a machine that has read nothing yet. */
  async function cold(name: string, more: Partial<EngineOptions> = {}, store: object = {}): Promise<Engine> {
    const directory = join(folder, name)
    rmSync(directory, { recursive: true, force: true })
    cpSync(join(folder, 'made'), directory, { recursive: true })
    rmSync(join(directory, 'cache'), { recursive: true, force: true })
    return open(name, more, store)
  }

  /** @param asked options of a query, or a statement */
  async function rowsOf(engine: Engine, asked: object | string, signal?: AbortSignal): Promise<object[]> {
    using query =
      typeof asked === 'string'
        ? await engine.sql(asked, undefined, signal ? { signal } : {})
        : await (await engine.dataset(1)).query(asked)
    return await Array.fromAsync(query.rows(signal ? { signal } : {}))
  }

  const gets = () => line.asked.filter((asked) => asked.startsWith('GET') && asked.includes('/parts/')).length
  const damaged = expect.objectContaining({ code: 'storage_damaged' })
  const unavailable = expect.objectContaining({ code: 'storage_unavailable' })
  const isPart = (url: string | undefined) => url?.includes('/parts/') === true

  it('fetches the blocks that it needs', async () => {
    await using engine = await cold('few')
    const [row] = await rowsOf(engine, { filter: 'n eq 300000' })
    expect(row).toMatchObject({ n: 300_000, seventh: false })
    const { cache } = await engine.stats()
    expect(cache).toMatchObject({ misses: 0, hits: 0 })
    expect(cache!.fetchedBytes).toBeLessThan(bytes / 4)
    expect(cache!.blockMisses).toBeGreaterThan(0)
    expect(cache!.bytes).toBe(cache!.fetchedBytes)
    using query = await (await engine.dataset(1)).query({ filter: 'n eq 300000' })
    expect(await query.explain()).toMatch(/^Parts read: 1 of 1, 1 by ranges\n/)
    // What it has it does not fetch again.
    expect((await engine.stats()).cache!.fetchedBytes).toBe(cache!.fetchedBytes)
  })

  it('fetches the blocks that a statement of SQL needs', async () => {
    await using engine = await cold('sql')
    expect(await rowsOf(engine, 'SELECT sum(n) AS total, count(*) AS rows FROM d')).toEqual([
      { total: String((ROWS * (ROWS - 1)) / 2), rows: ROWS },
    ])
    expect(await rowsOf(engine, ONE_BY_SQL)).toMatchObject([{ n: 300_000, seventh: false }])
    const { cache } = await engine.stats()
    expect(cache).toMatchObject({ misses: 0, hits: 0 })
    expect(cache!.blockMisses).toBeGreaterThan(0)
    expect(cache!.fetchedBytes).toBeLessThan(bytes / 4)
    using query = await engine.sql(ONE_BY_SQL)
    expect((await query.analyse()).parts).toEqual({ read: 1, of: 1, byRanges: 1 })
  })

  it('fetches all of a part for a statement that reads most of it', async () => {
    await using engine = await cold('sql-whole')
    expect(await rowsOf(engine, 'SELECT * FROM d')).toHaveLength(ROWS)
    expect((await engine.stats()).cache).toMatchObject({ misses: 1, blockMisses: 0 })
  })

  it('gives the same bytes as a warm one', async () => {
    await using warm = await open('made')
    const random = () => Math.floor(Math.random() * ROWS)
    const bytesOf = async (engine: Engine, options: object, format: 'csv' | 'json' | 'arrow') => {
      using query = await (await engine.dataset(1)).query(options)
      await using stream = await query.bytes(format)
      const pieces: Uint8Array[] = []
      for await (const piece of stream) pieces.push(Buffer.from(piece))
      return { bytes: Buffer.concat(pieces), count: await query.count() }
    }
    for (let round = 0; round < 6; round++) {
      await using engine = await cold('differential')
      for (const [options, format] of [
        [{ filter: `n ge ${random()} and spread lt 30000` }, 'csv'],
        [{ filter: `n eq ${random()} or n eq ${random()}`, select: ['text', 'n'] }, 'json'],
        [{ filter: `spread gt 999990000`, orderBy: 'spread desc', top: 7 }, 'json'],
        [{ skip: random(), top: 3 }, 'csv'],
        [{ select: ['seventh'], filter: `startswith(text,'${random().toString(16)}')` }, 'arrow'],
        [{ filter: `n gt ${random()} and seventh`, top: 20 }, 'csv'],
      ] as const) {
        const found = await bytesOf(engine, options, format)
        expect(found, JSON.stringify(options)).toEqual(await bytesOf(warm, options, format))
      }
      expect((await engine.stats()).cache!.blockMisses).toBeGreaterThan(0)
    }
  })

  it.each(
    ASKED,
  )('fetches blocks again that came with a flipped bit, and never gives rows of them, by %s', async (_, asked) => {
    {
      let flipped = 0
      await using engine = await cold('flipped')
      line.fault = ({ method, url }) =>
        method === 'GET' && isPart(url) && flipped++ === 0 ? { flipAnswer: true } : undefined
      expect(await rowsOf(engine, asked)).toHaveLength(1)
      expect(flipped).toBeGreaterThan(1)
    }
    await using engine = await cold('flipped')
    line.fault = ({ method, url }) => (method === 'GET' && isPart(url) ? { flipAnswer: true } : undefined)
    await expect(rowsOf(engine, asked)).rejects.toEqual(damaged)
    line.fault = () => undefined
    await engine.settled()
    await expect(rowsOf(engine, asked)).rejects.toEqual(damaged)
    expect((await engine.stats()).events.part_damaged).toBe(1)
    await engine.verify()
    expect(await rowsOf(engine, asked)).toHaveLength(1)
  })

  it.each(
    ASKED,
  )('says that the store is down, also if that happens under way, and goes on when it is back, by %s', async (_, asked) => {
    for (const after of [0, 1, 2]) {
      await using engine = await cold('down')
      let requests = 0
      line.fault = ({ url }) => (isPart(url) && requests++ >= after ? { status: 503 } : undefined)
      await expect(rowsOf(engine, asked)).rejects.toEqual(unavailable)
      line.fault = () => undefined
      expect(await rowsOf(engine, asked)).toHaveLength(1)
      expect((await engine.stats()).events.part_damaged).toBe(0)
    }
  })

  it('goes on when the disk of the cache is lost or changed', async () => {
    await using engine = await cold('lost')
    expect(await rowsOf(engine, { filter: 'n eq 300000' })).toHaveLength(1)
    const cache = join(folder, 'lost', 'cache')
    for (const name of readdirSync(cache)) writeFileSync(join(cache, name), Buffer.alloc(bytes, 7))
    expect(await rowsOf(engine, { filter: 'n eq 300000 or n eq 5' })).toHaveLength(2)
    rmSync(cache, { recursive: true })
    expect(await rowsOf(engine, { filter: 'n eq 300000 or n eq 6' })).toHaveLength(2)
  })

  it.each(ASKED)('ends at once when its client leaves while the store is silent, by %s', async (_, asked) => {
    await using engine = await cold('aborted')
    line.fault = ({ url }) => (isPart(url) ? { silence: true } : undefined)
    line.asked.length = 0
    const leaving = new AbortController()
    const read = rowsOf(engine, asked, leaving.signal)
    while (!line.asked.some((asked) => asked.includes('/parts/'))) await wait(5)
    const start = performance.now()
    leaving.abort()
    await expect(read).rejects.toThrow()
    expect(performance.now() - start).toBeLessThan(5_000)
    line.fault = () => undefined
    expect(await rowsOf(engine, asked)).toHaveLength(1)
  })

  it.each(
    ASKED,
  )('does not keep the engine from closing while the store is silent, by %s', async (_, asked) => {
    const engine = await cold('closed')
    line.fault = ({ url }) => (isPart(url) ? { silence: true } : undefined)
    line.asked.length = 0
    const read = rowsOf(engine, asked)
    read.catch(() => {})
    while (!line.asked.some((asked) => asked.includes('/parts/'))) await wait(5)
    const start = performance.now()
    await engine.close()
    expect(performance.now() - start).toBeLessThan(5_000)
    await expect(read).rejects.toThrow()
  })

  it('shares what two ask for at once', async () => {
    const asked = async (name: string, times: number) => {
      await using engine = await cold(name)
      const before = gets()
      const all = await Promise.all(
        Array.from({ length: times }, () => rowsOf(engine, { filter: 'n eq 300000' })),
      )
      expect(all.flat()).toHaveLength(times)
      return gets() - before
    }
    expect(await asked('two', 2)).toBe(await asked('one', 1))
  })

  it('does not hang with more readers than threads, on a slow store', async () => {
    await using engine = await cold('many')
    line.delay = 100
    const found = await Promise.all(
      Array.from({ length: 60 }, (_, index) => rowsOf(engine, { filter: `n eq ${index * 9_973}` })),
    )
    line.delay = 0
    expect(found.flat()).toHaveLength(60)
  })

  it('reads a version that was replaced and cleaned up meanwhile', async () => {
    const own = { address: 's3://tests/retired' }
    {
      await using engine = await open('retired', {}, own)
      const repository = await engine.createRepository({ name: 'r' })
      const { id } = await engine.createDataset({ repositoryId: repository.id, name: 'd' })
      await (await engine.dataset(id)).replace({
        body: { file: join(folder, 'rows.parquet') },
        format: 'parquet',
      })
    }
    rmSync(join(folder, 'retired', 'cache'), { recursive: true })
    await using engine = await open('retired', {}, own)
    const dataset = await engine.dataset(1)
    {
      using snapshot = await dataset.snapshot()
      const read = async (n: number) => {
        using query = snapshot.query({ filter: `n eq ${n}` })
        return await Array.fromAsync(query.rows())
      }
      expect(await read(1)).toHaveLength(1)
      await dataset.replace({
        body: Readable.from([Buffer.from('n\n1\n')]),
        format: 'csv',
        replaceColumns: true,
      })
      await engine.settled()
      await engine.gc()
      expect(await read(300_000)).toHaveLength(1)
      expect((await engine.stats()).cache!.misses).toBe(0)
    }
    await engine.settled()
    await engine.gc()
    expect(readdirSync(join(folder, 'retired', 'cache'))).toHaveLength(1)
  })

  it('fetches parts whole that have no sums, and where the extension is missing', async () => {
    {
      await using engine = await cold('unsummed')
      await engine.database.run('UPDATE parts SET block_sums = NULL')
      expect(await rowsOf(engine, { filter: 'n eq 300000' })).toHaveLength(1)
      expect((await engine.stats()).cache).toMatchObject({ misses: 1, bytes, blockMisses: 0 })
    }
    await using engine = await cold('missing', {}, { httpfs: join(folder, 'nowhere') })
    expect(await rowsOf(engine, { filter: 'n eq 300000' })).toHaveLength(1)
    expect(await rowsOf(engine, { filter: 'n eq 300000' })).toHaveLength(1)
    const { cache, events } = await engine.stats()
    expect(cache).toMatchObject({ misses: 1, bytes, blockMisses: 0 })
    expect(events.ranges_unavailable).toBe(1)
  })

  it('becomes a read of the whole part where much of it is wanted, or wanted often', async () => {
    {
      await using engine = await cold('much')
      expect(await rowsOf(engine, { filter: "contains(text,'0')", select: ['n'] })).not.toHaveLength(0)
      await expect.poll(async () => (await engine.stats()).cache!.bytes, PATIENT).toBe(bytes)
      expect(await rowsOf(engine, { filter: 'n eq 300000' })).toHaveLength(1)
      expect((await engine.stats()).cache!.hits).toBe(1)
    }
    await using engine = await cold('often')
    const cached = async () => {
      await rowsOf(engine, { filter: 'n eq 300000' })
      return (await engine.stats()).cache!.bytes
    }
    expect(await cached()).toBeLessThan(bytes)
    await expect.poll(cached, PATIENT).toBe(bytes)
    expect(await rowsOf(engine, { filter: 'n eq 300000' })).toHaveLength(1)
  })

  it('leaves nothing within reach of DuckDB but the parts that are read', async () => {
    const other = createServer((_, answer) => void answer.end('reached')).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    await using engine = await cold('shut')
    await rowsOf(engine, { filter: 'n eq 300000' })
    const executor = await engine.executor()
    expect(executor.readsHttp).toBe(true)
    const read = (sql: string) =>
      executor.rows({ sql, parameters: [], columns: [{ name: 'a', type: 'string' }] })
    const own = (await read(`SELECT unnest(current_setting('allowed_directories'))`))
      .map(([directory]) => String(directory))
      .find((directory) => directory.startsWith('http'))!
    for (const address of [
      `http://127.0.0.1:${port}/`,
      `${line.endpoint}/tests/ranges/catalog`,
      'https://127.0.0.1:1/',
      's3://tests/ranges/catalog',
      '/etc/passwd',
      `${own.slice(0, -1)}@127.0.0.1:${port}/`,
      `${own}../`,
      `${own}../../tests`,
      `${own}1-unknown.parquet`,
      `${own}..%2f..%2f`,
    ]) {
      await expect(read(`SELECT content FROM read_text('${address}')`), address).rejects.toThrow(
        /disabled by configuration|HTTP 404|Not Found|No files found/,
      )
    }
    await expect(read(`COPY (SELECT 1) TO '${own}a.csv'`)).rejects.toThrow()
    await expect(read('INSTALL httpfs')).rejects.toThrow()
    await expect(read(`SET http_proxy = ''`)).rejects.toThrow(/locked/)
    other.close()
  })
})
