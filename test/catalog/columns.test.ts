import { describe, expect, test } from 'vitest'
import { checkColumns, manifestChange, widens } from '../../engine/types/columns.ts'
import type { Column, ColumnType } from '../../engine/types/index.ts'

function column(name: string, type: ColumnType, nullable = true): Column {
  return { name, type, nullable, description: '' }
}

describe('declared columns', () => {
  test('are nullable and not described unless they say so', () => {
    expect(checkColumns([{ name: 'a', type: 'decimal(12,2)' }])).toEqual([column('a', 'decimal(12,2)')])
  })

  test('may differ only by case', () => {
    expect(checkColumns([column('a', 'integer'), column('A', 'integer')])).toHaveLength(2)
  })

  test.each([
    ['not a list', {}, 'Columns must be a list'],
    ['a name twice', [column('a', 'integer'), column('a', 'double')], '"a" is declared twice'],
    ['an empty name', [{ name: '', type: 'integer' }], 'Column 1 needs a name'],
    ['an unknown type', [{ name: 'a', type: 'int' }], 'unknown type "int"'],
    [
      'a precision that no decimal has',
      [{ name: 'a', type: 'decimal(39,0)' }],
      'unknown type "decimal(39,0)"',
    ],
    ['a scale over the precision', [{ name: 'a', type: 'decimal(3,4)' }], 'unknown type "decimal(3,4)"'],
    ['the same', [{ name: 'a', type: 'decimal(3,4)' }], 'with p from 1 to 38 and s from 0 to p'],
    ['an unknown key', [{ name: 'a', type: 'integer', primary: true }], 'unknown key "primary"'],
    ['a lone surrogate', [{ name: '\ud800', type: 'integer' }], 'valid Unicode'],
  ])('refuse %s', (_, declared, message) => {
    expect(() => checkColumns(declared)).toThrow(message)
  })
})

describe('a change of the manifest of a dataset with rows', () => {
  const from = [column('id', 'integer', false), column('price', 'decimal(8,2)')]

  test('is nothing where nothing changes', () => {
    expect(manifestChange(from, from)).toBe('none')
  })

  test('only describes where names and types stay', () => {
    expect(manifestChange(from, [{ ...from[0]!, description: 'key', nullable: true }, from[1]!])).toBe(
      'describe',
    )
  })

  test('rewrites to add, to widen and to reorder', () => {
    expect(manifestChange(from, [...from, column('note', 'string')])).toBe('rewrite')
    expect(manifestChange(from, [from[0]!, column('price', 'decimal(12,4)')])).toBe('rewrite')
    expect(manifestChange(from, [from[1]!, from[0]!])).toBe('rewrite')
  })

  test.each([
    ['removes a column', [from[0]!], `"price" is missing`],
    ['narrows a type', [from[0]!, column('price', 'integer')], "is decimal(8,2); it can't become integer"],
    ['adds a column without null', [...from, column('x', 'integer', false)], '"x" is new'],
    ['forbids nulls that may be there', [from[0]!, column('price', 'decimal(8,2)', false)], 'may hold nulls'],
  ])('conflicts where it %s', (_, to, message) => {
    expect(() => manifestChange(from, to as Column[])).toThrow(message)
  })

  test('widens only without loss', () => {
    expect(widens('integer', 'double')).toBe(false)
    expect(widens('integer', 'decimal(19,0)')).toBe(true)
    expect(widens('integer', 'decimal(20,2)')).toBe(false)
    expect(widens('date', 'timestamp')).toBe(true)
    expect(widens('timestamp', 'date')).toBe(false)
    expect(widens('double', 'string')).toBe(true)
    expect(widens('decimal(5,2)', 'decimal(5,3)')).toBe(false)
  })
})
