import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDataset, openWorkplace } from '../engine/workplace.ts'

const ROWS = 400_000
/** By their size; the last row group is not full. */
const GROUP_ROWS = 83_968
/** Columns whose values rise with the rows, and one whose values are everywhere. */
const SQL = `SELECT n::INTEGER AS n, DATE '2020-01-01' + (n // 1000)::INTEGER AS day,
  TIMESTAMP '2020-01-01' + INTERVAL (n) MINUTE AS moment, TIME '00:00:00' + INTERVAL (n // 5) SECOND AS clock,
  printf('it''s %06d', n) AS word, n / 8 AS half, (n / 10)::DECIMAL(18, 2) AS price,
  n > 300000 AS late, n % 97 AS kind, CASE WHEN n >= 250000 THEN n END AS sparse
  FROM range(${ROWS}) t(n)`

let place: Awaited<ReturnType<typeof openWorkplace>>
let table: string

beforeAll(async () => {
  place = await openWorkplace()
  const file = join(place.directory, 'rows.parquet')
  const duck = await (await DuckDBInstance.create(':memory:')).connect()
  await duck.run(`COPY (${SQL}) TO '${file}'`)
  duck.closeSync()
  const dataset = await newDataset(place.engine)
  table = `dataset_${dataset.id}`
  await dataset.replace({ format: 'parquet', body: { file } })
  using snapshot = await dataset.snapshot()
  const [part] = await snapshot.files()
  expect(part!.rowGroups.map(({ rows }) => rows)).toEqual([...Array(4).fill(GROUP_ROWS), 64_128])
}, 60_000)
afterAll(() => place[Symbol.asyncDispose]())

async function analyse(sql: string) {
  using query = await place.engine.sql(sql.replaceAll(/ t\b/g, ` ${table}`))
  return query.analyse()
}

test.each([
  ['everything', 'SELECT sum(kind) FROM t', 5, 5],
  ['an integer', 'SELECT * FROM t WHERE n = 130000', 1, 5],
  ['a range', 'SELECT * FROM t WHERE n BETWEEN 160000 AND 170000', 2, 5],
  ['one of several', 'SELECT * FROM t WHERE n IN (5, 399999)', 2, 5],
  ['one range or another', 'SELECT * FROM t WHERE n < 5 OR n > 399990 OR n = 130000', 3, 5],
  ['a date', "SELECT * FROM t WHERE day = '2020-04-15'", 1, 5],
  ['a moment', "SELECT * FROM t WHERE moment > '2020-09-30 12:00'", 1, 5],
  ['a time', "SELECT * FROM t WHERE clock < '01:00:00'", 1, 5],
  ['a text with a quote', "SELECT * FROM t WHERE word >= 'it''s 399990'", 1, 5],
  ['a number', 'SELECT * FROM t WHERE half < 10.5', 1, 5],
  ['a decimal number', 'SELECT * FROM t WHERE price < 10.5', 1, 5],
  ['nulls', 'SELECT * FROM t WHERE sparse IS NULL', 3, 5],
  ['no nulls', 'SELECT * FROM t WHERE sparse IS NOT NULL', 3, 5],
  ['two columns', 'SELECT * FROM t WHERE n > 130000 AND price < 13000.5', 1, 5],
  ['a column whose values are everywhere', 'SELECT * FROM t WHERE kind = 5', 5, 5],
  ['a condition that calculates', 'SELECT * FROM t WHERE (n * n + kind) % 7 = 1', 5, 5],
  ['a filter in a subquery', 'SELECT * FROM (SELECT * FROM t WHERE n < 9) WHERE kind < 5', 1, 5],
  ['a table twice', 'SELECT * FROM t a JOIN t b ON a.n = b.n WHERE a.n > 300000 AND b.kind < 9', 4, 10],
] as const)('analyse() counts row groups of SQL: %s', async (_, sql, read, of) => {
  expect((await analyse(sql)).rowGroups).toEqual({ read, of })
})

test('the verdict says what statistics have ruled out', async () => {
  expect((await analyse('SELECT word, moment FROM t WHERE n = 130000')).verdict).toMatch(
    /ruled out all but 1 of 5 row groups/,
  )
  expect((await analyse('SELECT word, moment FROM t WHERE n > 130000')).verdict).not.toMatch(/ruled out/)
})

test('row groups with matching rows always count', async () => {
  const n = fc.nat(ROWS)
  const condition = fc.oneof(
    fc.tuple(fc.constantFrom('<', '<=', '>', '>=', '=', '<>'), n).map(([is, at]) => `n ${is} ${at}`),
    fc.tuple(fc.constantFrom('<', '>=', '='), n).map(([is, at]) => `price ${is} ${at / 10}`),
    fc.tuple(fc.constantFrom('<', '>='), n).map(([is, at]) => `word ${is} 'it''s ${at}'`),
    fc.array(n, { minLength: 1, maxLength: 5 }).map((some) => `n IN (${some})`),
    fc.array(n, { minLength: 1, maxLength: 5 }).map((some) => `n NOT IN (${some})`),
    n.map((at) => `day >= DATE '2020-01-01' + ${Math.floor(at / 1000)}`),
    fc.constantFrom('late', 'NOT late', 'sparse IS NULL', 'sparse IS NOT DISTINCT FROM 260000', 'kind > 90'),
  )
  const conditions = fc
    .tuple(condition, fc.constantFrom('AND', 'OR', 'AND NOT'), condition)
    .map(([one, join, other]) => `(${one}) ${join} (${other})`)
  await fc.assert(
    fc.asyncProperty(conditions, async (where) => {
      using query = await place.engine.sql(
        `SELECT count(DISTINCT n // ${GROUP_ROWS}) AS n FROM ${table} WHERE ${where}`,
      )
      const [found] = await Array.fromAsync(query.rows())
      const { rowGroups } = await query.analyse()
      expect(rowGroups!.read, where).toBeGreaterThanOrEqual(Number(found!['n']))
    }),
    { numRuns: 60 },
  )
})
