import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'

/** What a call gives in a process with such a setting. */
function called(poolSize: string): string {
  const module = new URL('../../engine/duckdb/native/runner.ts', import.meta.url).href
  const program = `
    const { Runner } = await import('${module}')
    const runner = await Runner.open({ tempDirectory: '${tmpdir()}', allowedDirectories: [] })
    const columns = [{ name: 'a', type: 'string' }]
    const cursor = await runner.start({ sql: "SELECT 'called'", parameters: [], columns }, {})
    const chunk = await cursor.fetch()
    if (chunk.rows === 1) console.log('called')
    cursor.discard(chunk)
    await cursor.close()
    await runner.close()`
  const env = { ...process.env, UV_THREADPOOL_SIZE: poolSize }
  return execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    env,
    encoding: 'utf8',
  }).trim()
}

test.for(['', '0', '1', '4', 'four', '8 threads'])('a thread pool of %j lets calls through', (poolSize) => {
  expect(called(poolSize)).toBe('called')
})
