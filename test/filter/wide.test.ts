import { afterAll, beforeAll, expect, test } from 'vitest'
import { Table } from './support/table.ts'

/** Decimals of 38 digits, twenty of them behind the point: beside an integer column there are 39. */
let table: Table
beforeAll(async () => {
  table = await Table.create({ w: 'decimal(38,20)', n: 'decimal(38,0)', i: 'integer', b: 'boolean' }, [
    ['123456789012345678.1', '123456789012345678', '123456789012345678', 'true'],
    ['1.00000000000000000001', '1', '1', 'true'],
    ['-0.00000000000000000001', '0', '0', 'false'],
  ])
})
afterAll(() => table[Symbol.asyncDispose]())

test.each([
  ['w mod 1 eq 0.1', [0]],
  ['w mod 100 eq 78.1', [0]],
  ['w sub 123456789012345678 eq 0.1', [0]],
  ['w add 1 eq 2.00000000000000000001', [1]],
  ['1 sub w eq -0.00000000000000000001', [1]],
  ['case(b: w, true: 5) eq 1.00000000000000000001', [1]],
  ['case(b: 7, true: w) lt 0', [2]],
  ['w gt 1', [0, 1]],
  ['w in (1, 1.00000000000000000001)', [1]],
])('a whole literal takes no more digits than it has: %s', async (filter, rows) => {
  expect(await table.rows(filter)).toEqual(rows)
})

test.each([
  'w eq n',
  'w eq i',
])('columns that no 38 digits hold together meet as doubles: %s', async (filter) => {
  expect(await table.rows(filter)).toEqual([0, 1])
})

test('decimals without digits before the point become text with a zero there', async () => {
  await using fractions = await Table.create({ a: 'decimal(4,4)', b: 'decimal(38,38)' }, [
    ['0.5', '0.25'],
    ['-0.5', '0'],
  ])
  expect(await fractions.rows("cast(a, Edm.String) eq '0.5000'")).toEqual([0])
  expect(await fractions.rows("cast(a, Edm.String) eq '-0.5000'")).toEqual([1])
  expect(await fractions.rows("startswith(cast(b, Edm.String), '0.')")).toEqual([0, 1])
  expect(await fractions.rows("cast(0.5, Edm.String) eq '0.5'")).toEqual([0, 1])
})
