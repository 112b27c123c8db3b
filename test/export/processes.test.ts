import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

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
