import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Dataset } from '../../engine/index.ts'
import { bytesOf, newDataset, openWorkplace } from '../engine/workplace.ts'

// No 0, so the Bloom filter of the row group doesn't know it; and values on both sides, so its bounds don't decide.
const VALUES = ['-0', '1.5', '-2', '']
const EACH = 1_000
let place: Awaited<ReturnType<typeof openWorkplace>>
let dataset: Dataset

beforeAll(async () => {
  place = await openWorkplace()
  dataset = await newDataset(place.engine, [
    { name: 'n', type: 'integer' },
    { name: 'x', type: 'double' },
  ])
  const lines = Array.from({ length: VALUES.length * EACH }, (_, n) => `${n},${VALUES[n % VALUES.length]}`)
  await dataset.replace({ body: bytesOf(`n,x\n${lines.join('\n')}\n`), format: 'csv' })
})
afterAll(() => place[Symbol.asyncDispose]())

test.each([
  ['x eq 0', EACH],
  ['0 eq x', EACH],
  ['x eq -0.0', EACH],
  ['x in (0)', EACH],
  ['x in (0,7)', EACH],
  ['x in (0,3,4,5,6,7)', EACH],
  ['x eq 0 or n lt 0', EACH],
  ['x eq 0 and n ge 0', EACH],
  ['not (x ne 0)', EACH],
  ['x ne 0', 3 * EACH],
  ['not (x eq 0)', 3 * EACH],
  ['x eq 0 or x eq null', 2 * EACH],
])('a filter by zero finds every -0: %s', async (filter, rows) => {
  using query = await dataset.query({ filter })
  expect(await query.count()).toBe(rows)
})
