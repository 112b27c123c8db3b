import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { compileFilter } from '../../engine/filter/index.ts'
import { CASE, CAST, functionTable } from '../../engine/filter/tables/functions.ts'
import { operatorTable } from '../../engine/filter/tables/operators.ts'
import { renderReference } from '../docs/pages/filter.ts'
import { column, Table } from './support/table.ts'

test('the reference page is what the tables say', async () => {
  await expect(renderReference()).toMatchFileSnapshot('../../docs/reference/filter.md')
})

/** Columns that the examples speak of. */
const TYPES = {
  Name: 'string',
  Code: 'string',
  City: 'string',
  Country: 'string',
  Mail: 'string',
  Price: 'decimal(10,2)',
  Balance: 'double',
  Discount: 'double',
  Stock: 'integer',
  Minutes: 'integer',
  Rating: 'integer',
  Id: 'integer',
  Day: 'date',
  Opens: 'time',
  Seen: 'timestamptz',
  Ordered: 'timestamptz',
  Shipped: 'timestamptz',
  Started: 'timestamp',
  Ended: 'timestamp',
} as const

describe('every operator and function has an example that works', () => {
  test.each(
    [...operatorTable, ...functionTable, CASE, CAST].map((row) => [row.name, row] as const),
  )('%s', async (name, row) => {
    await using table = await Table.create(TYPES, [])
    expect(row.about).toMatch(/^[A-Z].*\.$/s)
    const used = /^\w/.test(name) ? new RegExp(`\\b${name}\\b`) : /-/
    expect(row.example).toMatch(used)
    await expect(table.rows(row.example)).resolves.toEqual([])
  })
})

test('functions and operators are found in any case, and all are named in messages as the table has them', () => {
  const columns = [column('Name', 'string', 0)]
  expect(functionTable.map(({ name }) => name.toLowerCase())).toEqual([
    ...new Set(functionTable.map(({ name }) => name.toLowerCase())),
  ])
  expect(() => compileFilter('MATCHESPATTERN(Name)', columns)).toThrow(
    'matchesPattern(text, pattern, flags) takes 2 or 3 arguments',
  )
})

test('every code fence of the conformance page that is said to be refused is', () => {
  const page = readFileSync(new URL('../../docs/reference/conformance.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `([^`]+)` \| (refused|taken) \|/gm)]
  expect(rows.length).toBeGreaterThan(10)
  const columns = [
    ...['Name', 'FirstName'].map((name, index) => column(name, 'string', index)),
    column('Price', 'decimal(10,2)', 2),
    column('Stock', 'integer', 3),
    column('Rate', 'double', 4),
    column('Day', 'date', 5),
    column('Seen', 'timestamptz', 6),
    column('Local', 'timestamp', 7),
    column('Unit price', 'double', 8),
    column('Raw', 'binary', 9),
    column('Doc', 'json', 10),
  ]
  for (const [, filter, verdict] of rows) {
    const attempt = () => compileFilter(filter!, columns)
    if (verdict === 'taken') expect(attempt, filter).not.toThrow()
    else expect(attempt, filter).toThrow()
  }
})
