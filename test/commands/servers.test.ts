import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../../server/client/index.ts'
import { type Served, serveSamples } from '../client/served.ts'
import { bin, parquetry } from './parquetry.ts'

const folder = mkdtempSync(join(tmpdir(), 'parquetry-servers-'))
const file = (name: string) => join(folder, name)
let served: Served

beforeAll(async () => {
  writeFileSync(file('numbers.csv'), 'n\n1\n')
  served = await serveSamples()
  await new Client({ url: served.url, key: served.key }).repositories.create({ name: 'home' })
})
afterAll(async () => {
  await served[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

test('a file that can not be written is named, without the names of unfinished ones', async () => {
  const args = ['--server', served.url, '--key', served.key, 'export', '3', '-o', file('no/where.csv')]
  expect(await parquetry(args)).toEqual({
    code: 2,
    stdout: '',
    stderr: `parquetry: ${file('no/where.csv')} can't be written: its folder does not exist.\n`,
  })
})

test.each([
  ['verify'],
  ['serve', '--port', '0'],
  ['restore', file('nowhere')],
  ['migrate', '--to', 'directory'],
  ['providers', 'index'],
])('%s works on a data directory alone, and says so', async (...command) => {
  expect(await parquetry(['--server', served.url, '--key', 'k', ...command])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('works on a data directory'),
  })
})

test('a server and a data directory are not both used: an argument counts more than the environment', async () => {
  const both = ['--server', served.url, '--key', served.key, '--data', file('mistyped')]
  expect(await parquetry([...both, 'repository', 'list'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('give one'),
  })
  const variables = { PARQUETRY_SERVER: served.url, PARQUETRY_KEY: served.key }
  expect((await parquetry(['repository', 'list'], '', variables)).stdout).toContain('home')
  expect(await parquetry(['--data', file('mistyped'), 'repository', 'list'], '', variables)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no data in'),
  })
})

test('an import that fails says why, even if the dataset that it has made can not be removed', async () => {
  const answers: Record<string, [number, unknown]> = {
    'GET /account': [200, { name: 'ada' }],
    'GET /repositories': [200, [{ id: 1, name: 'home', owner: 'ada' }]],
    'GET /datasets': [200, []],
    'POST /datasets': [201, { id: 7 }],
    'PUT /datasets/7/data?dialect=auto': [400, { error: 'Row 3 is wrong.', code: 'invalid_upload' }],
    'DELETE /datasets/7': [500, { error: 'Something went wrong.', code: 'internal' }],
  }
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const [status, body] = answers[asked.at(-1)!]!
    request.resume().on('end', () => response.writeHead(status).end(JSON.stringify(body)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const args = ['--server', `http://127.0.0.1:${port}`, '--key', 'k', 'import', file('numbers.csv')]
  const { code, stderr } = await parquetry([...args, '--repository', 'home', '--dataset', 'd'])
  server.close()
  expect({ code, stderr }).toEqual({ code: 1, stderr: 'parquetry: Row 3 is wrong.\nNothing was stored.\n' })
  expect(asked.at(-1)).toBe('DELETE /datasets/7')
})

test('options in the last error of a followed file are those of the command', async () => {
  const source = {
    ...{
      url: 'https://example.org/x.csv',
      mode: 'replace',
      options: {},
      series: [],
      every: 'day',
      missing: [],
    },
    ...{ lastError: 'Add decimal=, or columns=replace.', hints: ['decimal=,', 'columns=replace'] },
  }
  const answers: Record<string, unknown> = {
    '/datasets': [{ id: 7, name: 'd', repositoryId: 1 }],
    '/datasets/7/source': source,
  }
  const server = createServer((request, response) =>
    response.end(JSON.stringify(answers[request.url!.split('?')[0]!] ?? [])),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const args = ['--server', `http://127.0.0.1:${port}`, '--key', 'k', 'source', 'show', '7']
  const { stdout } = await parquetry(args)
  server.close()
  expect(stdout).toContain('last error\tAdd --decimal , or --columns replace.\n')
})

test('a server that is misnamed, and a key that is missing or wrong, are said', async () => {
  expect((await parquetry(['--server', 'example.org', '--key', 'k', 'repository', 'list'])).code).toBe(2)
  expect((await parquetry(['--server', served.url, 'repository', 'list'])).stderr).toContain('PARQUETRY_KEY')
  const wrong = await parquetry(['--server', served.url, '--key', 'wrong', 'repository', 'list'])
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('The API key is not valid') })
})

test('a statement is read from standard input', async () => {
  const args = ['--server', served.url, '--key', served.key, 'sql', '-f', '-']
  const child = spawn(process.execPath, [bin, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end('SELECT 1 AS n')
  expect(await text(child.stdout)).toBe('n\n1\n')
})
