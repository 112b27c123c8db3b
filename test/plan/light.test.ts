import { expect, test } from 'vitest'
import type { Part, Version } from '../../engine/catalog/records.ts'
import { versionSource } from '../../engine/plan/parts.ts'
import { planQuery, type QueryOptions } from '../../engine/plan/plan.ts'
import { countStatement, planAt, positionsStatement, rowsStatement } from '../../engine/plan/statements.ts'

const ROWS = 500_000

/** A table sorted by `n`; part 0 has the numbers below 500,000, and so on. */
function sourceOf(parts: number, rows = ROWS, folder = '/parts') {
  const version = {
    columns: [
      { name: 'n', type: 'integer', nullable: true },
      { name: 'text', type: 'string', nullable: true },
    ],
    rows: parts * rows,
    rawBytes: parts * rows * 20,
    parts: Array.from({ length: parts }, (_, id) => ({
      id,
      rows,
      statistics: [{ min: String(id * rows), max: String((id + 1) * rows - 1), nulls: 0, bytes: 1 }, null],
    })),
  }
  return versionSource(version as unknown as Version, (part: Part) => `${folder}/${part.id}.parquet`)
}

const lightOf = (options: QueryOptions, source = sourceOf(4)) =>
  rowsStatement(planQuery(source, options), undefined).light

test('what a filter leaves of one part of several is light, as rows and as a count', () => {
  expect(lightOf({ filter: 'n eq 700000', top: 5 })).toBe(true)
  expect(countStatement(planQuery(sourceOf(4), { filter: 'n eq 700000' })).light).toBe(true)
  expect(lightOf({ filter: 'n eq -1' })).toBe(true)
})

test('what a filter leaves of several parts is not', () => {
  expect(lightOf({ filter: "text eq 'a'", top: 5 })).toBe(false)
  expect(lightOf({ filter: 'n gt 700000', top: 5 })).toBe(false)
})

test('but the rows of several parts at known positions are', () => {
  const plan = planQuery(sourceOf(4), { filter: "text eq 'a'", top: 5 })
  expect(positionsStatement(plan)?.light).toBeFalsy()
  const found = planAt(plan, [
    [0, 17],
    [3, 4],
  ])
  expect(rowsStatement(found, undefined).light).toBe(true)
})

test('a filter over the only part is light where the part is small', () => {
  expect(lightOf({ filter: "text eq 'a'" }, sourceOf(1))).toBe(false)
  expect(lightOf({ filter: "text eq 'a'" }, sourceOf(1, 1_000))).toBe(true)
})

test('a window is light', () => {
  expect(lightOf({ skip: 900_000, top: 100 })).toBe(true)
})

test('what is sorted or calculated is not', () => {
  expect(lightOf({ orderBy: 'n desc', top: 5 })).toBe(false)
  expect(lightOf({ apply: 'aggregate(n with sum as total)' })).toBe(false)
  expect(lightOf({ compute: 'n add 1 as m', top: 5 })).toBe(false)
})

test('what is read over HTTP is not', () => {
  expect(lightOf({ filter: 'n eq 700000' }, sourceOf(4, ROWS, 'http://127.0.0.1:1/parts'))).toBe(false)
})
