import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Duck } from '../../engine/duckdb/duck.ts'
import { Bench } from '../ingest/support/helper.ts'

const bench = new Bench()
let duck: Duck
beforeAll(async () => {
  await bench.open()
  duck = await Duck.open({ tempDirectory: bench.temporary, threads: 1 })
})
afterAll(async () => {
  await duck.close()
  await bench.close()
})

/** Takes minutes. */
const LONG = 'SELECT sum(hash(a.range + b.range)) FROM range(1_000_000) a, range(1_000_000) b'

test.for([
  ['before anything was done', 0],
  ['while the connection was made', undefined],
  ['while it runs', 50],
] as const)('a statement whose signal aborts %s ends at once', { timeout: 10_000 }, async ([, wait]) => {
  const gone = new AbortController()
  if (wait === 0) gone.abort()
  const running = duck.run(LONG, { signal: gone.signal })
  if (wait) await delay(wait)
  gone.abort()
  await expect(running).rejects.toMatchObject({ code: 'cancelled' })
})

test('closing waits for statements whose connection is being made, and refuses others', async () => {
  for (let round = 0; round < 10; round++) {
    const closed = await Duck.open({ tempDirectory: bench.temporary, threads: 1 })
    const running = Array.from({ length: 8 }, () => closed.run('SELECT 1'))
    if (round % 2 === 1) await setImmediate()
    await closed.close()
    expect(await Promise.all(running)).toEqual(Array(8).fill([[1]]))
    await expect(closed.run('SELECT 1')).rejects.toMatchObject({ code: 'cancelled' })
  }
})
