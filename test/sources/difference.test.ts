import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { dataset, platform } from '../server/platform.ts'

const clock = { now: new Date('2026-03-01T10:00:00Z') }
const at = await platform({ now: () => clock.now })
afterAll(() => at[Symbol.asyncDispose]())
const { engine, services } = at

const CSV = 'g,n,x,d,seen\na,1,0.1,1.50,2026-01-01T00:00:00\n,2,0.2,,2026-01-02T00:00:00\nb,,0.3,2.25,\n'
const COLUMNS = [
  { name: 'g', type: 'string' },
  { name: 'n', type: 'integer' },
  { name: 'x', type: 'double' },
  { name: 'd', type: 'decimal(9,2)' },
  { name: 'seen', type: 'timestamp' },
]

async function table(): Promise<number> {
  const { id } = await dataset(at, at.root, { csv: 'old\n1\n' })
  const made = await engine.dataset(id)
  await made.replace({
    format: 'csv',
    body: Buffer.from(CSV),
    columns: COLUMNS as never,
    replaceColumns: true,
  })
  return id
}

async function stored(query: object): Promise<number> {
  const { repository } = await dataset(at, at.root, { csv: 'n\n1\n' })
  const json = { name: 'stored', repositoryId: repository, query, materialize: 'on-change' }
  const answer = await at.call(at.root, 'POST', '/datasets', { json })
  expect(answer.statusCode, answer.body + JSON.stringify(query)).toBe(201)
  return answer.json().id
}

async function refresh(): Promise<void> {
  clock.now = new Date(clock.now.getTime() + 60_000)
  await services.refresher.runDue()
  const failed = 'SELECT last_error AS error FROM dataset_sources WHERE last_error IS NOT NULL'
  expect(await engine.database.all(failed)).toEqual([])
}

const howOf = async (id: number) =>
  (await at.call(at.root, 'GET', `/datasets/${id}/source`)).json().refresh as { by: string; because: string }

async function rowsOf(id: number): Promise<string[]> {
  using query = await (await engine.dataset(id)).query()
  return (await Array.fromAsync(query.rows())).map((row) => JSON.stringify(row, texts))
}
async function wholeOf(sql: string): Promise<string[]> {
  using query = await engine.sql(sql)
  return (await Array.fromAsync(query.rows())).map((row) => JSON.stringify(row, texts))
}
const texts = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)

const append = (id: number, csv: string) =>
  engine.dataset(id).then((one) => one.append({ format: 'csv', body: Buffer.from(`g,n,x,d,seen\n${csv}\n`) }))

/** Statements that are refreshed by what was appended. */
const GROWING = [
  'SELECT * FROM $t',
  'SELECT n * 2 AS twice, upper(g) AS big, x FROM $t WHERE n > 1 OR g IS NULL',
  "SELECT * EXCLUDE (x) REPLACE (coalesce(g, '-') AS g) FROM $t",
  'SELECT g, count(*) AS rows, count(n) AS filled, sum(n) AS n, sum(d) AS d, min(x) AS low, max(seen) AS late FROM $t GROUP BY g',
  "SELECT date_trunc('day', seen) AS day, n % 2 AS odd, count(*) AS rows FROM $t WHERE x < 0.9 GROUP BY ALL",
  'SELECT count(*) AS rows, sum(n) FILTER (WHERE n > 1) AS n, min(g) AS first FROM $t',
]
const WHOLE: readonly (readonly [string, RegExp])[] = [
  ['SELECT g, sum(x) AS x FROM $t GROUP BY g', /sum of doubles/],
  ['SELECT g, avg(n) AS n FROM $t GROUP BY g', /something else/],
  ['SELECT count(DISTINCT g) AS g FROM $t', /something else/],
  ['SELECT g, sum(n) + 1 AS n FROM $t GROUP BY g', /something else/],
  ['SELECT sum(n) AS n FROM $t GROUP BY g', /something else/],
  ['SELECT DISTINCT g FROM $t', /DISTINCT/],
  ['SELECT g FROM $t ORDER BY n LIMIT 2', /ORDER BY/],
  ['SELECT g, count(*) AS rows FROM $t GROUP BY g HAVING count(*) > 1', /HAVING/],
  ['SELECT g, row_number() OVER () AS r FROM $t', /something else/],
  ['SELECT g, (SELECT max(n) FROM $t) AS n FROM $t', /more than one table/],
  ['SELECT unnest([n, n]) AS n FROM $t', /something else/],
  ['SELECT g, n FROM $t UNION ALL SELECT g, n FROM $t', /more than one table/],
  [
    'SELECT to_days(CAST(n AS INTEGER)) AS days, count(*) AS rows FROM $t GROUP BY ALL',
    /types that datasets/,
  ],
]

test('after appends, rows, sums, counts and bounds are those of the whole, and only new rows are read', async () => {
  const id = await table()
  const queries = GROWING.map((sql) => sql.replaceAll('$t', `dataset_${id}`))
  const ids: number[] = []
  for (const sql of queries) ids.push(await stored({ sql }))
  await refresh()
  const cell = fc.tuple(
    fc.constantFrom('a', 'b', 'c', ''),
    fc.option(fc.integer({ min: -50, max: 50 })),
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.option(fc.integer({ min: -999, max: 999 })),
    fc.constantFrom('2026-01-01T00:00:00', '2026-01-02T10:00:00', ''),
  )
  const line = cell.map(([g, n, x, d, time]) => `${g},${n ?? ''},${x},${d === null ? '' : d / 100},${time}`)
  const step = fc.record({ lines: fc.array(line, { minLength: 1, maxLength: 6 }), edits: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 3 }), async (steps) => {
      for (const { lines, edits } of steps) {
        if (edits) await (await engine.dataset(id)).deleteRows({ filter: 'n eq 7 or n eq -7' })
        await append(id, lines.join('\n'))
        const before = await Promise.all(
          ids.map(async (one) => (await (await engine.dataset(one)).record()).version),
        )
        await refresh()
        for (const [index, one] of ids.entries()) {
          const [found, wanted] = [await rowsOf(one), await wholeOf(queries[index]!)]
          expect(index < 3 ? found : found.toSorted()).toEqual(index < 3 ? wanted : wanted.toSorted())
          const { version } = await (await engine.dataset(one)).record()
          if (!edits && version > before[index]!) expect((await howOf(one)).by).toBe('difference')
        }
      }
    }),
    { numRuns: Number(process.env['PARQUETRY_DIFFERENCES'] ?? 4) },
  )
})

test('everything else is run on all rows, and says why', async () => {
  const id = await table()
  const queries = WHOLE.map(([sql]) => sql.replaceAll('$t', `dataset_${id}`))
  const ids: number[] = []
  for (const sql of queries) ids.push(await stored({ sql }))
  await refresh()
  await append(id, 'b,5,0.25,1,')
  await refresh()
  for (const [index, one] of ids.entries()) {
    const how = await howOf(one)
    expect(how, queries[index]).toMatchObject({
      by: 'whole',
      because: expect.stringMatching(WHOLE[index]![1]),
    })
    expect((await rowsOf(one)).toSorted()).toEqual((await wholeOf(queries[index]!)).toSorted())
  }
})

test('a change of rows, of the query or of columns is read as a whole, and what follows by difference again', async () => {
  const id = await table()
  const one = await stored({ sql: `SELECT g, n FROM dataset_${id}` })
  const filtered = await stored({ dataset: id, filter: "g eq 'b'", select: ['n', 'g'] })
  await refresh()
  expect(await howOf(one)).toEqual({ by: 'whole', because: 'there are no rows of a last time' })
  const both = async (wanted: object) => {
    await refresh()
    expect([await howOf(one), await howOf(filtered)]).toEqual([wanted, wanted])
    expect((await rowsOf(one)).toSorted()).toEqual(
      (await wholeOf(`SELECT g, n FROM dataset_${id}`)).toSorted(),
    )
  }
  await append(id, 'b,5,0.25,1,')
  await both({ by: 'difference', because: null })
  await (await engine.dataset(id)).replace({ format: 'csv', body: Buffer.from(CSV) })
  await append(id, 'b,6,0.25,1,')
  await both({ by: 'whole', because: 'rows of its table were changed, and not only appended' })
  await append(id, 'b,8,0.25,1,')
  await both({ by: 'difference', because: null })
  const { version } = await (await engine.dataset(filtered)).record()
  await append(id, 'c,8,0.25,1,')
  await both({ by: 'difference', because: null })
  // No row of it is among those.
  expect((await (await engine.dataset(filtered)).record()).version).toBe(version)
})

test('$explain of SQL says how the rows would be refreshed if they were stored', async () => {
  const id = await table()
  const explain = async (sql: string) => {
    const query = new URLSearchParams({ q: sql.replaceAll('$t', `dataset_${id}`), $explain: 'true' })
    return (await at.call(at.root, 'GET', `/sql?${query}`)).json().refresh
  }
  for (const sql of GROWING) expect(await explain(sql)).toEqual({ by: 'difference', because: null })
  for (const [sql, why] of WHOLE)
    expect(await explain(sql), sql).toEqual({ by: 'whole', because: expect.stringMatching(why) })
})

test('what reads a saved query is run as a whole, and what reads its stored rows is not', async () => {
  const because = 'it reads a saved query, whose rows have no versions'
  const id = await table()
  const { repository } = await dataset(at, at.root, { csv: 'n\n1\n' })
  const json = { name: 'saved', repositoryId: repository, query: { sql: `SELECT g, n FROM dataset_${id}` } }
  const saved = (await at.call(at.root, 'POST', '/datasets', { json })).json().id
  const above = await stored({ sql: `SELECT g FROM dataset_${saved}` })
  await refresh()
  expect(await howOf(above)).toEqual({ by: 'whole', because })
  const kept = await stored({ sql: `SELECT g, n FROM dataset_${id}` })
  await refresh()
  for (const [of, expected] of [
    [saved, { by: 'whole', because }],
    [kept, { by: 'difference', because: null }],
  ] as const) {
    const query = new URLSearchParams({ q: `SELECT g FROM dataset_${of}`, $explain: 'true' })
    expect((await at.call(at.root, 'GET', `/sql?${query}`)).json().refresh).toEqual(expected)
  }
})
