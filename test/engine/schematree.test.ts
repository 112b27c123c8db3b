import { expect, test } from 'vitest'
import { topLevel } from '../../engine/duckdb/normalise.ts'

const element = (name: string, children: number | null = null) => ({ name, children })

test('columns are the children of the root, whatever is in them', () => {
  const first = [element('root', 3), element('a'), element('b', 1), element('list', 2), element('x')]
  const schema = [...first, element('y'), element('c'), element('root', 1), element('d')]
  expect(topLevel(schema)).toEqual({ names: ['a', 'b', 'c'], end: 7 })
  expect(topLevel(schema, 7)).toEqual({ names: ['d'], end: 9 })
})

test('a schema that promises more than it has ends where it ends', () => {
  const schema = [element('root', 2 ** 31), element('a', 2 ** 31), element('b')]
  expect(topLevel(schema)).toEqual({ names: ['a'], end: 3 })
  expect(topLevel([])).toEqual({ names: [], end: 1 })
})
