import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdtemp, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../../server/client/index.ts'
import { type Served, serveSamples } from '../client/served.ts'
import { bin, parquetry } from './parquetry.ts'

let served: Served
let client: Client
let folder: string
let repositoryId: number
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parquetry-append-'))
  served = await serveSamples()
  client = new Client({ url: served.url, key: served.key })
  repositoryId = (await client.repositories.create({ name: 'streams', private: true })).id
})
afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

async function table(): Promise<number> {
  const columns = [{ name: 'n', type: 'integer' }] as const
  return (await client.datasets.create({ name: `t${Math.random()}`, repositoryId, columns })).id
}

async function numbers(id: number): Promise<number[]> {
  const rows = await Array.fromAsync(client.datasets.rows<{ n: number }>(id))
  return rows.map(({ n }) => n)
}

const onServer = (url: string) => ['--server', url, '--key', served.key]
const lines = (...values: unknown[]) => values.map((n) => `${JSON.stringify({ n })}\n`).join('')

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** The command in a process of its own, which reads until it is told to end. */
function running(args: readonly string[]): Child {
  return spawn(process.execPath, [bin, ...onServer(served.url), 'append', ...args], { stdio: 'pipe' })
}

async function interrupted(child: Child) {
  const said = Promise.all([text(child.stdout), text(child.stderr)])
  child.kill('SIGINT')
  const [code] = await once(child, 'close')
  return [code, ...(await said)]
}

test('rows from standard input are appended, of which the last has no line end', async () => {
  const id = await table()
  const called = await parquetry(
    [...onServer(served.url), 'append', String(id), '--commit', '2'],
    lines(1, 2, 3).trim(),
  )
  expect(called).toEqual({ code: 0, stdout: `dataset ${id}: appended 3 rows, version 2\n`, stderr: '' })
  const name = `streams/${(await client.datasets.get(id)).name}`
  const csv = ['append', name, '--format', 'csv', '--note', 'by hand']
  expect((await parquetry([...onServer(served.url), ...csv], 'n\n4\n5\n')).stdout).toContain(
    'appended 2 rows',
  )
  expect(await numbers(id)).toEqual([1, 2, 3, 4, 5])
  expect((await client.datasets.versions(id))[0]).toMatchObject({ operation: 'append', note: 'by hand' })
  expect((await parquetry([...onServer(served.url), 'append', String(id)])).stdout).toBe(
    `dataset ${id}: appended 0 rows\n`,
  )
})

test('rows are appended to a data directory', async () => {
  const data = ['--data', join(folder, 'data')]
  await parquetry([...data, 'repository', 'create', 'mine'])
  const csv = join(folder, 'first.csv')
  await writeFile(csv, 'n;w\n1;a\n')
  const into = ['--repository', 'mine', '--dataset', 'table', '--delimiter', ';']
  expect((await parquetry([...data, 'import', csv, ...into])).code).toBe(0)
  const called = await parquetry([...data, 'append', 'mine/table', '--format', 'csv'], 'n;w\n2;"b\n"\n')
  expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining('appended 1 row,') })
  const exported = await parquetry([...data, 'export', 'mine/table', '--format', 'csv'])
  expect(exported.stdout).toBe('n,w\n1,a\n2,"b\n"\n')
})

test('a row that can not be read ends the command with its number in the stream', async () => {
  const id = await table()
  const args = [...onServer(served.url), 'append', String(id), '--commit', '2']
  expect(await parquetry(args, lines(1, 2, 3, 'four', 5))).toEqual({
    code: 1,
    stdout: '',
    stderr: 'parquetry: Row 4, column "n": "four" is not an integer. Only the first 2 rows were saved.\n',
  })
  expect(await numbers(id)).toEqual([1, 2])
  const errors = async (...options: string[]) => {
    const { code, stderr } = await parquetry([...args.slice(0, 6), ...options], 'n\n1\n')
    return [code, stderr]
  }
  expect(await errors('--commit', '60s')).toEqual([
    1,
    'parquetry: --commit must be a number of rows, as 1000, or of seconds up to 59, as 5s (got "60s").\n',
  ])
  expect(await errors('--follow', join(folder, 'none.csv'))).toEqual([
    2,
    `parquetry: There is no file ${join(folder, 'none.csv')}.\n`,
  ])
  expect(await errors('--follow', 'rows.xlsx')).toEqual([
    2,
    'parquetry: rows.xlsx: rows are read while they come from ndjson, csv, tsv, not from xlsx.\n',
  ])
  expect(await errors('--format', 'csv', '--footer', '1')).toEqual([
    1,
    'parquetry: The end of a stream is not known: it needs --footer 0.\n',
  ])
})

test('rows are there once although the connection broke off before the answer', async () => {
  const id = await table()
  const keys: unknown[] = []
  const proxy = createServer((request, response) => {
    const { method, url, headers } = request
    const isAppend = method === 'POST'
    if (isAppend) keys.push(headers['idempotency-key'])
    const cut = isAppend && keys.length <= 5
    const passedOn = send(new URL(url!, served.url), { method: method!, headers }, (answer) => {
      if (cut) answer.resume().once('end', () => response.destroy())
      else answer.pipe(response.writeHead(answer.statusCode!, answer.headers))
    })
    request.pipe(passedOn)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  try {
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const called = await parquetry([...onServer(url), 'append', String(id), '--commit', '2'], lines(1, 2, 3))
    expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining('appended 3 rows') })
  } finally {
    proxy.close()
  }
  expect(await numbers(id)).toEqual([1, 2, 3])
  expect(keys).toHaveLength(7)
  expect(new Set(keys).size).toBe(2)
})

test.skipIf(process.platform === 'win32')(
  'a file is followed as it grows, is replaced and is cut, without a last row that is not whole',
  async () => {
    const id = await table()
    const file = join(folder, 'log.ndjson')
    await writeFile(file, lines(1))
    const child = running([String(id), '--follow', file, '--commit', '1'])
    const rows = (...expected: number[]) =>
      expect.poll(() => numbers(id), { timeout: 60_000 }).toEqual(expected)
    await rows(1)
    await appendFile(file, `${lines(2)}{"n":`)
    await rows(1, 2)
    await appendFile(file, '3}\n')
    await rows(1, 2, 3)
    await rename(file, `${file}.1`)
    await appendFile(`${file}.1`, lines(4))
    await rows(1, 2, 3, 4)
    await writeFile(file, lines(5, 6))
    await rows(1, 2, 3, 4, 5, 6)
    await truncate(file)
    await appendFile(file, lines(7))
    await rows(1, 2, 3, 4, 5, 6, 7)
    await appendFile(file, '{"n":8')
    expect(await interrupted(child)).toEqual([0, `dataset ${id}: appended 7 rows, version 7\n`, ''])
    expect(await numbers(id)).toEqual([1, 2, 3, 4, 5, 6, 7])
  },
)

test.skipIf(process.platform === 'win32')('a pipe is read until the command is interrupted', async () => {
  const id = await table()
  const child = running([String(id)])
  child.stdin.write(lines(1))
  await expect.poll(() => numbers(id), { timeout: 60_000 }).toEqual([1])
  child.stdin.write(`${lines(2)}{"n":`)
  await expect.poll(() => numbers(id), { timeout: 60_000 }).toEqual([1, 2])
  expect(await interrupted(child)).toEqual([0, `dataset ${id}: appended 2 rows, version 2\n`, ''])
})
