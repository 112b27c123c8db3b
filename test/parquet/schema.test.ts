import { expect, test } from 'vitest'
import { schemaOf } from '../../engine/parquet/schema.ts'
import { type Struct, TYPE } from '../../engine/parquet/thrift.ts'

/** A footer whose elements have these numbers of children; null for leaves. */
function footer(...children: readonly (number | null)[]): Struct {
  const values = children.map(
    (count, at): Struct =>
      new Map([
        [4, { type: TYPE.binary, value: Buffer.from(`e${at}`) }],
        ...(count === null ? [] : ([[5, { type: TYPE.i32, value: count }]] as const)),
      ]),
  )
  return new Map([[2, { type: TYPE.list, value: { element: TYPE.struct, values } }]])
}

const columnsOf = (...children: readonly (number | null)[]) =>
  schemaOf(footer(...children)).flatMap(({ name, isColumn }) => (isColumn ? [name] : []))

test('the columns of a Parquet schema are found between all that is nested in them', () => {
  const schema = [3, null, 2, 1, null, null, null]
  expect(columnsOf(...schema, 1, null)).toEqual(['e1', 'e2', 'e6'])
  expect(schemaOf(footer(...schema)).map(({ column, parent }) => [column, parent])).toEqual([
    [0, 0],
    [1, 0],
    [1, 2],
    [1, 3],
    [1, 2],
    [2, 0],
  ])
  expect(columnsOf(1, null)).toEqual(['e1'])
})

test('a schema that says it has more than there is', () => {
  expect(columnsOf(2 ** 31, 2 ** 31, null)).toEqual(['e1'])
  expect(columnsOf()).toEqual([])
})
