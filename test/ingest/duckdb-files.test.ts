import { expect, test } from 'vitest'
import { duckDatabase } from './support/databases.ts'
import { useBench } from './support/helper.ts'

const bench = useBench()

const made = (sql: string) => duckDatabase(bench.path('.duckdb'), sql)

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

test.each([
  ['170141183460469231731687303715884105727::HUGEINT', 'an integer of more than 38 digits'],
  ["INTERVAL '1.000001 seconds'", 'an interval that is negative or finer than a millisecond'],
  ["INTERVAL '-1 month'", 'an interval that is negative'],
])('a value that Parquet does not hold, %s, is named with its column', async (value, what) => {
  const file = await made(`CREATE TABLE t AS SELECT ${value} v, 1 x`)
  expect(await bench.refusal('duckdb', file)).toContain(`Column "v" has ${what}`)
})

test('the largest integers and intervals that Parquet holds are read, and moments cut off on request', async () => {
  const file = await made(
    `CREATE TABLE t AS SELECT ${'9'.repeat(38)}::HUGEINT h, INTERVAL '14 months 1.001 seconds' i, TIMESTAMP_NS '2024-01-01 00:00:00.123456789' n, make_timestamp_ns(-1) m, [make_timestamp_ns(-1)] l`,
  )
  const { values } = await bench.read('duckdb', file, { options: { nanoseconds: 'truncate' } })
  expect(values).toEqual([
    [
      '9'.repeat(38),
      'P14MT1.001S',
      '2024-01-01 00:00:00.123456',
      '1969-12-31 23:59:59.999999',
      '["1969-12-31T23:59:59.999999"]',
    ],
  ])
})

test('several tables are listed, and one that is cut off is refused', async () => {
  const file = await made('CREATE TABLE a AS SELECT 1 x; CREATE TABLE b AS SELECT range x FROM range(9)')
  expect(await bench.refusal('duckdb', file)).toContain('several tables: name one of "a", "b"')
  expect((await bench.read('duckdb', file, { options: { table: 'b' } })).rows).toBe(9)
  expect(await bench.refusal('duckdb', file.subarray(0, file.length / 2))).toContain('is damaged')
})
