import { spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type BackupReport, openEngine } from '../../engine/index.ts'
import { readConfig } from '../../server/config/read.ts'
import { type Server, serve } from '../../server/serve.ts'

const MAIN = new URL('../../server/bin.js', import.meta.url).pathname
const KEY = 'the-root-key-of-the-tests'

let folder: string
let server: Server
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parquetry-backup-'))
  server = await start(join(folder, 'live'))
})
afterEach(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

const start = (data: string, file?: string) =>
  serve(
    {
      ...readConfig({ data, port: '0', samples: false }, { PARQUETRY_ROOT_KEY: KEY, PARQUETRY_CONFIG: file }),
      logLevel: 'silent',
      engine: { threads: 1, workers: 1 },
    },
    { write: () => {} },
  )

const csv = (n: number) =>
  (async function* () {
    yield Buffer.from(`n\n${Array.from({ length: 200 }, () => n).join('\n')}\n`)
  })()

/** Copies as the command does, beside the server. */
async function copyTo(to: string): Promise<BackupReport> {
  await using guest = await openEngine({ directory: join(folder, 'live'), threads: 1, workers: 1 })
  return await guest.backup(to)
}

const backup = (to: string) => command(['--data', join(folder, 'live'), 'backup', to])

/** Runs a command as an operator does, in a process of its own; gives its exit code and what it said. */
function command(
  words: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [MAIN, ...words], { env: { ...process.env, ...environment } })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, said })))
}

/** The rows of all datasets of a data directory that verifies, by name. */
async function contents(data: string): Promise<Record<string, number[]>> {
  await using engine = await openEngine({ directory: data, role: 'server', threads: 1, workers: 1 })
  expect((await engine.verify()).problems).toEqual([])
  const found: Record<string, number[]> = {}
  for (const { id, name } of await engine.datasets()) {
    using query = await (await engine.dataset(id)).query()
    found[name] = []
    for await (const row of query.rows()) found[name].push(row['n'] as number)
  }
  return found
}

it('what is copied beside a server that is being written to is whole, as of one moment', async () => {
  const { engine } = server
  const repository = await engine.createRepository({ name: 'r' })
  const make = async (name: string) => (await engine.createDataset({ repositoryId: repository.id, name })).id
  const [replaced, appended] = [await make('replaced'), await make('appended')]
  await (await engine.dataset(replaced)).replace({ format: 'csv', body: csv(1) })
  await (await engine.dataset(appended)).append({ format: 'csv', body: csv(1) })
  let writing = true
  const writer = (async () => {
    for (let n = 2; writing; n++) {
      await (await engine.dataset(replaced)).replace({ format: 'csv', body: csv(n) })
      await (await engine.dataset(appended)).append({ format: 'csv', body: csv(n) })
    }
  })()
  for (const copy of ['one', 'two', 'two', 'two']) {
    await copyTo(join(folder, copy))
  }
  writing = false
  await writer
  for (const copy of ['one', 'two']) {
    const rows = await contents(join(folder, copy))
    expect(new Set(rows['replaced']).size).toBe(1)
    const round = rows['replaced']![0]!
    const appends = rows['appended']!.filter((_, index) => index % 200 === 0)
    // One writer after the other: the appends are those before the replacement that is seen, or with it.
    expect(appends).toEqual(Array.from({ length: appends.length }, (_, n) => n + 1))
    expect([round - 1, round]).toContain(appends.length)
  }
})

it('a restored copy serves the same rows to the same keys, and reads files as before', async () => {
  const { engine } = server
  const repository = await engine.createRepository({ name: 'r' })
  server.publish(repository.id)
  const { id } = await engine.createDataset({ repositoryId: repository.id, name: 'd' })
  await (await engine.dataset(id)).replace({ format: 'csv', body: csv(7), options: { dialect: 'auto' } })
  const ask = async ({ url }: Server) =>
    (
      await fetch(`${url}/datasets/${id}/data`, {
        headers: { authorization: `Basic ${Buffer.from(`${KEY}:`).toString('base64')}` },
      })
    ).text()
  const before = await ask(server)
  const secret = readFileSync(join(folder, 'live/secret'), 'utf8')
  expect(await backup(join(folder, 'copy'))).toEqual({
    code: 0,
    said: expect.stringMatching(/^1 part, [\d,]+ bytes; 1 of/),
  })
  expect(statSync(join(folder, 'copy/secret')).mode & 0o777).toBe(0o600)
  await server.close()
  rmSync(join(folder, 'live'), { recursive: true })
  cpSync(join(folder, 'copy'), join(folder, 'live'), { recursive: true })
  server = await start(join(folder, 'live'))
  expect(await ask(server)).toBe(before)
  expect(await (await server.engine.dataset(id)).record()).toMatchObject({
    uploadOptions: { dialect: 'auto' },
  })
  expect(readFileSync(join(folder, 'live/secret'), 'utf8')).toBe(secret)
})

it('a backup has the plans of its accounts, with which it is served where they are not configured', async () => {
  const file = join(folder, 'configuration.json')
  const limits = { privateRepositories: 1, paidProviders: false, exportedRows: 10, datasets: 7 }
  writeFileSync(file, JSON.stringify({ plans: { team: limits, unused: limits } }))
  await server.close()
  const live = join(folder, 'live')
  server = await start(live, file)
  await fetch(`${server.url}/accounts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'ada', plan: 'team' }),
  })
  const copy = join(folder, 'copy')
  const unknown = await backup(copy)
  expect(unknown).toMatchObject({
    code: 0,
    said: expect.stringContaining('account ada has the plan team, whose limits the copy lacks'),
  })
  const known = await command(['--data', live, 'backup', copy], { PARQUETRY_CONFIG: file })
  expect(known).toEqual({ code: 0, said: expect.not.stringContaining('ada') })
  const elsewhere = join(folder, 'elsewhere')
  const plans = join(copy, 'plans.json')
  expect(await command(['--data', elsewhere, 'restore', copy])).toEqual({
    code: 0,
    said: expect.stringMatching(
      new RegExp(`all hashes match\n.*ada has the plan team, which is not configured here.*\n.*${plans}`),
    ),
  })
  await expect(start(elsewhere)).rejects.toThrow('Account ada has the plan team')
  await server.close()
  server = await start(elsewhere, plans)
  const answer = await fetch(`${server.url}/plans`, { headers: { authorization: `Bearer ${KEY}` } })
  const found = (await answer.json()) as { name: string; limits: { datasets: number } }[]
  expect(found.map(({ name }) => name)).toContain('team')
  expect(found.find(({ name }) => name === 'team')!.limits.datasets).toBe(7)
  expect(found.map(({ name }) => name)).not.toContain('unused')
})

it('the plain copy of a stopped server is a backup, too', async () => {
  const { engine } = server
  const repository = await engine.createRepository({ name: 'r' })
  const { id } = await engine.createDataset({ repositoryId: repository.id, name: 'd' })
  await (await engine.dataset(id)).append({ format: 'csv', body: csv(7) })
  await server.close()
  cpSync(join(folder, 'live'), join(folder, 'copy'), { recursive: true })
  expect(await contents(join(folder, 'copy'))).toEqual({ d: Array(200).fill(7) })
  server = await start(join(folder, 'live'))
})

it('a copy is brought up to date by what is new alone, and rid of what is gone', async () => {
  const { engine } = server
  const repository = await engine.createRepository({ name: 'r' })
  const { id: kept } = await engine.createDataset({ repositoryId: repository.id, name: 'kept' })
  const { id: other } = await engine.createDataset({ repositoryId: repository.id, name: 'other' })
  await (await engine.dataset(kept)).replace({ format: 'csv', body: csv(1) })
  await (await engine.dataset(other)).replace({ format: 'csv', body: csv(2) })
  const copy = join(folder, 'copy')
  expect(await copyTo(copy)).toMatchObject({ parts: 2, copied: 2 })
  await engine.updateDataset(other, { keep: { versions: 1, days: 0 } })
  await (await engine.dataset(other)).replace({ format: 'csv', body: csv(3) })
  await engine.settled()
  expect(await copyTo(copy)).toMatchObject({ parts: 2, copied: 1 })
  expect(readdirSync(join(copy, 'parts'))).toHaveLength(2)
  expect(await contents(copy)).toEqual({ kept: Array(200).fill(1), other: Array(200).fill(3) })
})

it('a copy has the rows of past versions', async () => {
  const { engine } = server
  const repository = await engine.createRepository({ name: 'r' })
  const { id } = await engine.createDataset({ repositoryId: repository.id, name: 'd' })
  for (const n of [1, 2]) await (await engine.dataset(id)).replace({ format: 'csv', body: csv(n) })
  await copyTo(join(folder, 'copy'))
  await using copy = await openEngine({ directory: join(folder, 'copy'), threads: 1, workers: 1 })
  using query = await (await copy.dataset(id)).query({ version: 1, top: 1 })
  expect(await Array.fromAsync(query.rows())).toEqual([{ n: 1 }])
})

it('the data directory is not its own backup, and no backup goes where the data directory is tidied', async () => {
  for (const place of ['live', 'live/tmp/copy', 'live/parts/copy', 'live/iceberg']) {
    await expect(copyTo(join(folder, place))).rejects.toThrow(/another directory/)
  }
  expect(existsSync(join(folder, 'live/tmp/copy'))).toBe(false)
  expect(await copyTo(join(folder, 'live/copy'))).toMatchObject({ parts: 0 })
})

it('a backup takes the place of an earlier one alone', async () => {
  const other = join(folder, 'other')
  const copy = join(folder, 'copy')
  const refused = {
    code: 'invalid_option',
    message: expect.stringMatching(/holds other data, or newer data/),
  }
  const rows = async (directory: string, n: number) => {
    await using engine = await openEngine({ directory, threads: 1, workers: 1 })
    const found = await engine.repositories()
    const { id: repositoryId } = found[0] ?? (await engine.createRepository({ name: 'r' }))
    const { id } = await engine.createDataset({ repositoryId, name: `d${n}` })
    await (await engine.dataset(id)).replace({ format: 'csv', body: csv(n) })
  }
  await rows(join(folder, 'live'), 1)
  await copyTo(copy)
  await rows(copy, 2)
  await expect(copyTo(copy)).rejects.toMatchObject(refused)
  expect(await contents(copy)).toEqual({ d1: Array(200).fill(1), d2: Array(200).fill(2) })
  await rows(other, 3)
  await rows(join(folder, 'live'), 4)
  await expect(copyTo(other)).rejects.toMatchObject(refused)
  expect(await contents(other)).toEqual({ d3: Array(200).fill(3) })
  writeFileSync(join(other, 'catalog.sqlite'), 'a catalog no more')
  await expect(copyTo(other)).rejects.toMatchObject(refused)
  expect(readdirSync(join(other, 'parts'))).toHaveLength(1)
})

it('a backup does not take the place of rows that are served', async () => {
  const served = join(folder, 'served')
  await using second = await openEngine({ directory: served, role: 'server', threads: 1, workers: 1 })
  await second.createRepository({ name: 'r' })
  await expect(copyTo(served)).rejects.toMatchObject({ code: 'locked' })
  expect(await second.repositories()).toHaveLength(1)
})
