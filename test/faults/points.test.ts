import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openEngine } from '../../engine/index.ts'
import { LONG } from '../long.ts'
import { brokenPromises } from './oracle.ts'
import { type Point, pointsOf, rulesOf } from './points.ts'
import { buildShim, type Ran } from './shim.ts'

/**
 * How many points are tried; PARQUETRY_FAULT_POINTS says otherwise. PARQUETRY_FAULT_POINT=137 tries one alone, as a
 * failure names it.
 */
const POINTS = Number(process.env['PARQUETRY_FAULT_POINTS'] ?? (LONG ? 2_000 : 8))
const ONE = process.env['PARQUETRY_FAULT_POINT']
/** Points that are left out first, so that a long run can be done in pieces. */
const FROM = Number(process.env['PARQUETRY_FAULT_FROM'] ?? 0)

const shim = buildShim()
const worker = join(import.meta.dirname, 'worker.ts')
const folder = mkdtempSync(join(tmpdir(), 'parquetry-points-'))
/** A store as version 0.1.0 left it, and the same after this version has opened it. */
const old = join(import.meta.dirname, 'fixtures/0.1.0')
const current = join(folder, 'current')
const PRIME = 7_919
let runs = 0

beforeAll(async () => {
  cpSync(old, current, { recursive: true })
  await (await openEngine({ directory: current, role: 'server', threads: 1, workers: 1 })).close()
})
// Programs that are started again and again needn't read their source as often.
process.env['NODE_COMPILE_CACHE'] ??= join(folder, 'cache')
afterAll(() => {
  shim?.[Symbol.dispose]()
  rmSync(folder, { recursive: true })
})

/** Runs the worker on a copy of a store under a point's faults; gives what it told and the promises that it broke. */
async function run(
  point: Point | undefined,
  from = point?.old ? old : current,
): Promise<{ ran: Ran; broken: string[] }> {
  const copy = join(folder, `run-${++runs}`)
  const [directory, backup] = [join(copy, 'data'), join(copy, 'backup')]
  cpSync(from, directory, { recursive: true })
  try {
    const ran = await shim!.run(worker, [directory, backup], point ? rulesOf(point, copy) : [])
    return { ran, broken: await brokenPromises(ran, directory, backup) }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

describe.runIf(shim)('a disk that fails at any call', () => {
  const counts = { old: 0, current: 0 }

  test('is not needed for the steps to be made', async () => {
    for (const [name, from] of Object.entries({ old, current })) {
      const { ran, broken } = await run(undefined, from)
      expect(broken).toEqual([])
      expect(ran.told.filter(({ outcome }) => outcome !== 'begun' && outcome !== 'done')).toEqual([])
      counts[name as keyof typeof counts] = ran.seen.filter(({ path }) => path.startsWith(folder)).length
    }
    expect(counts.current).toBeGreaterThan(100)
  })

  test(
    `breaks no promise (${ONE ? `point ${ONE}` : `${POINTS} points`})`,
    async () => {
      const points = pointsOf(counts.old, counts.current)
      // Steps of a prime go round all points, through all kinds of them, and meet none twice.
      const all = Array.from(
        { length: Math.min(POINTS, points.length) },
        (_, n) => ((FROM + n) * PRIME) % points.length,
      )
      const chosen = ONE ? [Number(ONE)] : all
      const failures: string[] = []
      for (const [done, index] of chosen.entries()) {
        const point = points[index]!
        const { broken } = await run(point)
        for (const promise of broken) {
          failures.push(`point ${index} ${JSON.stringify(point)}: ${promise}`)
          // A long run tells at once; who waits for its end may wait an hour.
          if (LONG) console.log(failures.at(-1))
        }
        if (done % 25 === 24)
          console.log(`${done + 1} of ${chosen.length} points, ${failures.length} broken promises`)
      }
      expect(failures).toEqual([])
    },
    POINTS * 30_000,
  )
})
