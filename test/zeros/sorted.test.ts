import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Dataset, QueryOptions } from '../../engine/index.ts'
import { bytesOf, newDataset, openWorkplace } from '../engine/workplace.ts'

// Every third x is -0, every third 0, and the others are below.
const ROWS = 24_000
let place: Awaited<ReturnType<typeof openWorkplace>>
let dataset: Dataset

beforeAll(async () => {
  place = await openWorkplace()
  dataset = await newDataset(place.engine, [
    { name: 'n', type: 'integer' },
    { name: 'x', type: 'double' },
    { name: 'half', type: 'string' },
  ])
  const lines = Array.from({ length: ROWS }, (_, n) => `${n},${['-0', '0', -n][n % 3]},${n % 2}`)
  await dataset.replace({ body: bytesOf(`n,x,half\n${lines.join('\n')}\n`), format: 'csv' })
})
afterAll(() => place[Symbol.asyncDispose]())

test.each<[QueryOptions, zeros: number]>([
  [{}, 16_000],
  [{ orderBy: 'x' }, 16_000],
  [{ orderBy: 'n desc,x' }, 16_000],
  [{ orderBy: 'x add 1.0,x' }, 16_000],
  [{ compute: 'x mul 1.0 as y', orderBy: 'y' }, 16_000],
  [{ orderBy: 'x desc', top: 10 }, 10],
  [{ orderBy: 'x desc', top: 9_000 }, 9_000],
  [{ orderBy: 'x desc', top: 10, skip: 9_000 }, 10],
  [{ orderBy: 'x', last: 4_000 }, 4_000],
  [{ orderBy: 'x', filter: 'x eq 0' }, 16_000],
  [{ apply: 'orderby(x)' }, 16_000],
  [{ apply: 'topcount(10,x)' }, 10],
  [{ apply: 'topcount(9000,x)' }, 9_000],
  [{ apply: 'groupby((half),topcount(3000,x))' }, 6_000],
])('sorted or not, each -0 stays -0: %j', async (options, zeros) => {
  using query = await dataset.query(options)
  let found = 0
  for await (const row of query.rows()) {
    const { n, x, y = x } = row as { n: number; x: number; y?: number }
    if (x !== 0) continue
    found += 1
    for (const zero of [x, y]) expect(Object.is(zero, -0)).toBe(n % 3 === 0)
  }
  expect(found).toBe(zeros)
})
