import { expect, test } from 'vitest'
import { Differ } from './support/differ.ts'

/** How many filters; a longer run sets it, and another seed with it. */
const COUNT = Number(process.env['PARQUETRY_TEST_FILTERS'] ?? 5_000)
const SEED = Number(process.env['PARQUETRY_TEST_SEED'] ?? 20_241_101)
const PER_TABLE = 2_500

test(`${COUNT} random filters pass the rows that the standard's rules pass`, {
  timeout: 60_000 + COUNT * 10,
}, async () => {
  const total = { filters: 0, failures: 0, refused: 0, selective: 0 }
  for (let table = 0; table * PER_TABLE < COUNT; table++) {
    await using differ = await Differ.create(SEED + table, 50)
    const count = Math.min(PER_TABLE, COUNT - table * PER_TABLE)
    for (let index = 0; index < count; index++) await differ.next()
    for (const key of ['filters', 'failures', 'refused', 'selective'] as const)
      total[key] += differ.tally[key]
  }
  expect(total.filters).toBe(COUNT)
  // A generator that drifted to filters which all fail, or pass everything, would show nothing.
  expect(total.selective).toBeGreaterThan(COUNT / 3)
  expect(total.failures).toBeLessThan(COUNT / 4)
  expect(total.refused).toBeLessThan(COUNT / 20)
})
