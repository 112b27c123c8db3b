import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parquetry } from '../commands/parquetry.ts'
import { type Platform, platform } from '../server/platform.ts'
import { type Lake, openLake } from './lake.ts'

let lake: Lake
let at: Platform
let now = new Date('2030-01-01T00:00:00Z')
let id: number

beforeAll(async () => {
  lake = await openLake()
  at = await platform({
    now: () => now,
    config: { attachable: lake.folder, iceberg: { localFiles: true } } as object,
  })
  await lake.write('seen/a.parquet', 'SELECT 1::BIGINT AS n')
  const { id: repositoryId } = (
    await at.call(at.root, 'POST', '/repositories', { json: { name: 'home' } })
  ).json()
  id = (await at.call(at.root, 'POST', '/datasets', { json: { name: 'seen', repositoryId } })).json().id
  await (await at.engine.dataset(id)).attach(join(lake.folder, 'seen'))
})
afterAll(async () => {
  await at[Symbol.asyncDispose]()
  await lake[Symbol.asyncDispose]()
})

const get = (path: string) => at.call(at.root, 'GET', path)
const rows = async () => (await get(`/datasets/${id}/data?$format=ndjson`)).body
const later = async () => {
  now = new Date(now.getTime() + 3_600_000)
  await at.services.refresher.runDue()
}

test('HTTP reads attached files, and writes are a conflict', async () => {
  expect(await rows()).toBe('{"n":1}\n')
  const odata = await get('/odata/home_seen?$count=true')
  expect(odata.json()).toMatchObject({ '@odata.count': 1, value: [{ n: 1 }] })
  const csv = { body: 'n\n2\n', headers: { 'content-type': 'text/csv' } }
  for (const method of ['PUT', 'POST']) {
    const answer = await at.call(at.root, method, `/datasets/${id}/data`, csv)
    expect(answer.statusCode).toBe(409)
    expect(answer.json()).toMatchObject({ code: 'attached_files' })
  }
})

test('they are an Iceberg table, whose readers find columns by name, unless the files number their columns', async () => {
  const table = (await get('/iceberg/v1/namespaces/home/tables/seen')).json()
  const mapping = table.metadata.properties['schema.name-mapping.default']
  expect(JSON.parse(mapping)).toEqual([{ 'field-id': 1, names: ['n'] }])
  await lake.write('numbered/a.parquet', 'SELECT 1::BIGINT AS n', ', FIELD_IDS {n: 7}')
  const { id: repositoryId } = (await get('/repositories')).json()[0]
  const made = await at.call(at.root, 'POST', '/datasets', { json: { name: 'numbered', repositoryId } })
  await (await at.engine.dataset(made.json().id)).attach(join(lake.folder, 'numbered'))
  const answer = await get('/iceberg/v1/namespaces/home/tables/numbered')
  expect(answer.statusCode).toBe(409)
})

test('nobody can have the server read its files over HTTP', async () => {
  for (const json of [{ files: lake.folder }, { url: `file://${lake.folder}/seen/a.parquet` }]) {
    const answer = await at.call(at.root, 'PUT', `/datasets/${id}/source`, { json })
    expect(answer.statusCode).toBe(400)
  }
})

test('a followed folder makes a version when its listing changes, and only then', async () => {
  const { accounts, refresher, sources } = at.services
  const [account] = await accounts.list()
  const address = { files: join(lake.folder, 'seen') }
  const followed = {
    datasetId: id,
    accountId: account!.id,
    series: [],
    address,
    start: null,
    every: 'hour',
  } as const
  await (await refresher.follow(followed)).done
  await later()
  expect((await sources.get(id))!.lastVersion).toBeNull()
  await lake.write('seen/b.parquet', 'SELECT 2::BIGINT AS n')
  await later()
  expect(await rows()).toBe('{"n":1}\n{"n":2}\n')
  await lake.write('seen/a.parquet', 'SELECT 3::BIGINT AS n FROM range(2)')
  expect((await get(`/datasets/${id}/data`)).json()).toMatchObject({ code: 'file_changed' })
  await later()
  expect(await rows()).toBe('{"n":3}\n{"n":3}\n{"n":2}\n')
  rmSync(join(lake.folder, 'seen/a.parquet'))
  await later()
  expect(await rows()).toBe('{"n":2}\n')
  const source = (await get(`/datasets/${id}/source`)).json()
  expect(source).toMatchObject({ files: 'seen', every: 'hour', lastError: null, lastVersion: 4 })
  expect(JSON.stringify(source)).not.toContain(lake.folder)
})

test('a file that is still being written keeps the version that there is', async () => {
  writeFileSync(join(lake.folder, 'seen/c.parquet'), 'PAR1 and some pages')
  await later()
  expect(await rows()).toBe('{"n":2}\n')
  expect((await get(`/datasets/${id}/source`)).json().lastError).toContain('c.parquet')
  await lake.write('seen/c.parquet', 'SELECT 4::BIGINT AS n')
  await later()
  expect(await rows()).toBe('{"n":2}\n{"n":4}\n')
  expect((await at.call(at.root, 'PUT', `/datasets/${id}/data`, { json: { rows: [] } })).statusCode).toBe(409)
})

test('the command attaches, follows, and stops following', async () => {
  await lake.write('mine/a.parquet', 'SELECT 1 AS n')
  const variables = { PARQUETRY_DATA: at.directory, PARQUETRY_ATTACHABLE: lake.folder }
  const call = (...args: string[]) => parquetry(args, '', variables)
  const path = join(lake.folder, 'mine')
  const done = await call('attach', path, '--as', 'home/mine', '--follow', '--every', 'day')
  expect(done.stderr).toBe('')
  expect(done.stdout).toMatch(/^dataset \d+: 1 row, 1 column, version 1; the files stay where they are\n$/)
  expect((await call('source', 'show', 'home/mine')).stdout).toContain('files\tmine\nevery\tday\n')
  expect((await call('attach', path, '--as', 'home/mine')).code).toBe(0)
  expect((await call('source', 'show', 'home/mine')).stdout).toContain('follows neither')
  const outside = await call('attach', lake.data, '--as', 'home/new')
  expect(outside.code).toBe(1)
  expect(outside.stderr).toContain('PARQUETRY_ATTACHABLE')
  const none = await parquetry(['attach', path, '--as', 'home/new'], '', { PARQUETRY_DATA: at.directory })
  expect(none.stderr).toContain('there are none yet')
  expect((await call('describe', 'home/new')).code).not.toBe(0)
  const wrong = await call('attach', path, '--as', 'home/new', '--every', 'release')
  expect(wrong).toMatchObject({ code: 2 })
  const remote = await call('attach', path, '--as', 'home/new', '--server', 'http://127.0.0.1:1')
  expect(remote.code).toBe(2)
})
