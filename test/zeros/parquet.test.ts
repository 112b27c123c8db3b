import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Dataset } from '../../engine/index.ts'
import { bytesOf, newDataset, openWorkplace } from '../engine/workplace.ts'

/** Values of a column for which DuckDB would write a dictionary. Its first zero has another sign than most. */
const VALUES = ['-0.0', ...Array.from({ length: 5_000 }, (_, n) => ['0.0', '1.5', '-0.0', '2.5'][n % 4]!)]
let place: Awaited<ReturnType<typeof openWorkplace>>
let duck: DuckDBInstance

beforeAll(async () => {
  place = await openWorkplace()
  duck = await DuckDBInstance.create()
})
afterAll(async () => {
  duck.closeSync()
  await place[Symbol.asyncDispose]()
})

async function datasetOf(values: readonly string[]): Promise<Dataset> {
  const dataset = await newDataset(place.engine, [
    { name: 'n', type: 'integer' },
    { name: 'x', type: 'double' },
  ])
  const lines = values.map((value, n) => `${n},${value}\n`)
  await dataset.replace({ body: bytesOf(`n,x\n${lines.join('')}`), format: 'csv' })
  return dataset
}

async function exported(dataset: Dataset, options: Parameters<Dataset['query']>[0]) {
  using query = await dataset.query(options)
  const file = join(place.directory, `${Math.random()}.parquet`)
  await query.toFile(file, 'parquet')
  const connection = await duck.connect()
  const read = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJS().flat()
  const encodings = await read(`SELECT encodings FROM parquet_metadata('${file}')`)
  return { zeros: await read(`SELECT CAST(x AS VARCHAR) FROM '${file}'`), encodings }
}

test.each([
  ['a filter', { filter: 'n ge 1' }, VALUES.slice(1)],
  ['an order', { orderBy: 'n desc' }, VALUES.toReversed()],
  ['some columns beside a calculated one', { compute: 'n add 1 as m', select: ['x', 'm'] }, VALUES],
])('each zero keeps its sign in a Parquet file of %s', async (_, options, wanted) => {
  const dataset = await datasetOf(VALUES)
  expect((await exported(dataset, options)).zeros).toEqual(wanted)
})

test('a Parquet file of rows without -0 has dictionaries', async () => {
  const dataset = await datasetOf(VALUES.map((value) => value.replace('-', '')))
  expect((await exported(dataset, { filter: 'n ge 1' })).encodings.join()).toContain('DICTIONARY')
})
