import { expect, test } from 'vitest'
import type { Part, Version } from '../../engine/catalog/records.ts'
import { emptiedIn } from '../../engine/store/emptied.ts'

/** A part of ten rows with so many nulls in each of its columns; without numbers, an older program wrote it. */
function part(...nulls: number[]): Part {
  const statistics = nulls.length > 0 ? nulls.map((count) => ({ min: null, max: null, nulls: count })) : null
  return { id: 1, rows: 10, bytes: 100, rawBytes: 100, hash: null, statistics }
}
const columns = (...names: string[]) => names.map((name) => ({ name }))
const version = (names: readonly string[], ...parts: Part[]) =>
  ({ columns: columns(...names), parts, rows: 10 * parts.length }) as unknown as Version

const BEFORE = version(['a', 'b'], part(0, 2), part(1, 0))

test('a column with values in most rows is emptied by rows that are all null there', () => {
  expect(emptiedIn([part(10, 0), part(10, 10)], columns('a', 'b'), BEFORE)).toEqual([
    { name: 'a', values: 19 },
  ])
  expect(emptiedIn([part(10, 10)], columns('a', 'b'), BEFORE)).toEqual([
    { name: 'a', values: 19 },
    { name: 'b', values: 18 },
  ])
  expect(emptiedIn([part(10, 9), part(9, 10)], columns('a', 'b'), BEFORE)).toEqual([])
})

test('a column is found by its name, wherever it stands, and is not emptied where it is gone', () => {
  expect(emptiedIn([part(0, 5, 10)], columns('new', 'b', 'a'), BEFORE)).toEqual([{ name: 'a', values: 19 }])
  expect(emptiedIn([part(10)], columns('b'), BEFORE)).toEqual([{ name: 'b', values: 18 }])
})

test('a column that had values in half of the rows at most is not emptied', () => {
  const one = columns('a')
  expect(emptiedIn([part(10)], one, version(['a'], part(0), part(10)))).toEqual([])
  expect(emptiedIn([part(10)], one, version(['a'], part(0), part(9)))).toEqual([{ name: 'a', values: 11 }])
})

test('where parts of an older program tell nothing, nothing is emptied', () => {
  expect(emptiedIn([part()], columns('a'), version(['a'], part(0)))).toEqual([])
  expect(emptiedIn([part(10), part()], columns('a'), version(['a'], part(0)))).toEqual([])
  expect(emptiedIn([part(10)], columns('a'), version(['a'], part(0), part()))).toEqual([])
  expect(emptiedIn([part(10)], columns('a', 'b'), BEFORE)).toEqual([{ name: 'a', values: 19 }])
})

test('no rows at all empty every column that had values', () => {
  expect(emptiedIn([], columns('a', 'b'), BEFORE).map(({ name }) => name)).toEqual(['a', 'b'])
  expect(emptiedIn([], columns('b'), BEFORE).map(({ name }) => name)).toEqual(['b'])
})
