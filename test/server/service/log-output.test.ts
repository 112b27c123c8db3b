import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { serveProcess } from '../process.ts'

const OUTPUT = new URL('../../../server/logger.ts', import.meta.url).href

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parquetry-log-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('goes on serving when whoever read its log has gone', async () => {
  await using server = await serveProcess({ data: join(folder, 'data') })
  server.closeOutput()
  for (let request = 0; request < 5; request++) {
    expect((await fetch(`${server.url}/datasets`)).status).toBe(401)
    await sleep(60)
  }
  expect(server.said().err).toBe('')
  expect((await server.stop()).code).toBe(0)
})

it.skipIf(!existsSync('/dev/full'))('goes on when the disk of its log is full', async () => {
  const program = `
    const { LogOutput } = await import(${JSON.stringify(OUTPUT)})
    const log = LogOutput.get()
    for (let line = 0; line < 100; line++) log.write('{"level":50,"n":' + line + ',"text":"' + 'x'.repeat(20_000) + '"}\\n')
    setTimeout(() => process.exit(7), 100)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
  })
  let err = ''
  child.stderr!.on('data', (bytes) => (err += bytes))
  expect(await once(child, 'close')).toEqual([7, null])
  expect(err).toBe('')
})

it('writes every line, the last ones at the exit', async () => {
  const program = `
    const { LogOutput } = await import(${JSON.stringify(OUTPUT)})
    const log = LogOutput.get()
    for (let line = 0; line < 5_000; line++) log.write('{"level":30,"n":' + line + '}\\n')
    process.exit()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.on('data', (bytes) => (out += bytes))
  await once(child, 'close')
  const lines = out.trimEnd().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { n: number }).n)).toEqual(
    Array.from({ length: 5_000 }, (_, n) => n),
  )
})
