import { expect, test } from 'vitest'
import { topLevel } from '../../engine/duckdb/normalise.ts'

test('columns are the children of the root, whatever is in them', () => {
  // root: a, b: { list: { x, y } }, c; and another root: d
  const schema = [3, null, 1, 2, null, null, null, 1, null]
  expect(topLevel(schema)).toEqual({ columns: [1, 2, 6], end: 7 })
  expect(topLevel(schema.slice(7))).toEqual({ columns: [1], end: 2 })
})

test('a schema that promises more than it has ends where it ends', () => {
  expect(topLevel([2 ** 31, 2 ** 31, null])).toEqual({ columns: [1], end: 3 })
  expect(topLevel([])).toEqual({ columns: [], end: 1 })
})
