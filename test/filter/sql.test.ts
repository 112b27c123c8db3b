import { describe, expect, test } from 'vitest'
import { Building, compileFilter } from '../../engine/filter/index.ts'
import { column } from './support/table.ts'

const columns = [
  column('s', 'string', 0),
  column('i', 'integer', 1),
  column('d', 'double', 2),
  column('p', 'decimal(10,2)', 3),
  column('b', 'boolean', 4),
  column('day', 'date', 5),
  column('at', 'timestamptz', 6),
  column('e', 'double', 7),
]

function sqlOf(filter: string): string {
  return compileFilter(filter, columns, { now: () => new Date('2024-03-01T00:00:00Z') }).sql
}

describe('a comparison with a literal in a conjunction is a plain operator', () => {
  test.each([
    ["s eq 'x'", '"c0" = $1'],
    ['i gt 5 and i le 9', `"c1" > CAST('5' AS BIGINT) AND "c1" <= CAST('9' AS BIGINT)`],
    ['5 lt i', `"c1" > CAST('5' AS BIGINT)`],
    ['i gt 2.5', `"c1" > CAST('2' AS BIGINT)`],
    ['d lt 5', `"c2" < CAST('5' AS DOUBLE)`],
    // NaN is greater than every number in DuckDB.
    ['d gt 5', `"c2" > CAST('5' AS DOUBLE) AND "c2" <= CAST('Infinity' AS DOUBLE)`],
    ['p ge 2.555', `"c3" > CAST('2.55' AS DECIMAL(10,2))`],
    ['day ge 2024-01-01T00:00:01Z', `"c5" > CAST('2024-01-01' AS DATE)`],
    ['at ge 2024-01-01', `"c6" >= CAST('2024-01-01 00:00:00+00' AS TIMESTAMPTZ)`],
    ["at gt now() sub duration'P1D'", `"c6" > CAST('2024-02-29 00:00:00+00' AS TIMESTAMPTZ)`],
    ["s eq 'x' or i eq 5", `("c0" = $1 OR "c1" = CAST('5' AS BIGINT))`],
    ['b eq true and i eq 5', `"c4" AND "c1" = CAST('5' AS BIGINT)`],
    ["startswith(s, 'ab')", '"c0" >= $1 AND "c0" < $2'],
    ["startswith(s, 'ab') eq true", '"c0" >= $1 AND "c0" < $2'],
    ['i in (1, 2)', `"c1" IN (CAST('1' AS BIGINT), CAST('2' AS BIGINT))`],
    ['i in (1, null)', `("c1" IS NULL OR "c1" = CAST('1' AS BIGINT))`],
    ['year(day) eq 2024', `"c5" >= CAST('2024-01-01' AS DATE) AND "c5" < CAST('2025-01-01' AS DATE)`],
    ['date(at) le 2024-02-29', `"c6" < CAST('2024-03-01 00:00:00+00' AS TIMESTAMPTZ)`],
    ['s eq null', '"c0" IS NULL'],
    ['s ne null', '"c0" IS NOT NULL'],
    ['i lt 1e30', '"c1" IS NOT NULL'],
    ['i gt 1e30', 'FALSE'],
    ['i in ()', 'FALSE'],
  ])('%s', (filter, sql) => {
    expect(sqlOf(filter)).toBe(sql)
  })
})

test('an `or` of more than 64 conditions is hidden from the optimizer of DuckDB, whose time grows with their square', () => {
  const chain = (count: number, operator: string) =>
    Array.from({ length: count }, (_, at) => `i lt ${at}`).join(` ${operator} `)
  const one = (at: number) => `"c1" < CAST('${at}' AS BIGINT)`
  const plain = (count: number, operator: string) =>
    Array.from({ length: count }, (_, at) => one(at)).join(` ${operator} `)
  expect(sqlOf(chain(64, 'or'))).toBe(`(${plain(64, 'OR')})`)
  const hidden = Array.from({ length: 65 }, (_, at) => `coalesce(${one(at)}, FALSE)`).join(' OR ')
  expect(sqlOf(chain(65, 'or'))).toBe(`coalesce(${hidden}, FALSE)`)
  expect(sqlOf(chain(65, 'and'))).toBe(plain(65, 'AND'))
  expect(sqlOf(`not (${chain(65, 'or')})`)).toBe(`NOT (${hidden})`)
})

describe('a double is compared exactly with a whole number that no double equals', () => {
  const finite = `AND "c2" <= CAST('Infinity' AS DOUBLE)`
  test.each([
    // The nearest double is less.
    ['d gt 9007199254740993', `"c2" > CAST('9007199254740992' AS DOUBLE) ${finite}`],
    ['d ge 9007199254740993', `"c2" > CAST('9007199254740992' AS DOUBLE) ${finite}`],
    ['d lt 9007199254740993', `"c2" <= CAST('9007199254740992' AS DOUBLE)`],
    ['d le 9007199254740993', `"c2" <= CAST('9007199254740992' AS DOUBLE)`],
    // The nearest double is greater.
    ['d gt 9007199254740995', `"c2" >= CAST('9007199254740996' AS DOUBLE) ${finite}`],
    ['d ge 9007199254740995', `"c2" >= CAST('9007199254740996' AS DOUBLE) ${finite}`],
    ['d lt 9007199254740995', `"c2" < CAST('9007199254740996' AS DOUBLE)`],
    ['d le 9007199254740995', `"c2" < CAST('9007199254740996' AS DOUBLE)`],
    ['d eq 9007199254740995', 'FALSE'],
    ['d lt 9007199254740996', `"c2" < CAST('9007199254740996' AS DOUBLE)`],
  ])('%s', (filter, sql) => {
    expect(sqlOf(filter)).toBe(sql)
  })
})

describe('elsewhere nulls and NaN are kept out by other means', () => {
  test.each([
    ["s ne 'x'", 'coalesce("c0" IS DISTINCT FROM $1, TRUE)'],
    [
      'd eq e',
      'coalesce("c2" IS NOT DISTINCT FROM "c7", FALSE) AND ' +
        `coalesce("c2" IS DISTINCT FROM CAST('NaN' AS DOUBLE), TRUE)`,
    ],
    ['d lt e', `"c2" < "c7" AND "c7" <= CAST('Infinity' AS DOUBLE)`],
    ['d add 1 gt 5', `nullif("c2" + CAST('1' AS DOUBLE), CAST('NaN' AS DOUBLE)) > CAST('5' AS DOUBLE)`],
    ['not (i gt 5)', `NOT coalesce("c1" > CAST('5' AS BIGINT), FALSE)`],
    ['not (i eq 5)', `NOT coalesce("c1" IS NOT DISTINCT FROM CAST('5' AS BIGINT), FALSE)`],
    [
      '(i gt 5) eq b',
      `coalesce(coalesce("c1" > CAST('5' AS BIGINT), FALSE) IS NOT DISTINCT FROM "c4", FALSE)`,
    ],
    ['not (i in (1, 2))', `NOT coalesce("c1" IN (CAST('1' AS BIGINT), CAST('2' AS BIGINT)), FALSE)`],
    ["not startswith(s, 'ab')", 'NOT starts_with("c0", $1)'],
  ])('%s', (filter, sql) => {
    expect(sqlOf(filter)).toBe(sql)
  })
})

describe('parentheses stand where SQL needs them', () => {
  test.each([
    ['(b or b) and b', '("c4" OR "c4") AND "c4"'],
    ['b or b and b', '("c4" OR "c4" AND "c4")'],
    ['b and (b and b)', '"c4" AND "c4" AND "c4"'],
    [
      '(d add e) mul d gt e sub (d sub e)',
      `nullif(("c2" + "c7") * "c2", CAST('NaN' AS DOUBLE)) > "c7" - ("c2" - "c7")`,
    ],
    ["concat(s, s) eq 'x'", '"c0" || "c0" = $1'],
    ['-(-(d)) lt 1', `-(-"c2") < CAST('1' AS DOUBLE)`],
  ])('%s', (filter, sql) => {
    expect(sqlOf(filter)).toBe(sql)
  })
})

test('what can fail is evaluated only where the rest has not decided', () => {
  const zero =
    "error('The filter divides by zero: the right operand of the operator at position 16 is 0 in a row.')"
  const division = `CASE WHEN "c1" = 0 THEN ${zero} ELSE CAST('100' AS BIGINT) // "c1" END > CAST('5' AS BIGINT)`
  const guard = `coalesce("c1" IS DISTINCT FROM CAST('0' AS BIGINT), TRUE)`
  expect(sqlOf('i ne 0 and 100 div i gt 5')).toBe(
    `${guard} AND CASE WHEN ${guard} THEN ${division} ELSE FALSE END`,
  )
})

test.each([
  // The quotient and the remainder of the least integer and -1 overflow; no others do.
  ['i div -1 gt 5', true],
  ['i mod -1 eq 0', true],
  ['i div i gt 5', true],
  ['i div -2 gt 5', false],
  ['i mod 1 eq 0', false],
])('%s is evaluated only where the rest has not decided: %s', (filter, guarded) => {
  expect(sqlOf(`d lt 5 and ${filter}`).includes('CASE WHEN "c2" <')).toBe(guarded)
})

test('lists beyond DuckDB’s own are searched, so that no join can reorder the rows', () => {
  const many = Array.from({ length: 40 }, (_, index) => index)
  expect(sqlOf(`i in (${many})`)).toMatch(
    /^\("c1" = CAST\('0' AS BIGINT\)( OR "c1" = CAST\('\d+' AS BIGINT\)){39}\)$/,
  )
  const more = compileFilter(`s in (${Array.from({ length: 5000 }, (_, index) => `'k${index}'`)})`, columns)
  expect(more.sql).toMatch(/^"c0" >= \$\d+ AND "c0" <= \$\d+ AND CASE WHEN "c0" < \$/)
  expect(more.sql).not.toContain(' IN (')
  expect(more.parameters.length).toBeLessThan(1500)
})

test('alternatives of equality become one list', () => {
  expect(sqlOf("s eq 'a' or i gt 5 or s eq 'b'")).toBe(`("c0" IN ($1, $2) OR "c1" > CAST('5' AS BIGINT))`)
})

test('denials of equality become one list, which lets nulls through as they did', () => {
  expect(sqlOf("s ne 'a' and i gt 5 and s ne 'b'")).toBe(
    `NOT coalesce("c0" IN ($1, $2), FALSE) AND "c1" > CAST('5' AS BIGINT)`,
  )
  expect(sqlOf('i ne 1 and i ne null')).toBe(`NOT ("c1" IS NULL OR "c1" = CAST('1' AS BIGINT))`)
})

test('numbers and dates are part of the SQL, texts of users are not', () => {
  const id = '0f0e0d0c-0b0a-0908-0706-050403020100'
  const { sql, parameters } = compileFilter(
    `i gt -5 and d lt -1e-400 and d gt 1e-7 and d ne 0.1 and p eq 1.10 and s eq 'it''s' and u eq ${id} and j/a eq 'b'`,
    [...columns, column('u', 'uuid', 8), column('j', 'json', 9)],
  )
  expect(sql).toContain(`"c1" > CAST('-5' AS BIGINT)`)
  expect(sql).toContain(`"c2" < CAST('-0' AS DOUBLE) AND "c2" > CAST('1e-7' AS DOUBLE)`)
  expect(sql).toContain(`"c2" IS DISTINCT FROM CAST('0.1' AS DOUBLE)`)
  expect(sql).toContain(`"c3" = CAST('1.10' AS DECIMAL(10,2))`)
  expect(parameters).toEqual(["it's", id, '/a', 'b'])
})

test('parameters are numbered behind those that the query has already', () => {
  const building = new Building()
  for (let number = 1; number <= 6; number++) building.parameter('before')
  const { sql, parameters } = building.filter("s eq 'x' and i eq 5 and s ne 'y'", columns)
  expect(sql).toBe(`"c0" = $7 AND "c1" = CAST('5' AS BIGINT) AND coalesce("c0" IS DISTINCT FROM $8, TRUE)`)
  expect(parameters).toEqual(['x', 'y'])
})

test('the columns used are given once each', () => {
  const building = new Building()
  building.filter("i gt 5 and p eq 2 or i lt 3 and contains(s, 'y')", columns)
  expect([...building.reads].sort()).toEqual([0, 1, 3])
})
