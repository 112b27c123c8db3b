import { describe, expect, test } from 'vitest'
import type { SqlColumn } from '../../engine/filter/index.ts'
import { planQuery, type QueryOptions } from '../../engine/plan/plan.ts'

const COLUMNS: SqlColumn[] = ['id', 'Unit price', 'say "hi"', 'ID', 'desc', 'a,b'].map((name, index) => ({
  name,
  type: 'string',
  sql: `c${index}`,
}))

function check(options: QueryOptions, columns = COLUMNS) {
  const number = ({ sql }: { sql: string }) => Number(sql.slice(1))
  const scan = () => ({ kind: 'slices', slices: [], of: 0 }) as const
  const plan = planQuery({ columns, rows: 1, rowBytes: 1, scan }, options)
  return {
    select: plan.columns.map(number),
    order: plan.order.map((key) => ({ column: number(key), descending: key.descending })),
  }
}

test('a literal where a column must stand is an unknown column', () => {
  expect(() => check({ orderBy: 'null' })).toThrow(
    /^Orderby contains invalid column\(s\): null\. Column names are case-sensitive\.$/,
  )
  expect(() => check({ orderBy: 'NULL' })).toThrow(/ The literal is written null\.$/)
})

describe('$select', () => {
  test('keeps its own order and tells case apart', () => {
    expect(check({ select: 'ID,id' }).select).toEqual([3, 0])
  })

  test('takes names with blanks as they are, and any name in quotes', () => {
    expect(check({ select: 'Unit price, "say ""hi""","a,b"' }).select).toEqual([1, 2, 5])
  })

  test('is all columns where it is absent or *', () => {
    expect(check({}).select).toEqual([0, 1, 2, 3, 4, 5])
    expect(check({ select: '*' }).select).toEqual([0, 1, 2, 3, 4, 5])
    expect(check({ select: '*' }, []).select).toEqual([])
  })

  test('lists every column that does not exist, once each', () => {
    expect(() => check({ select: 'foo,id,Bar,foo' })).toThrow(
      'Select contains invalid column(s): foo, Bar. Column names are case-sensitive.',
    )
  })

  test.each([
    ['id,', 'a column name is missing at position 4'],
    ['', 'a column name is missing at position 1'],
    ['"id', 'the quote at position 1 is never closed'],
    ['"id" x', 'expected a comma after "id", found "x"'],
    ['id,id', '"id" twice'],
  ])('refuses %j', (select, message) => {
    expect(() => check({ select })).toThrow(message)
  })
})

describe('$orderby', () => {
  test('takes directions in any case', () => {
    expect(check({ orderBy: 'id DESC,"Unit price" asc, ID' }).order).toEqual([
      { column: 0, descending: true },
      { column: 1, descending: false },
      { column: 3, descending: false },
    ])
  })

  test('takes a column that is named like a direction', () => {
    expect(check({ orderBy: 'desc desc' }).order).toEqual([{ column: 4, descending: true }])
    expect(check({ orderBy: 'desc' }).order).toEqual([{ column: 4, descending: false }])
  })

  test('refuses other words after a quoted name', () => {
    expect(() => check({ orderBy: '"id" down' })).toThrow("found 'down'")
  })
})

describe('numbers', () => {
  test.each([
    { top: -1 },
    { top: 1.5 },
    { skip: Number.NaN },
    { last: 2 ** 60 },
  ])('%o is refused', (options) => {
    expect(() => check(options)).toThrow('must be a non-negative integer')
  })

  test('$last goes with neither $top nor $skip', () => {
    expect(() => check({ top: 1, last: 1 })).toThrow("top and last can't be used together")
    expect(() => check({ skip: 1, last: 1 })).toThrow("skip and last can't be used together")
  })

  test('an option that does not exist is refused', () => {
    expect(() => check({ limit: 5 } as QueryOptions)).toThrow('Unknown option "limit". Valid options: ')
    expect(() => check({ orderby: 'id' } as QueryOptions)).toThrow('Did you mean orderBy? Valid options: ')
    expect(() => check({ filter: 5 } as unknown as QueryOptions)).toThrow('filter must be text (got 5).')
    expect(() => check({ apply: null } as unknown as QueryOptions)).toThrow('apply must be text (got null).')
  })

  test.each([
    [{ select: null }, 'select must be text or a list of column names'],
    [{ select: ['id', 5] }, 'select must be text or a list of column names'],
    [{ orderBy: null }, 'orderBy must be text or a list of keys'],
    [{ orderBy: ['id'] }, 'orderBy must be text or a list of keys'],
    [{ orderBy: [{ column: 'id', desc: true }] }, 'orderBy must be text or a list of keys'],
    [{ orderBy: [{ column: 'id', descending: 'yes' }] }, 'orderBy must be text or a list of keys'],
    [{ aliases: { '@p': 5 } }, 'aliases must be an object whose values are text'],
  ])('%j is refused', (options, message) => {
    expect(() => check(options as unknown as QueryOptions)).toThrow(
      expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(message) }),
    )
  })
})
