import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  type Dataset,
  type Engine,
  type EngineOptions,
  moveRows,
  openEngine,
  restoreBackup,
} from '../../engine/index.ts'
import { parseS3Address } from '../../engine/store/objects/address.ts'
import { S3Store } from '../../engine/store/objects/s3.ts'
import { FaultyLine } from '../cluster/faulty-line.ts'
import { S3_SERVERS, S3Server } from '../cluster/s3-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'parquetry-remote-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const unavailable = expect.objectContaining({ code: 'storage_unavailable' })

function csv(from: number, to: number): { body: AsyncIterable<Uint8Array>; format: 'csv' } {
  const lines = Array.from({ length: to - from }, (_, index) => `${from + index},word ${from + index}\n`)
  return { body: Readable.from([Buffer.from(`n,word\n${lines.join('')}`)]), format: 'csv' }
}

describe.runIf(S3_SERVERS.length > 0)('an engine whose rows are in a store of objects', () => {
  let server: S3Server
  let line: FaultyLine
  beforeAll(async () => {
    server = await S3Server.start()
    line = await FaultyLine.before(server.port)
  })
  afterEach(() => {
    line.fault = () => undefined
  })
  afterAll(async () => {
    await line?.[Symbol.asyncDispose]()
    await server?.[Symbol.asyncDispose]()
  })

  const storeOf = (name: string) => ({
    address: `s3://tests/${name}`,
    endpoint: line.endpoint,
    cacheBytes: 50_000_000,
  })
  const open = (name: string, more: Partial<EngineOptions> = {}) =>
    openEngine({
      directory: join(folder, name),
      store: storeOf(name),
      role: 'server',
      threads: 2,
      keep: { versions: 1 },
      ...more,
    })

  async function made(engine: Engine, name = 'table'): Promise<Dataset> {
    const repository = await engine.createRepository({ name })
    return engine.dataset((await engine.createDataset({ repositoryId: repository.id, name })).id)
  }

  async function numbers(dataset: Dataset): Promise<number[]> {
    using query = await dataset.query({ select: ['n'] })
    const found: number[] = []
    for await (const row of query.rows()) found.push(Number(row['n']))
    return found
  }

  async function objects(name: string): Promise<string[]> {
    const store = new S3Store(parseS3Address(`s3://tests/${name}`, { endpoint: server.endpoint }))
    const found: string[] = []
    for await (const { key } of store.list('parts/')) found.push(key)
    store.close()
    return found
  }

  const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

  it('has them there alone, and gives them with and without what is cached', async () => {
    const name = 'whole'
    {
      await using engine = await open(name)
      const dataset = await made(engine)
      await dataset.replace(csv(0, 1_000))
      for (let at = 1; at < 20; at++) await dataset.append(csv(at * 1_000, at * 1_000 + 1_000))
      await engine.settled()
      expect(await numbers(dataset)).toEqual(upTo(20_000))
      expect(readdirSync(join(folder, name, 'parts'))).toEqual([])
      expect(await engine.verify()).toMatchObject({ rows: 20_000, problems: [] })
    }
    {
      await using engine = await open(name)
      expect(await numbers(await engine.dataset(1))).toEqual(upTo(20_000))
      expect((await engine.stats()).cache).toMatchObject({ misses: 0 })
    }
    rmSync(join(folder, name, 'cache'), { recursive: true })
    await using engine = await open(name)
    expect(await numbers(await engine.dataset(1))).toEqual(upTo(20_000))
    const { cache } = await engine.stats()
    expect(cache!.misses).toBeGreaterThan(0)
    expect(cache!.fetchedBytes).toBe(cache!.bytes)
    // The disk is lost under way.
    rmSync(join(folder, name, 'cache'), { recursive: true })
    expect(await numbers(await engine.dataset(1))).toEqual(upTo(20_000))
    // Of what is merged or replaced nothing stays.
    const parts = new Set<string>()
    using snapshot = await (await engine.dataset(1)).snapshot()
    for (const { number } of await snapshot.files()) parts.add(`parts/${number}`)
    expect(new Set((await objects(name)).map((key) => key.replace(/-.*/, '')))).toEqual(parts)
  })

  it('fetches only the parts that a question needs', async () => {
    const name = 'selective'
    {
      await using engine = await open(name, { partSizes: { rows: 1_000 } })
      await (await made(engine)).replace(csv(0, 10_000))
    }
    rmSync(join(folder, name, 'cache'), { recursive: true })
    await using engine = await open(name)
    using query = await (await engine.dataset(1)).query({ filter: 'n eq 4711' })
    expect((await Array.fromAsync(query.rows())).length).toBe(1)
    expect((await engine.stats()).cache).toMatchObject({ misses: 1 })
  })

  it('gives Parquet by range without fetching all of it', async () => {
    const name = 'ranges'
    {
      await using engine = await open(name)
      await (await made(engine)).replace(csv(0, 1_000))
    }
    rmSync(join(folder, name, 'cache'), { recursive: true })
    await using engine = await open(name)
    using snapshot = await (await engine.dataset(1)).snapshot()
    const [file] = await snapshot.files()
    const head: Uint8Array[] = []
    for await (const bytes of file!.read(0, 4)) head.push(bytes)
    expect(Buffer.concat(head).toString()).toBe('PAR1')
    expect((await engine.stats()).cache).toMatchObject({ misses: 0, bytes: 0 })
  })

  it('changes nothing while the store is down, reads on from the cache, and goes on when it is back', async () => {
    const name = 'down'
    await using engine = await open(name)
    const dataset = await made(engine)
    await dataset.replace(csv(0, 1_000))
    const other = await made(engine, 'other')
    await other.replace(csv(0, 10))
    await engine.settled()
    line.fault = () => ({ status: 503 })
    await expect(dataset.append(csv(1_000, 2_000))).rejects.toEqual(unavailable)
    await expect(engine.ready()).rejects.toEqual(unavailable)
    expect(await numbers(dataset)).toEqual(upTo(1_000))
    rmSync(join(folder, name, 'cache'), { recursive: true })
    await expect(numbers(dataset)).rejects.toEqual(unavailable)
    line.fault = () => undefined
    expect(await numbers(dataset)).toEqual(upTo(1_000))
    await dataset.append(csv(1_000, 2_000))
    expect(await numbers(dataset)).toEqual(upTo(2_000))
    await engine.deleteDataset(other.id)
    await engine.settled()
    expect(await objects(name)).toHaveLength(2)
    expect((await engine.stats()).events.part_damaged).toBe(0)
  })

  it('removes what a crash has left in the store', async () => {
    const name = 'crashed'
    const engine = await open(name)
    const dataset = await made(engine)
    await dataset.replace(csv(0, 10))
    const store = new S3Store(parseS3Address(`s3://tests/${name}`, { endpoint: server.endpoint }))
    const id = await engine.database.insert("INSERT INTO parts (process) VALUES ('a dead one')")
    await store.put(`parts/${id}-aaaaaaaaaaaaaaaaaaaaaa.parquet`, { data: Buffer.from('left') })
    await store.put(`parts/${id + 1}-aaaaaaaaaaaaaaaaaaaaaa.parquet`, {
      data: Buffer.from('of another catalog'),
    })
    await engine.close()
    await using again = await open(name)
    await again.settled()
    expect((await objects(name)).map((key) => Number(/\d+/.exec(key)![0])).sort()).toEqual([1, id + 1])
    expect(await numbers(await again.dataset(1))).toEqual(upTo(10))
    store.close()
  })

  it('names a part that is gone from the store, and reads the others', async () => {
    const name = 'gone'
    await using engine = await open(name)
    const [one, two] = [await made(engine, 'one'), await made(engine, 'two')]
    await one.replace(csv(0, 10))
    await two.replace(csv(0, 10))
    const [first] = (await objects(name)).filter((key) => key.startsWith('parts/1-'))
    const store = new S3Store(parseS3Address(`s3://tests/${name}`, { endpoint: server.endpoint }))
    await store.remove(first!)
    store.close()
    rmSync(join(folder, name, 'cache'), { recursive: true })
    await expect(numbers(one)).rejects.toEqual(expect.objectContaining({ code: 'storage_damaged' }))
    expect(await numbers(two)).toEqual(upTo(10))
    expect((await engine.verify()).problems).toEqual([
      { dataset: one.id, part: 1, problem: expect.stringContaining('missing') },
    ])
  })

  it('is refused where another catalog has its rows, and where this one has them elsewhere', async () => {
    {
      await using engine = await open('mine')
      await (await made(engine)).replace(csv(0, 10))
    }
    const directory = join(folder, 'mine')
    await expect(open('other', { store: storeOf('mine') })).rejects.toThrow(/rows of another catalog/)
    await expect(openEngine({ directory })).rejects.toThrow(/lie in s3:\/\/tests\/mine/)
    await expect(open('mine', { store: storeOf('elsewhere') })).rejects.toThrow(
      /neither that store nor a copy/,
    )
  })

  it('is moved there from a directory and back, and goes on where a move was ended', async () => {
    const directory = join(folder, 'moved')
    const rows = 5_000
    {
      await using engine = await openEngine({ directory, threads: 2, partSizes: { rows: 1_000 } })
      await (await made(engine)).replace(csv(0, rows))
    }
    const target = storeOf('moved')
    const from = { endpoint: line.endpoint }
    await expect(openEngine({ directory, store: target })).rejects.toThrow(/parquetry migrate/)
    let puts = 0
    line.fault = (asked) => (asked.method === 'PUT' && ++puts > 3 ? { status: 403 } : undefined)
    await expect(moveRows(directory, { target, from })).rejects.toEqual(unavailable)
    line.fault = () => undefined
    {
      await using engine = await openEngine({ directory, threads: 2 })
      expect(await numbers(await engine.dataset(1))).toEqual(upTo(rows))
    }
    expect(await moveRows(directory, { target, from })).toMatchObject({ parts: 5, copied: 3 })
    rmSync(join(directory, 'parts'), { recursive: true })
    rmSync(join(directory, 'cache'), { recursive: true })
    {
      await using engine = await openEngine({ directory, store: target, threads: 2 })
      expect(await numbers(await engine.dataset(1))).toEqual(upTo(rows))
    }
    expect(await moveRows(directory, { target: undefined, from })).toMatchObject({ parts: 5, copied: 5 })
    await using engine = await openEngine({ directory, threads: 2 })
    expect(await numbers(await engine.dataset(1))).toEqual(upTo(rows))
    expect(await engine.verify()).toMatchObject({ rows, problems: [] })
  })

  it('is backed up into a directory that stands for itself', async () => {
    await using engine = await open('saved')
    const dataset = await made(engine)
    await dataset.replace(csv(0, 1_000))
    const backup = join(folder, 'backup')
    expect(await engine.backup(backup)).toMatchObject({ parts: 1, copied: 1 })
    await dataset.append(csv(1_000, 2_000))
    expect(await engine.backup(backup)).toMatchObject({ parts: 2, copied: 1 })
    const directory = join(folder, 'restored')
    await restoreBackup(backup, directory)
    await using restored = await openEngine({ directory, threads: 2 })
    expect(await numbers(await restored.dataset(1))).toEqual(upTo(2_000))
  })

  it('can be worked on by commands beside a server, each with a cache of its own', async () => {
    await using engine = await open('beside')
    const dataset = await made(engine)
    await dataset.replace(csv(0, 10))
    {
      await using guest = await open('beside', { role: 'guest' })
      expect(await numbers(await guest.dataset(1))).toEqual(upTo(10))
      await (await guest.dataset(1)).append(csv(10, 20))
    }
    expect(await numbers(dataset)).toEqual(upTo(20))
    const left = readdirSync(join(folder, 'beside', 'tmp'))
    expect(left).toHaveLength(1)
    expect(existsSync(join(folder, 'beside', 'tmp', left[0]!, 'cache'))).toBe(false)
  })
})
