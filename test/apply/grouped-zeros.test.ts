import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Dataset } from '../../engine/index.ts'
import { bytesOf, newDataset, openWorkplace, textOf } from '../engine/workplace.ts'

// Which of two equal values DuckDB meets first depends on how its threads share the rows.
const ROWS = 400_000
let place: Awaited<ReturnType<typeof openWorkplace>>
let dataset: Dataset

beforeAll(async () => {
  place = await openWorkplace()
  dataset = await newDataset(place.engine, [
    { name: 'n', type: 'integer' },
    { name: 'x', type: 'double' },
  ])
  const lines = Array.from({ length: ROWS }, (_, n) => `${n},${n % 3 === 0 ? '0' : '-0'}`)
  await dataset.replace({ body: bytesOf(`n,x\n${lines.join('\n')}\n`), format: 'csv' })
})
afterAll(() => place[Symbol.asyncDispose]())

test.each([
  ['groupby((x),aggregate($count as c))', `x,c\n0,${ROWS}\n`],
  ['groupby((x))/aggregate($count as c)', 'c\n1\n'],
  ['aggregate(x with min as a,x with max as b,x with median as c,x with p95 as d)', 'a,b,c,d\n0,0,0,0\n'],
  ['filter(n eq 1)/groupby((x),aggregate(x with max as m))', 'x,m\n0,0\n'],
  ['filter(n eq 1)/aggregate(x with first as f)', 'f\n-0\n'],
])('of equal zeros the answer is always 0, unless it is the value of one row: %s', async (apply, csv) => {
  using query = await dataset.query({ apply })
  await using bytes = await query.bytes('csv')
  expect(await textOf(bytes)).toBe(csv)
})
