import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Dataset, QueryOptions } from '../../engine/index.ts'
import { newDataset, openWorkplace } from './workplace.ts'

const ROWS = 1_200_000
/** The row's number in the order of `v`; `tie` is the same for a hundred rows. */
const TABLE = `SELECT range AS n, (range * 7919) % ${ROWS} AS v, ((range * 7919) % ${ROWS}) // 100 / 8 AS tie FROM range(${ROWS})`
const rankOf = (n: number) => (n * 7_919) % ROWS

let place: Awaited<ReturnType<typeof openWorkplace>>
let dataset: Dataset

beforeAll(async () => {
  place = await openWorkplace()
  const file = join(place.directory, 'table.parquet')
  const duckdb = await (await DuckDBInstance.create(':memory:')).connect()
  await duckdb.run(`COPY (${TABLE}) TO '${file}'`)
  dataset = await newDataset(place.engine)
  await dataset.replace({ format: 'parquet', body: { file } })
}, 60_000)
afterAll(() => place[Symbol.asyncDispose]())

async function numbers(options: QueryOptions): Promise<number[]> {
  using query = await dataset.query(options)
  return (await Array.fromAsync(query.rows())).map(({ n }) => n as number)
}

test('rows far from the first are found without sorting those before them', async () => {
  const options = { orderBy: 'v', skip: 700_000, top: 3 }
  using query = await dataset.query(options)
  expect(await query.explain()).toMatch(/c1>=6\d{5} AND c1<=7\d{5} /)
  expect((await numbers(options)).map(rankOf)).toEqual([700_000, 700_001, 700_002])
  expect((await numbers({ ...options, orderBy: 'v desc' })).map(rankOf)).toEqual([499_999, 499_998, 499_997])
})

test('they are the same rows with a filter, with equal values, and in a page of many', async () => {
  const even = await numbers({ orderBy: 'v', filter: 'n mod 2 eq 0', skip: 300_000, top: 2 })
  expect(even.map(rankOf)).toEqual([600_000, 600_002])
  const ties = await numbers({ orderBy: 'tie,v desc', skip: 500_000, top: 2_000 })
  expect(ties.map(rankOf).slice(0, 101)).toEqual([
    ...Array.from({ length: 100 }, (_, at) => 500_099 - at),
    500_199,
  ])
  expect(ties).toHaveLength(2_000)
  expect((await numbers({ orderBy: 'v', skip: ROWS - 2, top: 100 })).map(rankOf)).toEqual([
    ROWS - 2,
    ROWS - 1,
  ])
  expect(await numbers({ orderBy: 'v', skip: ROWS, top: 100 })).toEqual([])
})

test.each([
  [600_000 - 2, 100],
  [300_000, 2],
])('rows that match a filter are counted with a page behind %i of them', async (skip, top) => {
  using query = await dataset.query({ orderBy: 'v', filter: 'n mod 2 eq 0', skip, top })
  const stream = await query.bytes('csv', { counted: true })
  await Array.fromAsync(stream)
  expect(await stream.matches).toBe(600_000)
  expect(stream.rows()).toBe(Math.min(top, 600_000 - skip))
})
