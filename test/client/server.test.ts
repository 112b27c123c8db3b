import { gzipSync } from 'node:zlib'
import { tableFromIPC } from 'apache-arrow'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client, ParquetryError } from '../../server/client/index.ts'
import { startUpstream, type Upstream } from '../connectors/support/upstream.ts'
import { type Served, serveSamples } from './served.ts'

let upstream: Upstream
let served: Served
let client: Client

beforeAll(async () => {
  upstream = await startUpstream({
    '/v1/currencies': { body: { EUR: 'Euro', USD: 'US Dollar' } },
    '*': {
      body: { amount: 1, base: 'EUR', rates: { '2026-01-02': { USD: 1.25 }, '2026-01-05': { USD: 1.5 } } },
    },
  })
  served = await serveSamples({
    PARQUETRY_PROVIDER_FRANKFURTER_URL: upstream.url,
    PARQUETRY_PROVIDER_FRED_URL: upstream.url,
  })
  client = new Client({ url: served.url, key: served.key })
})
afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await upstream.close()
})

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

test('rows are appended while they come, and each commit is told', async () => {
  const { id: repositoryId } = await client.repositories.create({ name: 'streams', private: true })
  const { id } = await client.datasets.create({
    name: 'events',
    repositoryId,
    columns: [{ name: 'n', type: 'integer' }],
  })
  const confirmed: unknown[] = []
  let goOn = Promise.withResolvers<void>()
  async function* body() {
    for (const value of ['1', '2', '"three"', '4']) {
      yield Buffer.from(`{"n":${value}}\n`)
      // The next row is not sent before this one is confirmed.
      await goOn.promise
    }
  }
  const append = async () => {
    for await (const commit of client.datasets.appendStream(
      id,
      { format: 'ndjson', body: body() },
      { commit: 1 },
    )) {
      confirmed.push(commit)
      const { resolve } = goOn
      goOn = Promise.withResolvers()
      resolve()
    }
  }
  await expect(append()).rejects.toMatchObject({
    name: 'ParquetryError',
    code: 'invalid_upload',
    message: 'Row 3, column "n": "three" is not an integer.',
    details: { row: 3 },
    errors: [{ row: 3, column: 'n' }],
  })
  expect(confirmed).toEqual([
    { version: 1, rows: 1, total: 1 },
    { version: 2, rows: 1, total: 2 },
  ])
  expect(await collect(client.datasets.rows(id))).toEqual([{ n: 1 }, { n: 2 }])
})

test('a repository and a dataset live from creation to deletion', async () => {
  const repository = await client.repositories.create({ name: 'shop', private: true })
  expect(repository).toMatchObject({ name: 'shop', private: true, owner: 'root', permission: 'Write' })
  expect((await client.repositories.update(repository.id, { description: 'All of it' })).description).toBe(
    'All of it',
  )
  expect(await client.repositories.get(repository.id)).toMatchObject({ description: 'All of it' })
  expect((await client.repositories.list()).map((one) => one.name)).toContain('shop')
  expect(await client.repositories.members(repository.id)).toEqual([])

  const dataset = await client.datasets.create({
    name: 'orders',
    repositoryId: repository.id,
    columns: [{ name: 'id', type: 'integer' }],
  })
  expect((await client.datasets.update(dataset.id, { name: 'all orders' })).name).toBe('all orders')
  const wider = [
    { name: 'id', type: 'integer' },
    { name: 'unit price', type: 'decimal(18,2)', description: 'In euros' },
  ] as const
  expect((await client.datasets.declareColumns(dataset.id, wider)).columns).toHaveLength(2)
  expect(await client.datasets.columns(dataset.id)).toEqual([
    { name: 'id', type: 'integer', nullable: true, description: '' },
    { name: 'unit price', type: 'decimal(18,2)', nullable: true, description: 'In euros' },
  ])
  expect((await client.datasets.replace(dataset.id, { rows: [[1, '0.10']] })).rowCount).toBe(1)
  const csv = 'id,unit price\n9007199254740993,1.00\n'
  expect((await client.datasets.append(dataset.id, { format: 'csv', body: csv })).rowCount).toBe(2)
  const packed = gzipSync('{"id":3,"unit price":null}\n')
  const upload = { format: 'ndjson', body: new Blob([packed]), gzip: true } as const
  expect((await client.datasets.append(dataset.id, upload)).rowCount).toBe(3)
  expect((await client.datasets.get(dataset.id)).rowCount).toBe(3)
  expect(
    await collect(client.datasets.rows(dataset.id, { orderBy: [{ column: 'id', descending: true }] })),
  ).toEqual([
    { id: 9007199254740993n, 'unit price': 1 },
    { id: 3, 'unit price': null },
    { id: 1, 'unit price': 0.1 },
  ])
  const inText = [
    { id: 1, 'unit price': '0.10' },
    { id: 9007199254740993n, 'unit price': '1.00' },
    { id: 3, 'unit price': null },
  ]
  expect(await collect(client.datasets.rows(dataset.id, { decimals: 'text' }))).toEqual(inText)
  const array = await client.datasets.download(dataset.id, 'json', { decimals: 'text', top: 1 })
  expect(await array.text()).toBe('[{"id":1,"unit price":"0.10"}]\n')
  await expect(client.datasets.download(dataset.id, 'csv', { decimals: 'text' })).rejects.toMatchObject({
    code: 'invalid_option',
  })
  await client.datasets.delete(dataset.id)
  await client.repositories.delete(repository.id)
  await expect(client.datasets.get(dataset.id)).rejects.toMatchObject({ status: 404, code: 'not_found' })
})

test('questions are answered in every format', async () => {
  const [penguins] = (await client.datasets.list()).filter(({ name }) => name === 'penguins')
  const { id, rowCount } = penguins!
  const question = { filter: "Island eq 'Dream'", select: ['Species', 'Body Mass (g)'], top: 2 }
  const csv = await client.datasets.download(id, 'csv', question)
  expect(csv.rowCount).toBe(await client.datasets.count(id, { filter: question.filter }))
  expect((await csv.text()).split('\n')).toHaveLength(4)
  const again = await client.datasets.download(id, 'csv', { ...question, ifNoneMatch: csv.etag! })
  expect(again.modified).toBe(false)
  const arrow = await client.datasets.download(id, 'arrow')
  expect(tableFromIPC(new Uint8Array(await arrow.arrayBuffer())).numRows).toBe(rowCount)
  expect(await client.datasets.count(id)).toBe(rowCount)
  expect(await collect(client.datasets.rows(id))).toHaveLength(rowCount!)
})

test('small files open office programs at the feed of a dataset', async () => {
  const [dataset] = await client.datasets.list()
  const pbids = JSON.parse(await client.datasets.connectionFile(dataset!.id, 'pbids'))
  expect(pbids.connections[0].details.address.url).toContain('/odata/')
  expect(await client.datasets.connectionFile(dataset!.id, 'odc')).toContain('OData.Feed')
})

test('errors carry the code that the server gives', async () => {
  const error = await client.datasets.download(3, 'csv', { filter: 'nope eq 1' }).catch((caught) => caught)
  expect(error).toBeInstanceOf(ParquetryError)
  expect(error).toMatchObject({ status: 400, code: 'invalid_columns' })
  const stranger = new Client({ url: served.url, key: 'somebody-elses-key' })
  await expect(stranger.account.get()).rejects.toMatchObject({ status: 401, code: 'unauthorized' })
})

test('a stream goes up as it comes, and comes down as it is read', async () => {
  const { id: repositoryId } = await client.repositories.create({ name: 'streams' })
  const { id } = await client.datasets.create({ name: 'numbers', repositoryId })
  async function* lines() {
    for (let at = 0; at < 200_000; at += 1000) {
      const rows = Array.from({ length: 1000 }, (_, index) => `${at + index}\n`)
      yield new TextEncoder().encode((at === 0 ? 'n\n' : '') + rows.join(''))
    }
  }
  expect((await client.datasets.replace(id, { format: 'csv', body: lines() })).rowCount).toBe(200_000)
  let sum = 0
  for await (const { n } of client.datasets.rows<{ n: number }>(id)) sum += n
  expect(sum).toBe((200_000 * 199_999) / 2)
})

test('providers are browsed and read', async () => {
  expect((await client.providers.list()).map(({ slug }) => slug)).toContain('frankfurter')
  expect(await client.providers.get('Frankfurter')).toMatchObject({ slug: 'frankfurter', userKey: false })
  expect((await client.providers.browse('frankfurter')).categories.map(({ path }) => path)).toEqual([
    'EUR',
    'USD',
    'v2',
  ])
  expect(await client.providers.seriesPage('frankfurter', 'EUR', { limit: 1 })).toMatchObject({
    total: 1,
    limit: 1,
  })
  expect(
    (await collect(client.providers.allSeries('frankfurter', 'EUR'))).map((one) => one.series_id),
  ).toEqual(['EUR/USD'])
  const series = await client.providers.series('frankfurter', 'EUR/USD', { start: '2026-01-01' })
  expect(series).toMatchObject({ provider: 'frankfurter', series_id: 'EUR/USD' })
  expect(series.observations.map(({ value }) => value)).toEqual([1.25, 1.5])
  const csv = await client.providers.download('frankfurter', 'EUR/USD', 'csv', { last: 1 })
  expect(await csv.text()).toContain('2026-01-05')
})

test('several series come as one table, with the reasons of those that do not', async () => {
  const [id, unknown] = ['frankfurter/EUR/USD', 'frankfurter/EUR']
  const table = await client.providers.table([id!, unknown!], { start: '2026-01-01', filter: 'value gt 1.3' })
  expect(table.rows).toMatchObject([{ provider: 'frankfurter', series_id: 'EUR/USD', value: 1.5 }])
  expect(table.missing).toMatchObject([
    { provider: 'frankfurter', series_id: 'EUR', code: 'invalid_series_id', error: expect.any(String) },
  ])
  const wide = await client.providers.table(['EUR/USD'], { provider: 'frankfurter', shape: 'wide' })
  expect(wide.rows[0]).toMatchObject({ 'EUR/USD': expect.any(Number) })
  const csv = await client.providers.downloadTable([id!], 'csv', { start: '2026-01-01', delimiter: ';' })
  expect(await csv.text()).toMatch(/^provider;series_id;date;/)
})

test('keys at providers and of the account are managed', async () => {
  const saved = await client.userKeys.save('FRED', 'abcdefghijklmnopqrstuvwxyz012345')
  expect(saved).toMatchObject({ provider: 'fred' })
  expect(saved.keyHint).not.toContain('abcdef')
  expect(await client.userKeys.list()).toEqual([saved])
  await client.userKeys.delete('fred')
  expect(await client.userKeys.list()).toEqual([])
  expect(await client.account.get()).toMatchObject({
    name: 'root',
    plan: 'unlimited',
    limits: { exportedRows: null },
  })
  const old = new Client({ url: served.url, key: served.key })
  const { apiKey } = await client.account.rotateKey()
  expect((await client.account.get()).name).toBe('root')
  await expect(old.account.get()).rejects.toMatchObject({ status: 401 })
  expect(apiKey.length).toBeGreaterThan(16)
})

test('admins manage accounts, and each account its own keys', async () => {
  const made = await client.accounts.create({ name: 'grace', plan: 'pro' })
  expect((await client.accounts.list()).map(({ name, plan }) => [name, plan])).toContainEqual([
    'grace',
    'pro',
  ])
  expect((await client.accounts.plans()).find(({ name }) => name === 'pro')?.limits).toHaveProperty(
    'datasets',
  )
  expect(await client.accounts.update('grace', { plan: 'free' })).toMatchObject({
    plan: 'free',
    disabled: false,
  })

  const grace = new Client({ url: served.url, key: made.apiKey })
  const key = await grace.account.createKey({ name: 'report', readOnly: true, expiresAt: null })
  expect(await grace.account.listKeys()).toMatchObject([{ name: 'report', readOnly: true }])
  const report = new Client({ url: served.url, key: key.apiKey })
  expect((await report.account.get()).name).toBe('grace')
  await expect(report.repositories.create({ name: 'mine' })).rejects.toMatchObject({ status: 403 })
  await grace.account.deleteKey('report')
  await expect(report.account.get()).rejects.toMatchObject({ status: 401 })

  await client.accounts.rotateKey('grace')
  await expect(grace.account.get()).rejects.toMatchObject({ status: 401 })
  await expect(report.accounts.list()).rejects.toMatchObject({ status: 401 })
})

test('numbers that JSON has no word for arrive as they are', async () => {
  const { id: repositoryId } = await client.repositories.create({ name: 'odd' })
  const { id } = await client.datasets.create({ name: 'odd', repositoryId })
  const rows = [
    { whole: 9_007_199_254_740_993n, real: Number.NaN },
    { whole: 5n, real: Number.POSITIVE_INFINITY },
    { whole: -1, real: Number.NEGATIVE_INFINITY },
    { whole: null, real: 0.5 },
  ]
  expect((await client.datasets.replace(id, { rows })).columns.map(({ type }) => type)).toEqual([
    'integer',
    'double',
  ])
  expect(await collect(client.datasets.rows(id))).toEqual([
    { whole: 9_007_199_254_740_993n, real: 'NaN' },
    { whole: 5, real: 'INF' },
    { whole: -1, real: '-INF' },
    { whole: null, real: 0.5 },
  ])
  await client.datasets.editRows(id, 'whole eq 5', { whole: 9_007_199_254_740_995n })
  await client.datasets.editRows(id, 'whole eq 9007199254740995', { whole: 6n, real: Number.NaN })
  expect(await collect(client.datasets.rows(id, { filter: 'whole eq 6' }))).toEqual([
    { whole: 6, real: 'NaN' },
  ])
  const ask = (value: unknown) =>
    collect(client.sqlRows('SELECT whole FROM odd.odd WHERE whole = $1', { parameters: [value] }))
  expect(await ask(6n)).toEqual([{ whole: 6 }])
  expect(await ask('9007199254740993')).toEqual([{ whole: 9_007_199_254_740_993n }])
  await expect(ask(9_007_199_254_740_993n)).rejects.toMatchObject({
    code: 'invalid_body',
    message: expect.stringMatching(/9007199254740993 .*send it as text/),
  })
})
