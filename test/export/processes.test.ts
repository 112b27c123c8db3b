import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const REFUSES = `
  import os from 'node:os'
  import { syncBuiltinESMExports } from 'node:module'
  os.setPriority = () => { throw new Error('EPERM') }
  syncBuiltinESMExports()`

const EXPORTS = `
  const { openExecutor } = await import(${JSON.stringify(new URL('../../engine/export/index.ts', import.meta.url).href)})
  const { tmpdir } = await import('node:os')
  const executor = await openExecutor({ threads: 1, workers: 1, memoryLimit: '200MiB', tempDirectory: tmpdir(), allowedDirectories: [] })
  const columns = [{ name: 'n', type: 'integer' }]
  for await (const bytes of await executor.bytes({ sql: 'SELECT range::BIGINT FROM range(300000)', parameters: [], columns }, 'csv'))
    process.stdout.write(bytes)
  await executor.close()`

test('exports work where the system refuses to lower the priority of a thread', () => {
  const said = execFileSync(
    process.execPath,
    [
      '--import',
      `data:text/javascript,${encodeURIComponent(REFUSES)}`,
      '--input-type=module',
      '--eval',
      EXPORTS,
    ],
    { encoding: 'utf8', timeout: 60_000, maxBuffer: 2 ** 25 },
  )
  // Small results never reach the other threads.
  expect(said.split('\n')).toHaveLength(300_002)
})

test('exports work in a process that was started with flags of V8', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-flags-'))
  try {
    const program = join(folder, 'program.mjs')
    writeFileSync(program, EXPORTS)
    const said = execFileSync(process.execPath, ['--max-old-space-size=400', program], {
      encoding: 'utf8',
      timeout: 60_000,
      maxBuffer: 2 ** 25,
    })
    expect(said.split('\n')).toHaveLength(300_002)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

describe('a process whose encoding threads are still loading native code', () => {
  const STARTS = `
    const { WorkerPool } = await import(${JSON.stringify(new URL('../../engine/export/dispatch.ts', import.meta.url).href)})
    const { setTimeout } = await import('node:timers/promises')
    const started = () => {
      const pool = new WorkerPool(2)
      pool.start()
      return pool
    }`
  // Nothing tells when a thread is in the midst of loading, so threads of many ages are ended.
  const CLOSES = `
    for (let age = 50; age < 200; age += 10) {
      const pool = started()
      await setTimeout(age)
      await pool.close()
    }`
  const EXITS = `
    for (let pools = 0; pools < 10; pools++) {
      started()
      await setTimeout(20)
    }
    process.exit(0)`

  test.each([
    ['closes them', CLOSES],
    ['exits without closing them', EXITS],
  ])('ends well when it %s', (_, ends) => {
    const child = spawnSync(process.execPath, ['--input-type=module', '--eval', `${STARTS}\n${ends}`], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    expect(child).toMatchObject({ status: 0, signal: null, stderr: '' })
  })
})
