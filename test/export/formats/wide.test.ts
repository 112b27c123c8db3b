import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ColumnType } from '../../../engine/types/index.ts'
import { openTestExecutor, statement, type TestExecutor, textOf } from '../support.ts'

let executor: TestExecutor
beforeAll(async () => {
  executor = await openTestExecutor()
})
afterAll(() => executor.close())

/** Around the number of columns that are written by one function, and far beyond it. */
it.each([1, 23, 24, 25, 48, 49, 1000])('writes %d columns', async (count) => {
  const columns = Array.from({ length: count }, (_, index): [string, ColumnType] =>
    index % 3 === 0
      ? [`n${index}`, 'integer']
      : index % 3 === 1
        ? [`t${index}`, 'string']
        : [`d${index}`, 'double'],
  )
  const sql = columns.map(([, type], index) =>
    type === 'integer'
      ? `CASE WHEN i % 2 = 0 THEN i + ${index} END`
      : type === 'string'
        ? `CASE WHEN i % 3 = 0 THEN 'a, ' || i ELSE 'b' END`
        : `i / 2`,
  )
  const query = statement(`SELECT ${sql.join(', ')} FROM range(50) t(i)`, Object.fromEntries(columns))
  const cell = (i: number, index: number) =>
    index % 3 === 0
      ? i % 2 === 0
        ? i + index
        : null
      : index % 3 === 1
        ? i % 3 === 0
          ? `a, ${i}`
          : 'b'
        : i / 2
  const rows = Array.from({ length: 50 }, (_, i) => columns.map((_, index) => cell(i, index)))

  const text = (value: unknown) =>
    value === null ? (count === 1 ? '""' : '') : String(value).includes(',') ? `"${value}"` : String(value)
  const csv = [columns.map(([name]) => name), ...rows.map((row) => row.map(text))].map((row) => row.join(','))
  expect(await textOf(executor, query, 'csv')).toBe(`${csv.join('\n')}\n`)
  expect(JSON.parse(await textOf(executor, query, 'json'))).toEqual(
    rows.map((row) => Object.fromEntries(row.map((value, index) => [columns[index]![0], value]))),
  )
})

it('makes code of nothing that a user has named', async () => {
  const name = '`);globalThis.reached = true;//\n*/"\'\\${1}'
  const json = await textOf(executor, statement('SELECT 1::BIGINT', { [name]: 'integer' }), 'json')
  expect(JSON.parse(json)).toEqual([{ [name]: 1 }])
  expect('reached' in globalThis).toBe(false)
})
