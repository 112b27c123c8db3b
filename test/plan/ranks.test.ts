import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Dataset, QueryOptions } from '../../engine/index.ts'
import type { Plan } from '../../engine/plan/plan.ts'
import {
  betweenIn,
  planBetween,
  type Ranks,
  rankStatement,
  sampleStatement,
} from '../../engine/plan/ranks.ts'
import { rowsStatement } from '../../engine/plan/statements.ts'
import type { Statement } from '../../engine/types/index.ts'
import { bytesOf, newDataset, openWorkplace } from '../engine/workplace.ts'
import { Random } from '../filter/support/random.ts'

const ROWS = 3_000
const random = new Random(7)
const some = <T>(values: readonly T[]): T => values[random.below(values.length)]!
const SPECIAL = ['', '', 'NaN', 'INF', '-INF', '0', '-0', '1e-320']
const two = (n: number) => String(n).padStart(2, '0')

/** A cell of each column, empty where it is null. The first two columns number the rows. */
const CELLS: Readonly<Record<string, readonly [type: string, cell: (row: number) => string | number]>> = {
  n: ['integer', (row) => row],
  same: ['integer', () => 5],
  few: ['integer', () => some(['', 1, 2, 3])],
  i: ['integer', () => random.below(1_000_000) - 500_000],
  d: ['double', () => (random.below(10) === 0 ? some(SPECIAL) : random.below(1e6) / 7)],
  p: ['decimal(20,4)', () => (random.below(4) === 0 ? '' : `${random.below(1e6) - 5e5}.${random.below(10)}`)],
  s: ['string', () => some(['', 'a', 'B', 'é', '😀', '=x']) + some(['', '1', "'"]) + random.below(900)],
  day: [
    'date',
    () => `${1500 + random.below(600)}-${two(1 + random.below(12))}-${two(1 + random.below(28))}`,
  ],
  at: ['timestamptz', () => `20${two(random.below(40))}-01-01T00:00:${two(random.below(60))}Z`],
  u: ['uuid', () => `${random.below(16).toString(16)}0000000-0000-4000-8000-00000000000${random.below(10)}`],
  yes: ['boolean', () => some(['', 'true', 'false'])],
  bytes: ['binary', () => some(['', 'AAAA', 'XFxc', '/w=='])],
  clock: ['time', () => `${two(random.below(24))}:00:00.00${random.below(10)}`],
}
const NAMES = Object.keys(CELLS)

let place: Awaited<ReturnType<typeof openWorkplace>>
let dataset: Dataset
let run: (statement: Statement) => Promise<unknown[][]>

beforeAll(async () => {
  place = await openWorkplace()
  const columns = NAMES.map((name) => ({ name, type: CELLS[name]![0] }))
  dataset = await newDataset(place.engine, columns as never)
  for (const from of [0, 1, 2]) {
    const lines = Array.from({ length: ROWS / 3 }, (_, row) =>
      NAMES.map((name) => CELLS[name]![1]((from * ROWS) / 3 + row)).join(','),
    )
    await dataset.append({ format: 'csv', body: bytesOf(`${NAMES.join(',')}\n${lines.join('\n')}\n`) })
  }
  const duckdb = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
  await duckdb.run("SET TimeZone = 'UTC'")
  run = async ({ sql, parameters }) => (await duckdb.runAndReadAll(sql, [...parameters])).getRowsJson()
}, 60_000)
afterAll(() => place[Symbol.asyncDispose]())

const key = fc.record({ name: fc.constantFrom(...NAMES), descending: fc.boolean() })
const questions = fc.record({
  key,
  second: fc.option(key),
  filter: fc.option(fc.constantFrom('i gt 100000', 'few eq 2 or few eq null', 'n lt 200', 'n lt 0')),
  skip: fc.nat(ROWS),
  top: fc.integer({ min: 1, max: 60 }),
  step: fc.constantFrom(1, 2, 7),
})

test('the rows between two values of the sort key are those that were wanted, or the values are not used', async () => {
  let narrowed = 0
  const property = fc.asyncProperty(questions, async ({ key, second, filter, skip, top, step }) => {
    const options: QueryOptions = {
      orderBy: [key, ...(second ? [second] : [])].map(({ name: column, descending }) => ({
        column,
        descending,
      })),
      ...(filter !== null && { filter }),
      skip,
      top,
    }
    using query = await dataset.query(options)
    const plan = query.plan as Plan
    const type = CELLS[key.name]![0]
    const ranks = { key: plan.order[0]!, type, skip, top, step } as Ranks
    const sample = (await run(sampleStatement(plan, ranks))) as [string | null][]
    const between = betweenIn(
      sample.map(([value]) => value),
      ranks,
    )
    if (!between) return
    const [[before, within]] = (await run(rankStatement(plan, between))) as [[string, string]]
    const found = planBetween(plan, ranks, between, [Number(before), Number(within)])
    if (!found) return
    expect(await run(rowsStatement(found, undefined)), JSON.stringify(options)).toEqual(
      await run(rowsStatement(plan, undefined)),
    )
    narrowed += Number(within) < ROWS / 2 ? 1 : 0
  })
  await fc.assert(property, { seed: 1, numRuns: 150, endOnFailure: true })
  expect(narrowed).toBeGreaterThan(40)
})

test('values between which not all of the wanted rows are found are not used', async () => {
  using query = await dataset.query({ orderBy: 'i', skip: 1_000, top: 100 })
  const plan = query.plan as Plan
  const ranks: Ranks = { key: plan.order[0]!, type: 'integer', skip: 1_000, top: 100, step: 1 }
  const between = { condition: 'c3 >= 0 AND c3 <= 9', preceding: 'c3 < 0', toEnd: false }
  expect(planBetween(plan, ranks, between, [1_001, 500])).toBeUndefined()
  expect(planBetween(plan, ranks, between, [950, 149])).toBeUndefined()
  expect(planBetween(plan, ranks, between, [950, 150])?.window).toEqual({ skip: 50, top: 100 })
})
