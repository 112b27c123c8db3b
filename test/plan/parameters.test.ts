import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { positional, type SqlColumn } from '../../engine/filter/index.ts'
import { trino } from '../../engine/filter/sql/trino.ts'
import type { Relation } from '../../engine/index.ts'
import { planQuery, type QueryOptions } from '../../engine/plan/plan.ts'
import { rowsStatement } from '../../engine/plan/statements.ts'
import { openWorkplace } from '../engine/workplace.ts'

/** Steps that change nothing of each other's rows, each with texts and numbers. */
const STEPS = [
  "filter(word ne 'nobody' and price ge 0)",
  "compute(concat(word,'-x') as named)",
  'compute(price div 200 as part, price mul 3 as more)',
  "filter(not endswith(word,'zz') or price eq -1)",
]
/** The other options, with further texts and numbers in them. */
const REST: QueryOptions = {
  compute: "concat(named,'-y') as twice, part add 1 as next",
  filter: "contains(word,'o') and part lt 100 and not (word in ('six','seven'))",
  orderBy: "concat(word,'end') desc, part",
  select: ['word', 'part', 'more', 'twice', 'next'],
}
const COLUMNS = [
  { name: 'word', type: 'string' },
  { name: 'price', type: 'integer' },
] as const
const ROWS = [
  ['one', 100],
  ['two', 200],
  ['four', 1000],
  ['six', 1],
  ['no price', null],
] as const
const EXPECTED = [
  ['two', 1, 600, 'two-x-y', 2],
  ['one', 0, 300, 'one-x-y', 1],
  ['four', 5, 3000, 'four-x-y', 6],
]

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]]
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map((others) => [item, ...others]),
  )
}
const ORDERS = permutations([...STEPS.keys()]).map((order) => [order.join(), order] as const)
const optionsOf = (order: readonly number[]): QueryOptions => ({
  ...REST,
  apply: order.map((step) => STEPS[step]).join('/'),
})

let place: Awaited<ReturnType<typeof openWorkplace>>
let relation: Relation
beforeAll(async () => {
  place = await openWorkplace({ threads: 1, workers: 1 })
  relation = place.engine.relation(COLUMNS, ROWS)
})
afterAll(() => place[Symbol.asyncDispose]())

describe.each(ORDERS)('the steps %s', (_, order) => {
  test('have each value where it was written, in DuckDB', async () => {
    using query = relation.query(optionsOf(order))
    const found: unknown[] = []
    for await (const row of query.rows()) found.push(Object.values(row))
    expect(found).toEqual(EXPECTED)
  })

  test('have each value where it was written, in Trino, whose parameters have no numbers', () => {
    const { sql, parameters } = rowsStatement(planned(order), undefined)
    const inOrder = positional(sql, parameters)
    let next = 0
    const filled = inOrder.sql.replaceAll('?', () => `<${inOrder.parameters[next++]}>`)
    expect(next).toBe(inOrder.parameters.length)
    expect(filled).toBe(sql.replaceAll(/\$(\d+)/g, (_, number) => `<${parameters[Number(number) - 1]}>`))
    for (const pair of ['"c0" || <-x>', '|| <-y>', 'strpos("c0", <o>)', '"c0" || <end>']) {
      expect(filled).toContain(pair)
    }
    expect(filled.indexOf('<nobody>')).toBeGreaterThan(0)
  })
})

function planned(order: readonly number[]) {
  const columns: SqlColumn[] = COLUMNS.map((column, stored) => ({ ...column, sql: `"c${stored}"`, stored }))
  const scan = () => ({ kind: 'slices', slices: [], of: 0 }) as const
  return planQuery({ columns, rows: undefined, rowBytes: 1, scan }, optionsOf(order), { dialect: trino })
}

test('a statement has texts as parameters, and no numbers', () => {
  const { parameters, sql } = rowsStatement(planned([2, 0, 1, 3]), undefined)
  expect(parameters).toEqual(['nobody', '-x', 'zz', '-y', 'o', 'six', 'seven', 'end'])
  expect(sql).toContain("CAST('200' AS BIGINT)")
})
