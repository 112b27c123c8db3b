import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Dataset, type Engine, type EngineOptions, moveRows, openEngine } from '../../engine/index.ts'
import { parseS3Address } from '../../engine/store/objects/address.ts'
import { S3Store } from '../../engine/store/objects/s3.ts'
import { errorOf, read } from '../attach/lake.ts'
import { FaultyLine } from '../cluster/faulty-line.ts'
import { S3_SERVERS, S3Server } from '../cluster/s3-server.ts'
import { httpfsFolder } from '../cluster/tools.ts'
import { parquetry } from '../commands/parquetry.ts'
import { platform } from '../server/platform.ts'

const root = mkdtempSync(join(tmpdir(), 'parquetry-bucket-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const LAKE = 's3://tests/lake/'
const httpfs = httpfsFolder()
/** Where our own rows are. */
const FORMS = ['a data directory', 'a store of objects'] as const

describe.runIf(S3_SERVERS.length > 0)('objects that stay where they are', () => {
  let server: S3Server
  let line: FaultyLine
  let bucket: S3Store
  let duckdb: DuckDBInstance
  beforeAll(async () => {
    server = await S3Server.start()
    line = await FaultyLine.before(server.port)
    bucket = new S3Store(parseS3Address(LAKE, { endpoint: server.endpoint }))
    duckdb = await DuckDBInstance.create(':memory:')
  })
  afterEach(() => {
    line.fault = () => undefined
    line.asked.length = 0
  })
  afterAll(async () => {
    bucket?.close()
    duckdb?.closeSync()
    await line?.[Symbol.asyncDispose]()
    await server?.[Symbol.asyncDispose]()
  })

  let files = 0
  /** Has DuckDB write rows, and puts them under a key. Gives the file. */
  async function put(key: string, select: string, groupRows = 20_480): Promise<string> {
    const file = join(root, `file-${++files}.parquet`)
    const connection = await duckdb.connect()
    await connection.run(`COPY (${select}) TO '${file}' (FORMAT parquet, ROW_GROUP_SIZE ${groupRows})`)
    connection.closeSync()
    await bucket.put(key, { file })
    return file
  }

  const rows = (from: number, count = 9_000) =>
    `SELECT i + ${from} AS n, 'text ' || i AS t, i / 8 AS d FROM range(${count}) t(i)`

  async function three(folder: string): Promise<string[]> {
    const made = []
    for (const at of [0, 1, 2]) made.push(await put(`${folder}/month=${at}/rows.parquet`, rows(at * 9_000)))
    return made
  }

  const open = (name: string, form: (typeof FORMS)[number] = FORMS[0], more: Partial<EngineOptions> = {}) => {
    const s3 = { endpoint: line.endpoint }
    const rows = form === FORMS[0] ? { s3 } : { store: { ...s3, address: `s3://tests/own/${name}` } }
    return openEngine({ directory: join(root, name), role: 'server', attachable: [LAKE], ...rows, ...more })
  }

  let datasets = 0
  async function make(engine: Engine): Promise<Dataset> {
    const [repository = await engine.createRepository({ name: 'main' })] = await engine.repositories()
    datasets += 1
    return engine.dataset(
      (await engine.createDataset({ repositoryId: repository.id, name: `t${datasets}` })).id,
    )
  }

  async function attached(engine: Engine, path: string): Promise<Dataset> {
    const dataset = await make(engine)
    await dataset.attach(LAKE + path)
    return dataset
  }

  async function sqlRows(engine: Engine, statement: string): Promise<object[]> {
    using query = await engine.sql(statement)
    return await Array.fromAsync(query.rows())
  }

  const gets = () => line.asked.filter((asked) => asked.startsWith('GET') && asked.includes('.parquet'))

  it.each(FORMS)('are read as an upload of them is, with rows in %s', async (form) => {
    const folder = form.replaceAll(' ', '-')
    const uploaded = await three(folder)
    await put(`${folder}/_temporary/0.parquet`, 'SELECT 1 AS other')
    await bucket.put(`${folder}/_SUCCESS`, { data: Buffer.from('') })
    await using engine = await open(folder, form)
    const dataset = await attached(engine, `${folder}/`)
    // Their ends only.
    expect((await engine.stats()).cache!.fetchedBytes).toBe(0)
    const own = await make(engine)
    for (const file of uploaded) await own.append({ format: 'parquet', body: { file } })
    for (const options of [
      {},
      { filter: 'n eq 9001' },
      { orderBy: 'd desc,n', top: 5, select: ['n', 't'] },
      { apply: 'filter(n lt 12000)/aggregate(n with sum as s,$count as c)' },
    ])
      expect(await read(dataset, options)).toBe(await read(own, options))
    const [one, other] = [(await dataset.record()).name, (await own.record()).name]
    const join = `SELECT count(*) AS c, sum(a.n) AS s FROM ${one} a JOIN ${other} b ON a.n = b.n AND a.t = b.t`
    expect(await sqlRows(engine, join)).toMatchObject([{ c: 27_000 }])
    expect(await dataset.profile()).toEqual(await own.profile())
    expect((await engine.verify()).problems).toEqual([])
    expect((await engine.stats()).cache!.misses).toBeGreaterThanOrEqual(3)
    const asked = gets().length
    await read(dataset)
    expect(gets()).toHaveLength(asked)
    // Attaching them again reads nothing but the listing.
    expect((await dataset.attach(`${LAKE}${folder}`)).version).toBe(1)
    expect(gets()).toHaveLength(asked)
    // Nothing of ours removes them.
    await engine.deleteDataset(dataset.id)
    await engine.settled()
    await engine.gc()
    expect(await bucket.size(`${folder}/month=1/rows.parquet`)).toBeGreaterThan(0)
  })

  it.each([
    ['deleted', (key: string) => bucket.remove(key), 'is missing'],
    ['changed', (key: string) => put(key, rows(7, 9_000)), 'was changed since it was attached'],
    [
      'cut off',
      async (key: string) => {
        const { data } = (await bucket.read(key))!
        await bucket.put(key, { data: data.subarray(0, data.length / 2) })
      },
      'was changed since it was attached',
    ],
  ] as const)('are an error that names them where one was %s', async (name, change, said) => {
    const folder = name.replaceAll(' ', '-')
    await three(folder)
    await using engine = await open(folder)
    const dataset = await attached(engine, folder)
    await change(`${folder}/month=1/rows.parquet`)
    const { name: table } = await dataset.record()
    for (const work of [
      () => read(dataset),
      () => read(dataset, { filter: 'n eq 9001' }),
      () => sqlRows(engine, `SELECT max(n) FROM ${table}`),
    ]) {
      const error = await errorOf(work())
      expect(error).toMatchObject({ code: 'file_changed' })
      expect(error.message).toContain(`"month=1/rows.parquet" of this dataset ${said}`)
    }
    // Objects that are not read are not looked at.
    expect(await read(dataset, { filter: 'n eq 5', select: ['n'] })).toBe('{"n":5}\n')
    const { problems } = await engine.verify()
    expect(problems).toHaveLength(1)
    expect(problems[0]!.problem).toContain('"month=1/rows.parquet"')
    if (name === 'deleted') await put(`${folder}/month=1/rows.parquet`, rows(9_000))
    if (name !== 'cut off')
      expect((await dataset.attach(LAKE + folder)).version).toBe(name === 'deleted' ? 1 : 2)
  })

  it.runIf(httpfs !== undefined)('are read by ranges where little of them is read', async () => {
    await put('large/a.parquet', `SELECT i AS n, sha256(i::VARCHAR) AS t FROM range(400000) t(i)`, 122_880)
    await using engine = await open('ranges', FORMS[0], { s3: { endpoint: line.endpoint, httpfs } })
    const dataset = await attached(engine, 'large/*.parquet')
    const { bytes, name } = await dataset.record()
    const one = { filter: 'n eq 300000', select: ['n'] }
    expect(await read(dataset, one)).toBe('{"n":300000}\n')
    expect(await sqlRows(engine, `SELECT sum(n) AS s FROM ${name}`)).toEqual([{ s: '79999800000' }])
    const { cache } = await engine.stats()
    expect(cache).toMatchObject({ misses: 0 })
    expect(cache!.blockMisses).toBeGreaterThan(0)
    expect(cache!.fetchedBytes).toBeLessThan(bytes / 4)
    await put('large/a.parquet', `SELECT i AS n, sha256(i::VARCHAR) AS t FROM range(400001) t(i)`)
    // What was fetched is of the version that is read; anything else of it is gone.
    expect(await read(dataset, one)).toBe('{"n":300000}\n')
    const error = await errorOf(read(dataset, { filter: 'n eq 100000' }))
    expect(error).toMatchObject({ code: 'file_changed' })
    expect(error.message).toContain('"a.parquet"')
  })

  it('make a new version when they are attached again, which reads only those that are new', async () => {
    await three('again')
    await using engine = await open('again')
    const dataset = await attached(engine, 'again/**/*.parquet')
    line.asked.length = 0
    await bucket.remove('again/month=1/rows.parquet')
    await put('again/month=3/rows.parquet', rows(90_000, 2))
    expect((await dataset.attach(`${LAKE}again/**/*.parquet`, { isRefresh: true })).version).toBe(2)
    expect(gets().filter((asked) => !asked.includes('month%3D3'))).toEqual([])
    const [newest] = await dataset.versions({ limit: 1 })
    expect(newest).toMatchObject({ addedRows: 2, removedRows: 9_000, rowCount: 18_002 })
    expect(await errorOf(read(dataset, { version: 1 }))).toMatchObject({ code: 'file_changed' })
    await put('again/month=4/rows.parquet', rows(95_000, 1))
    await dataset.attach(`${LAKE}again/**/*.parquet`)
    using changes = await dataset.changes({ since: 2 })
    expect(await Array.fromAsync(changes.query({ select: ['n'] }).rows())).toEqual([{ n: 95_000 }])
  })

  it('stay in backups by their addresses, and move into a store with the rest', async () => {
    await three('kept')
    const backup = join(root, 'kept-backup')
    {
      await using engine = await open('kept')
      const dataset = await attached(engine, 'kept')
      await (await make(engine)).replace({ format: 'csv', body: Buffer.from('n\n1\n') })
      const saved = await engine.backup(backup)
      expect(saved).toMatchObject({ parts: 1 })
      expect(saved.attached).toEqual([expect.objectContaining({ folder: `${LAKE}kept`, files: 3 })])
      await using restored = await openEngine({
        directory: backup,
        attachable: [LAKE],
        s3: { endpoint: line.endpoint },
      })
      expect(await read(await restored.dataset(dataset.id))).toBe(await read(dataset))
    }
    const store = { address: 's3://tests/own/kept', endpoint: line.endpoint }
    expect(await moveRows(join(root, 'kept'), { target: store, from: store })).toMatchObject({ parts: 1 })
    await using moved = await openEngine({ directory: join(root, 'kept'), attachable: [LAKE], store })
    expect(await read(await moved.dataset(1), { filter: 'n eq 20000', select: ['n'] })).toBe('{"n":20000}\n')
  })

  it('are attached below the prefixes that the operator names, and are read nowhere else', async () => {
    await three('mine')
    await using engine = await open('mine')
    const dataset = await attached(engine, 'mine/month=2/rows.parquet')
    expect(await read(dataset, { top: 1, select: ['n'] })).toBe('{"n":18000}\n')
    const other = await make(engine)
    line.asked.length = 0
    for (const path of [
      's3://tests/own',
      's3://tests/lake-2/a',
      's3://other/lake/',
      's3://tests/lake/../own',
    ])
      expect(await errorOf(other.attach(path))).toMatchObject({ code: 'invalid_option' })
    expect(line.asked).toEqual([])
    for (const [path, said] of [
      ['nothing', 'There is no file *.parquet in s3://tests/lake/nothing.'],
      ['mine/*.csv', 'There is no file *.csv'],
    ]) {
      const error = await errorOf(other.attach(LAKE + path))
      expect(error).toMatchObject({ code: 'invalid_file', message: expect.stringContaining(said!) })
    }
    await bucket.put('bad/a.parquet', { data: Buffer.from('PAR1 and some pages, of which there is no end') })
    await bucket.put('bad/b.parquet', { data: Buffer.from('PAR1') })
    await bucket.put('bad/c.parquet', { data: Buffer.from('') })
    for (const name of ['a', 'b', 'c']) {
      const error = await errorOf(other.attach(`${LAKE}bad/${name}.parquet`))
      expect(error).toMatchObject({ code: 'invalid_file' })
      expect(error.message).toContain(`${name}.parquet can't be attached`)
    }
    line.fault = (asked) => (asked.method === 'GET' ? { status: 403 } : undefined)
    expect(await errorOf(other.attach(`${LAKE}mine`))).toMatchObject({ code: 'storage_unavailable' })
    line.fault = () => undefined
    await engine.close()
    await using without = await open('mine', FORMS[0], { attachable: [] })
    const error = await errorOf(read(await without.dataset(dataset.id)))
    expect(error).toMatchObject({ code: 'file_changed' })
    expect(error.message).toContain('is below none of the folders')
  })

  it('are attached and followed by the command', async () => {
    await put('seen/a.parquet', 'SELECT 1::BIGINT AS n')
    let now = new Date('2030-01-01T00:00:00Z')
    const config = { attachable: LAKE, s3Endpoint: line.endpoint } as object
    await using at = await platform({ now: () => now, config })
    await at.call(at.root, 'POST', '/repositories', { json: { name: 'home' } })
    const variables = {
      PARQUETRY_DATA: at.directory,
      PARQUETRY_ATTACHABLE: `/nowhere:${LAKE}`,
      PARQUETRY_S3_ENDPOINT: line.endpoint,
    }
    const done = await parquetry(['attach', `${LAKE}seen`, '--as', 'home/seen', '--follow'], '', variables)
    expect(done.stderr).toBe('')
    const id = Number(/^dataset (\d+): 1 row/.exec(done.stdout)![1])
    const data = async () => (await at.call(at.root, 'GET', `/datasets/${id}/data?$format=ndjson`)).body
    expect(await data()).toBe('{"n":1}\n')
    await put('seen/b.parquet', 'SELECT 2::BIGINT AS n')
    now = new Date('2030-01-01T01:00:00Z')
    await at.services.refresher.runDue()
    expect(await data()).toBe('{"n":1}\n{"n":2}\n')
    await put('seen/b.parquet', 'SELECT 3::BIGINT AS n')
    await at.engine.settled()
    now = new Date('2030-01-01T02:00:00Z')
    await at.services.refresher.runDue()
    expect(await data()).toBe('{"n":1}\n{"n":3}\n')
    const source = (await at.call(at.root, 'GET', `/datasets/${id}/source`)).json()
    expect(source).toMatchObject({ files: 'seen', every: 'hour', lastError: null, lastVersion: 3 })
  })

  it('leave nothing behind but the cache, and a damaged one is fetched again', async () => {
    await three('tidy')
    const directory = join(root, 'tidy')
    let id: number
    {
      await using engine = await open('tidy')
      const dataset = await attached(engine, 'tidy')
      id = dataset.id
      await read(dataset)
      expect(readdirSync(join(directory, 'cache'))).toHaveLength(3)
    }
    expect(readdirSync(join(directory, 'tmp'))).toEqual([])
    const [first] = readdirSync(join(directory, 'cache'))
    cpSync(join(root, 'file-1.parquet'), join(directory, 'cache', first!))
    await using engine = await open('tidy')
    expect(await read(await engine.dataset(id), { filter: 'n lt 2', select: ['n'] })).toBe(
      '{"n":0}\n{"n":1}\n',
    )
    expect(existsSync(join(directory, 'cache', first!))).toBe(true)
  })
})
