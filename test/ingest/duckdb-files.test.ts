import { readFileSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, test } from 'vitest'
import { useBench } from './support/helper.ts'

const bench = useBench()

async function made(sql: string): Promise<Buffer> {
  const path = bench.path('.duckdb')
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  await connection.run(`${sql}; CHECKPOINT`)
  connection.closeSync()
  instance.closeSync()
  return readFileSync(path)
}

test('a table of a DuckDB database keeps its types, and its integers of 128 bits keep all digits', async () => {
  const file = await made(
    "CREATE TABLE t AS SELECT 12345678901234567890123456789::HUGEINT h, 1.50::DECIMAL(9,2) d, 'é' s, DATE '2024-02-29' AS day",
  )
  const { values, shape, table } = await bench.read('duckdb', file)
  expect(table).toBe('t')
  expect(shape).toEqual(['h: decimal(38,0)', 'd: decimal(9,2)', 's: string', 'day: date'])
  expect(values).toEqual([['12345678901234567890123456789', '1.50', 'é', '2024-02-29']])
})

test('a type that Parquet lacks is named', async () => {
  const file = await made("CREATE TABLE t AS SELECT '12:00:00+02'::TIMETZ v")
  expect(await bench.refusal('duckdb', file)).toContain(
    'Column "v" has values of the type TIME WITH TIME ZONE',
  )
})

test('several tables are listed, and one that is cut off is refused', async () => {
  const file = await made('CREATE TABLE a AS SELECT 1 x; CREATE TABLE b AS SELECT range x FROM range(9)')
  expect(await bench.refusal('duckdb', file)).toContain('several tables: name one of "a", "b"')
  expect((await bench.read('duckdb', file, { options: { table: 'b' } })).rows).toBe(9)
  expect(await bench.refusal('duckdb', file.subarray(0, file.length / 2))).toContain('is damaged')
})
