import { expect, test } from 'vitest'
import { type Plan, physicalColumns, planQuery, type QueryOptions } from '../../engine/plan/plan.ts'
import { Pipelines } from '../apply/support/pipelines.ts'
import { print, printOptions } from '../apply/support/print.ts'
import { Random } from '../filter/support/random.ts'

const TYPES = { K: 'string', J: 'string', N: 'integer', P: 'decimal(10,2)', D: 'double' } as const

function planOf(options: QueryOptions): Plan {
  const columns = Object.entries(TYPES).map(([name, type]) => ({
    name,
    type,
    nullable: true,
    description: '',
  }))
  const source = { columns: physicalColumns(columns), rows: 2, rowBytes: 1 }
  return planQuery({ ...source, scan: () => ({ kind: 'slices', slices: [], of: 0 }) }, options)
}

test.for<[QueryOptions, counted: number[], rows: number[]]>([
  [{}, [], [0, 1, 2, 3, 4]],
  [{ select: 'D,K' }, [], [0, 4]],
  [{ select: 'K', filter: 'N gt 5' }, [2], [0, 2]],
  [{ select: 'K', orderBy: 'N desc' }, [], [0, 2]],
  [{ select: 'K', orderBy: 'length(J)' }, [], [0, 1]],
  [{ select: 'x', compute: 'N add 1 as x' }, [2], [2]],
  [{ select: 'D', search: 'word' }, [0, 1], [0, 1, 4]],
  [{ apply: 'groupby((K),aggregate(P with sum as s))' }, [0, 3], [0, 3]],
  [{ apply: 'groupby((K),topcount(1,N))' }, [0, 2], [0, 1, 2, 3, 4]],
  [{ apply: 'concat(filter(N gt 1),filter(N le 1))', select: 'K' }, [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]],
])('%j reads these columns', ([options, counted, rows]) => {
  const { reads } = planOf(options)
  expect(reads.counted.toSorted()).toEqual(counted)
  expect(reads.rows.toSorted()).toEqual(rows)
})

test('2000 random queries read at least the columns that their SQL names', () => {
  const pipelines = new Pipelines(new Random(20_261_125))
  let some = 0
  for (let count = 0; count < 2_000; count++) {
    const asking = pipelines.next()
    const options = { apply: print(asking.steps), ...printOptions(asking.options) }
    let plan: Plan
    try {
      plan = planOf(options)
    } catch {
      continue
    }
    const { steps, filter, order, columns, reads } = plan
    const named = (...sql: unknown[]) => {
      const text = JSON.stringify(sql, (key, value) => (key === 'name' ? undefined : value))
      return [...new Set(text.match(/\bc\d+\b/g))].map((name) => Number(name.slice(1)))
    }
    expect(reads.counted, JSON.stringify(options)).toEqual(expect.arrayContaining(named(steps, filter?.sql)))
    expect(reads.rows, JSON.stringify(options)).toEqual(
      expect.arrayContaining(named(steps, filter?.sql, order, columns)),
    )
    some++
  }
  expect(some).toBeGreaterThan(1_000)
})
