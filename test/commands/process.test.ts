import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, createReadStream, lstatSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Served, serveSamples } from '../client/served.ts'
import { bin, parquetry, parquetryProcess } from './parquetry.ts'

const folder = mkdtempSync(join(tmpdir(), 'parquetry-process-'))
const file = (name: string) => join(folder, name)
let served: Served
beforeAll(async () => {
  served = await serveSamples()
})
afterAll(async () => {
  await served[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

test.skipIf(process.platform === 'win32')('what is no file is written to, and stays what it is', async () => {
  const pipe = file('pipe')
  execFileSync('mkfifo', [pipe])
  const read = text(createReadStream(pipe))
  const args = [
    '--server',
    served.url,
    '--key',
    served.key,
    'export',
    '3',
    '--top',
    '1',
    '--select',
    'Island',
  ]
  expect((await parquetry([...args, '--format', 'csv', '-o', pipe])).code).toBe(0)
  expect(await read).toBe('Island\nTorgersen\n')
  expect(lstatSync(pipe).isFIFO()).toBe(true)
})

test.skipIf(process.platform !== 'linux')('output that can not be written is said in one line', async () => {
  const full = openSync('/dev/full', 'w')
  for (const args of [['--help'], ['--server', served.url, '--key', served.key, 'export', '3']]) {
    const child = spawn(process.execPath, [bin, ...args], { stdio: ['ignore', full, 'pipe'] })
    const [stderr] = await Promise.all([text(child.stderr!), once(child, 'close')])
    expect({ code: child.exitCode, stderr }).toEqual({
      code: 1,
      stderr: 'parquetry: no space left on device\n',
    })
  }
  closeSync(full)
})

test('help fits a terminal', async () => {
  for (const command of [['import'], ['source', 'set'], ['export']]) {
    const { stdout } = await parquetry([...command, '--help'])
    for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
  }
})

test.each([
  'serve',
  'import',
  'account create',
])('the help of %s lists the options of all commands, once', async (command) => {
  const { stdout } = await parquetry([...command.split(' '), '--help'])
  for (const option of [
    '--data <directory>',
    '--database <address>',
    '--store <address>',
    '--server <url>',
  ]) {
    expect(stdout.split(`${option} `).length, option).toBe(2)
  }
})

test('the version is that of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(await parquetry(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test('a reader that closes the pipe, as `head` does, is no error', async () => {
  const child = spawn(process.execPath, [bin, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')])
  expect({ code: child.exitCode, stderr }).toEqual({ code: 0, stderr: '' })
})

test('an older Node, Bun and Deno get one sentence', async () => {
  const versions = [
    [
      { node: '20.11.0' },
      'this needs Node 22.19 or newer; here runs Node 20.11.0. `npm install node@24` puts one beside it, which npx then uses.',
    ],
    [
      { node: '22.20.0' },
      'the sources need Node 24, which npm ci has installed: npx node server/bin.js; here runs Node 22.20.0.',
    ],
    [{ node: '24.1.0', bun: '1.3.0' }, 'this needs Node 22.19 or newer and does not run on Bun 1.3.0.'],
    [{ node: '24.1.0', deno: '2.5.0' }, 'this needs Node 22.19 or newer and does not run on Deno 2.5.0.'],
  ] as const
  for (const [fake, sentence] of versions) {
    const code = `Object.defineProperty(process, 'versions', { value: ${JSON.stringify(fake)} })`
    const preload = `data:text/javascript,${encodeURIComponent(code)}`
    expect(await parquetryProcess(['--version'], ['--import', preload])).toEqual({
      code: 1,
      stdout: '',
      stderr: `parquetry: ${sentence}\n`,
    })
  }
})
