import { expect, test } from 'vitest'
import { aggregateTable } from '../../engine/filter/apply/aggregates.ts'
import { Building, readPipeline } from '../../engine/filter/index.ts'
import { NotTranslatable } from '../../engine/filter/sql/dialect.ts'
import { trino } from '../../engine/filter/sql/trino.ts'

const columns = [
  { name: 'word', type: 'string', sql: 'c0' },
  { name: 'n', type: 'integer', sql: 'c1' },
  { name: 'd', type: 'double', sql: 'c2' },
  { name: 'p', type: 'decimal(10,2)', sql: 'c3' },
  { name: 'at', type: 'timestamptz', sql: 'c4' },
] as const

function stepsOf(options: Parameters<typeof readPipeline>[0]) {
  const building = new Building({ dialect: trino })
  return readPipeline(options, columns, building).steps
}

function unsaid(options: Parameters<typeof readPipeline>[0]): string {
  try {
    stepsOf(options)
  } catch (error) {
    if (error instanceof NotTranslatable) return error.what
    throw error
  }
  throw new Error('it was said')
}

test('steps hold the SQL of the dialect that they are read for', () => {
  expect(
    stepsOf({ apply: "filter(contains(word, 'x'))/aggregate(p with sum as s, at with max as m)" }),
  ).toMatchObject([
    { kind: 'filter', condition: 'strpos(c0, $1) > 0' },
    {
      kind: 'group',
      added: [
        { type: 'decimal(38,2)', value: 'CAST(sum(CAST(c3 AS DECIMAL(10,2))) AS DECIMAL(38,2))' },
        {
          value: 'CAST(max(CAST(c4 AS TIMESTAMP(6) WITH TIME ZONE)) AS TIMESTAMP(6) WITH TIME ZONE)',
        },
      ],
    },
  ])
  expect(stepsOf({ compute: 'year(at) as y' })).toMatchObject([
    { kind: 'compute', added: [{ value: 'CAST(year(CAST(c4 AS TIMESTAMP(6))) + 0 AS BIGINT)' }] },
  ])
})

test('words are searched past case and accents, and a character that Trino takes otherwise makes it fail', () => {
  const [step] = stepsOf({ search: 'rain' })
  expect(step).toMatchObject({
    condition: expect.stringMatching(
      /^coalesce\(strpos\(CASE WHEN regexp_like\(c0, '\[.*\]'\) THEN fail\('.*'\) ELSE normalize\(.*\) END, CASE WHEN regexp_like\(\$1, .* END\) > 0, FALSE\)$/,
    ),
  })
})

test('so many words in so many columns that their SQL grows too long are left to DuckDB', () => {
  const texts = Array.from(
    { length: 20 },
    (_, n) => ({ name: `t${n}`, type: 'string', sql: `c${n}` }) as const,
  )
  const options = { search: Array(100).fill('rain').join(' OR ') }
  expect(() => readPipeline(options, texts, new Building({ dialect: trino }))).toThrow(
    new NotTranslatable('$search for so many words'),
  )
  expect(readPipeline(options, texts, new Building()).steps).toHaveLength(1)
})

test('an average is left to DuckDB where its sum is no longer exact as a double', () => {
  const [group] = stepsOf({ apply: 'aggregate(n with average as a)' })
  expect(group).toMatchObject({
    added: [
      {
        value: expect.stringMatching(
          /^CAST\(CASE WHEN abs\(sum\(.*\)\) > 9007199254740992 THEN fail\('.*'\) ELSE .* END AS DOUBLE\)$/,
        ),
      },
    ],
  })
})

test.each([
  [{ apply: 'aggregate(d with sum as s)' }, 'sum of double'],
  [{ apply: 'aggregate(d with min as s)' }, 'min of double'],
  [{ apply: 'aggregate(p with average as s)' }, 'average of decimal(10,2)'],
  [{ apply: 'groupby((d),aggregate($count as s))' }, 'groups of double'],
  [{ apply: 'topcount(3,d)' }, 'order of double'],
  [{ apply: 'orderby(d desc)' }, 'order of double'],
  [{ apply: 'aggregate(n with p90 as s)' }, 'p90 of integer'],
  [{ compute: 'n divby 2 as half' }, 'divby of integer, integer'],
])('%o can not be said with the same meaning', (options, what) => {
  expect(unsaid(options)).toBe(what)
})

test('the methods that Trino has are these', () => {
  expect(aggregateTable.filter((row) => row.trino).map(({ name }) => name)).toEqual([
    'sum',
    'average',
    'min',
    'max',
    'countdistinct',
    'first',
    'last',
  ])
})
