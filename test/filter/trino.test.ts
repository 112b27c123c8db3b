import { describe, expect, test } from 'vitest'
import { compileFilter } from '../../engine/filter/index.ts'
import { NotTranslatable } from '../../engine/filter/sql/dialect.ts'
import { positional, trino } from '../../engine/filter/sql/trino.ts'
import { functionTable } from '../../engine/filter/tables/functions.ts'
import { operatorTable } from '../../engine/filter/tables/operators.ts'
import { column } from './support/table.ts'

const columns = [
  column('s', 'string', 0),
  column('i', 'integer', 1),
  column('d', 'double', 2),
  column('p', 'decimal(10,2)', 3),
  column('b', 'boolean', 4),
  column('day', 'date', 5),
  column('at', 'timestamptz', 6),
  column('local', 'timestamp', 7),
  column('clock', 'time', 8),
  column('id', 'uuid', 9),
  column('j', 'json', 10),
]

function said(filter: string) {
  const now = () => new Date('2024-03-01T00:00:00Z')
  const { sql, parameters } = compileFilter(filter, columns, { now, dialect: trino })
  return positional(sql, parameters)
}

describe('in Trino', () => {
  test.each([
    ['d gt 5', `"c2" > CAST('5' AS DOUBLE) AND "c2" <= CAST('Infinity' AS DOUBLE)`],
    ['at ge 2024-01-01', `"c6" >= CAST('2024-01-01 00:00:00+00' AS TIMESTAMP(6) WITH TIME ZONE)`],
    ['local lt 2024-01-01T00:00:00', `"c7" < CAST('2024-01-01 00:00:00' AS TIMESTAMP(6))`],
    ['clock ge 12:00', `"c8" >= CAST('12:00:00' AS TIME(6))`],
    ["contains(s, 'x')", 'strpos("c0", ?) > 0'],
    ["endswith(s, 'x')", 'substr("c0", -length(?)) = ?'],
    ["trim(s) eq 'x'", 'trim(BOTH ? FROM "c0") = ?'],
    ["matchesPattern(s, '^a.c$')", 'regexp_like("c0", ?)'],
    [
      'year(at) in (2023, 2024)',
      `year(CAST("c6" AS TIMESTAMP(6))) + 0 IN (CAST('2023' AS BIGINT), CAST('2024' AS BIGINT))`,
    ],
    [
      "day sub 2024-01-01 gt duration'P1D'",
      `date_diff('day', CAST('2024-01-01' AS DATE), "c5") * 86400000000 > CAST('86400000000' AS BIGINT)`,
    ],
    [
      'fractionalseconds(clock) lt 0.1',
      `CAST('0.' || substr(CAST("c8" AS VARCHAR), -6) AS DECIMAL(7,6)) < CAST('0.100000' AS DECIMAL(7,6))`,
    ],
    [
      "tolower(s) eq 'x'",
      expect.stringMatching(
        /^CASE WHEN regexp_like\("c0", '.*'\) THEN fail\('.*'\) ELSE lower\("c0"\) END = \?$/,
      ),
    ],
    ['i eq d', expect.stringContaining('CAST("c1" AS DECIMAL(38,0)) = CAST("c2" AS DECIMAL(38,0))')],
  ])('%s is said in its own words', (filter, sql) => {
    expect(said(filter).sql).toEqual(sql)
  })

  test('whole numbers are divided by /, and zero is told in our words', () => {
    expect(said('i div i gt 5').sql).toMatch(
      /^CASE WHEN "c1" = 0 AND "c1" IS NOT NULL THEN fail\('The filter divides by zero: .*'\) ELSE "c1" \/ "c1" END > CAST\('5' AS BIGINT\)$/,
    )
  })

  test('a long list is searched in an array', () => {
    const { sql } = said(`b and (i add 1) in (${Array.from({ length: 10 }, (_, index) => index)})`)
    expect(sql).toContain(`contains(CAST(split(?, ',') AS ARRAY(BIGINT)), "c1" + CAST('1' AS BIGINT))`)
  })

  test.each([
    ['i divby 2 gt 1', 'divby of integer, integer'],
    ['p div 3 gt 1', 'div of decimal(10,2), integer'],
    ["at sub duration'P1D' gt 2024-01-01", 'sub of timestamptz, duration'],
    ['time(local) lt 12:00', 'time of timestamp'],
    ["cast(d, Edm.String) eq '1'", 'cast to Edm.String of double'],
    ['cast(s, Edm.Date) eq 2024-01-01', 'cast to Edm.Date of string'],
    ['j/a eq 5', 'a value in JSON'],
    ['day lt 12000-01-01', 'a year before 1 or after 9999'],
    ['at gt mindatetime()', 'a year before 1 or after 9999'],
  ])('%s can not be said with the same meaning', (filter, what) => {
    let thrown: unknown
    try {
      said(filter)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(NotTranslatable)
    expect((thrown as NotTranslatable).what).toBe(what)
  })
})

test('parameters stand in the order of the text, each as often as it is used', () => {
  expect(positional(`a = $2 OR '$1' = "$1" OR b = $1 OR c = $2 OR 'it''s $1' = d`, ['x', 'y'])).toEqual({
    sql: `a = ? OR '$1' = "$1" OR b = ? OR c = ? OR 'it''s $1' = d`,
    parameters: ['y', 'x', 'y'],
  })
})

test('what Trino does not say is this, and nothing else', () => {
  const unsaid = [...operatorTable, ...functionTable].flatMap(({ name, overloads = [] }) =>
    overloads.filter((overload) => !overload.trino).map(({ takes }) => `${name} of ${takes.join(', ')}`),
  )
  expect(unsaid).toEqual([
    'div of decimal, decimal',
    'divby of integer, integer',
    'divby of decimal, decimal',
    'add of date, duration',
    'add of timestamp, duration',
    'add of timestamptz, duration',
    'sub of date, duration',
    'sub of timestamp, duration',
    'sub of timestamptz, duration',
    'sub of timestamp, timestamp',
    'sub of timestamptz, timestamptz',
    'time of timestamp',
    'time of timestamptz',
  ])
})
