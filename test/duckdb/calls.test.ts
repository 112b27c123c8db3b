import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** What a call gives in a process with such a setting. */
function called(poolSize: string): string {
  const module = new URL('../../engine/duckdb/calls.ts', import.meta.url).href
  const program = `
    const { Calls } = await import('${module}')
    console.log(await new Calls(() => {}).call(async () => 'called', (value) => value))`
  const env = { ...process.env, UV_THREADPOOL_SIZE: poolSize }
  return execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    env,
    encoding: 'utf8',
  }).trim()
}

test.for(['', '0', '1', '4', 'four', '8 threads'])('a thread pool of %j lets calls through', (poolSize) => {
  expect(called(poolSize)).toBe('called')
})
