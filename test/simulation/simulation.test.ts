import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { buildShim } from '../faults/shim.ts'
import { LONG } from '../long.ts'
import { play } from './run.ts'
import { scriptOf } from './script.ts'

/** PARQUETRY_SEED=17 plays that seed alone. In the long form seeds are played for so many seconds, each another one. */
const SEED = process.env['PARQUETRY_SEED']
const SECONDS = Number(process.env['PARQUETRY_SIMULATION_SECONDS'] ?? (LONG ? 3_600 : 0))
const FIXED = [1]

const shim = buildShim()
const folder = mkdtempSync(join(tmpdir(), 'parquetry-simulation-'))
// Programs that are started again and again needn't read their source as often.
process.env['NODE_COMPILE_CACHE'] ??= join(folder, 'cache')
afterAll(() => {
  shim?.[Symbol.dispose]()
  rmSync(folder, { recursive: true, force: true })
})

async function broken(seed: number, total?: Record<string, number>): Promise<string[]> {
  const directory = join(folder, String(seed))
  const report = await play(scriptOf(seed), shim!, directory)
  rmSync(directory, { recursive: true, force: true })
  for (const key of ['writes', 'reads', 'kills', 'faults'] as const) {
    if (total) total[key] = (total[key] ?? 0) + report[key]
  }
  return report.broken.map((reason) => `seed ${seed}, ${reason}`)
}

describe.runIf(shim)('writers, readers, kills, faults and wrong clocks', () => {
  test.for(SEED ? [Number(SEED)] : FIXED)('show what must be visible, and nothing else: seed %d', {
    timeout: 180_000,
  }, async (seed) => {
    expect(await broken(seed)).toEqual([])
  })

  test.runIf(SECONDS > 0 && !SEED)(
    `show what must be visible, and nothing else: ${SECONDS} s of seeds`,
    async () => {
      const end = performance.now() + SECONDS * 1_000
      // Another hour tries other seeds; a failure names its own.
      const first = Math.floor(Math.random() * 1e9)
      const total: Record<string, number> = { seeds: 0 }
      const failures: string[] = []
      for (let seed = first; performance.now() < end; seed++) {
        const reasons = await broken(seed, total)
        if (reasons.length > 0) console.log(reasons.join('\n'))
        failures.push(...reasons)
        total['seeds']! += 1
        if (total['seeds']! % 20 === 0) console.log(JSON.stringify(total))
      }
      console.log(`simulation: ${JSON.stringify(total)}, ${failures.length} broken promises`)
      expect(failures).toEqual([])
    },
    (SECONDS + 600) * 1_000,
  )
})
