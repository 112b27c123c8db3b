import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Column } from '../../server/client/index.ts'
import { exampleFilter } from '../../server/console/src/filter/conditions.ts'
import { moved, readShown, toggled, writeShown } from '../../server/console/src/view/view.ts'

const column = (name: string, type: Column['type'] = 'string'): Column => ({
  name,
  type,
  nullable: true,
  description: '',
})
const columns = ['a', 'b,c', 'd"', 'ü'].map((name) => column(name))
const names = (shown: readonly Column[]) => shown.map(({ name }) => name)

describe('the columns that are shown', () => {
  it('are all, in their own order, where the address says nothing', () => {
    expect(readShown(undefined, columns)).toEqual(columns)
    expect(writeShown(columns, columns)).toBe('')
  })

  it('come back from an address, whatever their names', () => {
    const some = fc.shuffledSubarray(columns, { minLength: 1 })
    fc.assert(
      fc.property(some, (shown) => {
        expect(names(readShown(writeShown(shown, columns), columns))).toEqual(names(shown))
      }),
    )
  })

  it('are all where an address is damaged or of another dataset', () => {
    for (const text of ['x', '{}', '["nothing here"]', '[]']) expect(readShown(text, columns)).toBe(columns)
    expect(names(readShown('["ü","gone","ü"]', columns))).toEqual(['ü'])
  })

  it('are hidden, and come back where they were', () => {
    const without = toggled(columns, columns, columns[1]!)
    expect(names(without)).toEqual(['a', 'd"', 'ü'])
    expect(toggled(without, columns, columns[1]!)).toEqual(columns)
  })

  it('move as far as there are places', () => {
    expect(names(moved(columns, columns[2]!, -1))).toEqual(['a', 'd"', 'b,c', 'ü'])
    expect(moved(columns, columns[0]!, -1)).toEqual(columns)
    expect(moved(columns, columns[3]!, 1)).toEqual(columns)
  })
})

describe('the example of a filter', () => {
  it('is one that some rows match and others do not', () => {
    const numbers = fc.uniqueArray(fc.integer({ min: -1_000_000, max: 1_000_000 }), {
      minLength: 2,
      maxLength: 20,
    })
    fc.assert(
      fc.property(numbers, (values) => {
        const [min, max] = [Math.min(...values), Math.max(...values)]
        const middle = (min + max) / 2
        const histogram = [
          { from: min, to: middle, count: 1 },
          { from: middle, to: max, count: 1 },
        ]
        const profile = { name: 'n', type: 'integer', nulls: 0, min, max, mean: middle, histogram } as const
        const [, limit] = /^n ge (-?[\d.e+]+)$/.exec(exampleFilter(new Map([['n', profile]]))!)!
        expect(values.filter((value) => value >= Number(limit)).length).toBeGreaterThan(0)
      }),
    )
  })

  it('takes a name that occurs where there are no numbers', () => {
    const top = [{ value: 'Oslo', count: 2 }]
    const city = { name: 'city', type: 'string', nulls: 0, distinct: { value: 2, exact: true }, top } as const
    expect(exampleFilter(new Map([['city', city]]))).toBe("city eq 'Oslo'")
  })
})
