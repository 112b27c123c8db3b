import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Engine, EngineError, openEngine } from '../../engine/index.ts'
import { attacks } from './attacks.ts'

let directory: string
let engine: Engine
let duck: DuckDBConnection

/** Tables of a shop, as rows that DuckDB makes: customers, orders and lines, some with nulls. */
const TABLES = {
  customer: `SELECT i AS id, 'Customer ' || i AS name, i % 5 AS nation, CASE WHEN i % 7 > 0 THEN i * 11.25 - 500 END AS balance
    FROM range(500) t(i)`,
  orders: `SELECT i AS id, (i * 37) % 500 AS customer, DATE '1995-01-01' + (i % 1000)::INTEGER AS day,
    (ARRAY['O', 'F', 'P'])[1 + i % 3] AS status, i % 4 AS priority FROM range(5000) t(i)`,
  line: `SELECT i // 4 AS "order", i % 4 + 1 AS number, (i * 13) % 50 + 1 AS quantity, ((i * 7919) % 100000) / 100 AS price,
    (i % 11) / 100 AS discount, DATE '1995-01-01' + (i // 4 % 1000 + i % 90)::INTEGER AS shipped,
    (ARRAY['A', 'N', 'R'])[1 + i % 3] AS flag FROM range(20000) t(i)`,
  sparse: 'SELECT CASE WHEN n >= 4096 THEN n END AS x, n * 3 AS y FROM range(8192) t(n)',
} as const

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parquetry-statements-'))
  engine = await openEngine({ directory, threads: 2 })
  duck = await (
    await DuckDBInstance.create(':memory:', { disabled_optimizers: 'top_n,filter_pushdown' })
  ).connect()
  const { id: repositoryId } = await engine.createRepository({ name: 'shop' })
  for (const [name, sql] of Object.entries(TABLES)) {
    const file = join(directory, `${name}.parquet`)
    await duck.run(`COPY (${sql}) TO '${file}' (ROW_GROUP_SIZE 2048)`)
    await duck.run(`CREATE TABLE "${name}" AS SELECT * FROM '${file}'`)
    const { id } = await engine.createDataset({ repositoryId, name })
    await (await engine.dataset(id)).replace({ format: 'parquet', body: { file } })
  }
  const { id } = await engine.createDataset({ repositoryId, name: 'cased' })
  const body = Readable.from([Buffer.from('a,A,b\n1,x,10\n2,y,20\n')])
  await (await engine.dataset(id)).replace({ format: 'csv', body })
}, 120_000)

afterAll(async () => {
  await engine.close()
  duck.closeSync()
  await rm(directory, { recursive: true, force: true })
})

async function rowsOf(sql: string): Promise<Record<string, unknown>[]> {
  using query = await engine.sql(sql)
  return await Array.fromAsync(query.rows())
}

/** Numbers as numbers, so that decimals and integers of any width can be compared. */
const plain = (value: unknown): unknown => {
  const text =
    value instanceof Date ? value.toISOString().slice(0, 10) : value === null ? null : String(value)
  return text !== null && text.trim() !== '' && Number.isFinite(Number(text))
    ? Number(Number(text).toPrecision(10))
    : text
}

/** Shapes of the questions of TPC-H and TPC-DS, on the tables above. */
const QUESTIONS = [
  `SELECT flag, sum(quantity) AS q, sum(price * (1 - discount)) AS p, avg(price), count(*) FROM line
   WHERE shipped <= DATE '1998-09-02' - INTERVAL 90 DAY GROUP BY flag ORDER BY flag`,
  `SELECT l."order", sum(price * (1 - discount)) AS revenue, o.day, o.priority FROM customer c, orders o, line l
   WHERE c.nation = 2 AND c.id = o.customer AND l."order" = o.id AND o.day < DATE '1996-03-15' AND l.shipped > DATE '1996-03-15'
   GROUP BY l."order", o.day, o.priority ORDER BY revenue DESC, o.day, l."order" LIMIT 10`,
  `SELECT priority, count(*) FROM orders WHERE day >= DATE '1995-07-01' AND EXISTS
   (SELECT * FROM line WHERE "order" = orders.id AND quantity > 40) GROUP BY priority ORDER BY priority`,
  `SELECT nation, year(day) AS y, sum(price) AS s FROM customer JOIN orders ON customer.id = customer
   JOIN line ON "order" = orders.id GROUP BY ALL ORDER BY ALL`,
  'SELECT sum(price * discount) FROM line WHERE discount BETWEEN 0.05 AND 0.07 AND quantity < 24',
  `SELECT status, sum(CASE WHEN priority IN (0, 1) THEN 1 ELSE 0 END) AS high FROM orders GROUP BY status ORDER BY status`,
  `SELECT n, count(*) AS c FROM (SELECT c.id, count(o.id) AS n FROM customer c LEFT JOIN orders o
   ON c.id = o.customer AND o.status <> 'F' GROUP BY c.id) GROUP BY n ORDER BY c DESC, n DESC`,
  `WITH revenue AS (SELECT "order" AS o, sum(price) AS total FROM line GROUP BY "order")
   SELECT o, total FROM revenue WHERE total = (SELECT max(total) FROM revenue)`,
  `SELECT sum(price) / 7.0 FROM line l WHERE quantity < (SELECT 0.2 * avg(quantity) FROM line WHERE flag = l.flag)`,
  `SELECT name FROM customer WHERE id IN (SELECT customer FROM orders GROUP BY customer HAVING count(*) > 9) ORDER BY name LIMIT 5`,
  `SELECT name, balance FROM customer WHERE balance > (SELECT avg(balance) FROM customer WHERE balance > 0)
   AND NOT EXISTS (SELECT 1 FROM orders WHERE customer = customer.id AND status = 'P' AND priority = 3) ORDER BY id`,
  `SELECT id, balance, rank() OVER (PARTITION BY nation ORDER BY balance DESC NULLS LAST, id) AS r FROM customer
   QUALIFY r <= 2 ORDER BY nation, r`,
  `SELECT day, sum(count(*)) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS week FROM orders
   WHERE day < DATE '1995-02-01' GROUP BY day ORDER BY day`,
  `SELECT nation, status, grouping(nation) AS g, count(*) FROM customer JOIN orders ON customer = customer.id
   GROUP BY ROLLUP (nation, status) ORDER BY ALL`,
  `SELECT * FROM (SELECT status, priority FROM orders) PIVOT (count(*) FOR status IN ('O', 'F', 'P')) ORDER BY priority`,
  `SELECT id FROM customer INTERSECT SELECT customer FROM orders WHERE priority = 3 EXCEPT SELECT 3 ORDER BY 1 LIMIT 20`,
  `WITH RECURSIVE chain(id, depth) AS (SELECT 1, 0 UNION ALL SELECT (id * 37) % 500, depth + 1 FROM chain WHERE depth < 9)
   SELECT * FROM chain ORDER BY depth`,
  `SELECT o.id, l.n FROM orders o, LATERAL (SELECT count(*) AS n FROM line WHERE "order" = o.id AND quantity > 25) l
   WHERE o.id < 20 ORDER BY o.id`,
  `SELECT o.id, s.day FROM orders o ASOF JOIN (SELECT day, id FROM orders WHERE status = 'F') s ON o.day >= s.day
   WHERE o.id < 30 ORDER BY o.id`,
  `SELECT list_sum(list_transform(list(quantity ORDER BY number), lambda x: x * 2)) AS s FROM line GROUP BY "order" ORDER BY "order" LIMIT 9`,
  `SELECT COLUMNS(c -> c LIKE '%a%') FROM customer ORDER BY id LIMIT 4`,
  `SELECT * EXCLUDE (name) REPLACE (nation + 1 AS nation) FROM customer ORDER BY id LIMIT 4`,
  `SELECT DISTINCT ON (nation) nation, id FROM customer ORDER BY nation, id DESC`,
  `SELECT string_agg(name, ', ' ORDER BY id) FROM customer WHERE id < 4`,
  `SELECT date_trunc('month', day)::DATE AS m, median(priority), quantile_cont(id, 0.25) FROM orders GROUP BY m ORDER BY m LIMIT 5`,
  `SELECT regexp_replace(name, 'C(\\w+)', 'K\\1') AS k, upper(left(name, 3)) FROM customer ORDER BY id LIMIT 2`,
  `SELECT unnest([1, 2, 3]) AS u, {'a': 1}.a AS f, [x * 2 FOR x IN [1, 2] IF x > 1] AS l`,
] as const

describe('answers', () => {
  test.each(QUESTIONS)('as DuckDB answers: %s', async (sql) => {
    const expected = (await duck.runAndReadAll(sql)).getRowsJS()
    expect(expected.length).toBeGreaterThan(0)
    const answered = (await rowsOf(sql)).map((row) => Object.values(row))
    const normal = (rows: unknown[][]) =>
      rows.map((row) =>
        row.map((one) =>
          typeof one === 'object' && one !== null && !(one instanceof Date) ? 'nested' : plain(one),
        ),
      )
    const ours = normal(answered)
    const theirs = normal(expected)
    // Nested values are text here.
    for (const [index, row] of theirs.entries())
      expect(ours[index]!.map((one, at) => (row[at] === 'nested' ? 'nested' : one))).toEqual(row)
    expect(ours.length).toBe(theirs.length)
  })

  test('columns that differ only by case are told apart', async () => {
    expect(await rowsOf('SELECT a, "A", b FROM cased ORDER BY a DESC')).toEqual([
      { a: 2, A: 'y', b: 20 },
      { a: 1, A: 'x', b: 10 },
    ])
    expect(await rowsOf("SELECT c.*, B + 1 AS more FROM cased c WHERE A = 'x'")).toEqual([
      { a: 1, A: 'x', b: 10, more: 11 },
    ])
  })
})

test.each([
  "SELECT id FROM customer WHERE id = 2 OR name = 'Customer 7'",
  "SELECT id FROM customer WHERE id = 3 OR name = 'Customer 8'",
  "SELECT id FROM customer WHERE name = 'parquetry h0' OR id IN (1, 9223372036854775807, 2147480000, 4294967296, -1)",
  "SELECT id, 'parquetry h1' AS t FROM customer WHERE id BETWEEN 1 AND 3 AND name <> 'it''s'",
  'SELECT id FROM customer WHERE balance > 1.5 AND balance < 5e2 AND id < 50',
  'SELECT nation, count(*) AS c FROM customer GROUP BY 1 HAVING count(*) > 20 AND nation > 1 ORDER BY 1',
  "SELECT id FROM customer WHERE name <> 'ö' AND id IN (2147480001, 4) OR name = 'Customer 9'",
  "SELECT id FROM (SELECT id, {'a': id} AS s FROM customer) WHERE (s).a = 5 OR s['a'] = 6",
  'SELECT id + 2 AS x FROM customer QUALIFY row_number() OVER (ORDER BY id DESC) = 1',
  "SELECT id FROM orders WHERE day > '1995-02-01' AND day <= DATE '1995-02-03' AND id < 100",
])('constants of conditions stay what they are: %s', async (text) => {
  const expected = (await duck.runAndReadAll(text)).getRowObjectsJS()
  const sorted = (rows: readonly unknown[]) =>
    rows.map((row) => JSON.stringify(row, (_, v) => plain(v))).sort()
  expect(sorted(await rowsOf(text))).toEqual(sorted(expected))
})

describe('known faults of DuckDB', () => {
  test('IS DISTINCT FROM below OR keeps row groups of nulls', async () => {
    for (const condition of [
      'x IS DISTINCT FROM 5 OR x = 6',
      'NOT (x IS NOT DISTINCT FROM 5) OR x = 6',
      'NOT (x IS NOT DISTINCT FROM 5 AND x <> 6)',
    ])
      expect(await rowsOf(`SELECT count(*) AS n FROM sparse WHERE ${condition}`), condition).toEqual([
        { n: 8192 },
      ])
  })

  test('the first rows by a narrower integer are right', async () => {
    for (const sql of [
      'SELECT y::INTEGER AS d FROM sparse ORDER BY d DESC LIMIT 1',
      'SELECT d FROM (SELECT y::SMALLINT AS d FROM sparse) ORDER BY d DESC LIMIT 1',
      'SELECT try_cast(y AS INTEGER) AS d FROM sparse ORDER BY d DESC LIMIT 1',
    ])
      expect(await rowsOf(sql), sql).toEqual([{ d: 24573 }])
  })
})

describe('what goes wrong', () => {
  test('a process that ends takes one statement with it, and another takes its place', async () => {
    using query = await engine.sql('SELECT i, sum(i) OVER (ORDER BY i) AS s FROM range(30000000) t(i)')
    const stream = query.bytes('csv')
    const pid = await expect.poll(childOf, { timeout: 20_000 }).toBeGreaterThan(0).then(childOf)
    process.kill(pid, 'SIGKILL')
    const failed = (async () => {
      for await (const _ of await stream);
    })()
    await expect(failed).rejects.toMatchObject({ code: 'overloaded' })
    expect(await rowsOf('SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test.each([
    [
      'WITH a AS (SELECT "/tm q, su/x.parquet") SELECT * FROM a',
      'Referenced column "/tm q, su/x.parquet" was not found',
    ],
    ["SELECT CAST('x.parquet' AS INTEGER)", "Could not convert string 'x.parquet'"],
    ["SELECT strptime('x.parquet', '%Y')", 'x.parquet'],
  ])('a message about the text of a user names no file of ours: %s', async (sql, message) => {
    await expect(rowsOf(sql)).rejects.toMatchObject({
      code: 'invalid_sql',
      message: expect.stringContaining(message),
    })
  })

  test('an expression that is too deep is refused in one sentence', async () => {
    await expect(rowsOf(`SELECT ${Array(2_000).fill('1').join('+')}`)).rejects.toMatchObject({
      code: 'invalid_sql',
      message: expect.stringMatching(/depth limit of 1000 exceeded\.$/),
    })
  })

  const RUNS = Number(process.env['PARQUETRY_MUTATIONS'] ?? 150)
  test(`${RUNS} mutated statements are answered or refused`, { timeout: 60_000 + RUNS * 200 }, async () => {
    const seeds = [...QUESTIONS, ...attacks('/tmp/x.parquet', '/tmp')]
    const edit = fc.tuple(
      fc.constantFrom(...seeds),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom(...seeds), fc.nat(20)), { maxLength: 3 }),
    )
    await fc.assert(
      fc.asyncProperty(edit, async ([seed, edits]) => {
        const text = edits.reduce((sql, [at, other, length]) => {
          const place = at % (sql.length + 1)
          return (
            sql.slice(0, place) +
            other.slice(at % (other.length + 1)).slice(0, length) +
            sql.slice(place + (at % 7))
          )
        }, seed as string)
        try {
          using query = await engine.sql(text, undefined, { top: 5, signal: AbortSignal.timeout(20_000) })
          for await (const _ of query.rows({ signal: AbortSignal.timeout(20_000) }));
        } catch (error) {
          expect(error, text).toBeInstanceOf(EngineError)
          const { code } = error as EngineError
          expect(code, `${text}: ${(error as Error).message}`).toMatch(
            /^(invalid_sql|sql_not_allowed|unknown_table|not_found|version_gone|overloaded|cancelled|invalid_option|not_representable)$/,
          )
        }
      }),
      { numRuns: RUNS },
    )
  })
})

/** The process that runs a statement; 0 if there is none. */
async function childOf(): Promise<number> {
  const { execFileSync } = await import('node:child_process')
  const lines = execFileSync('ps', ['-eo', 'pid,ppid,args'], { encoding: 'utf8' }).split('\n')
  const found = lines.find(
    (line) => line.includes('sql/process/main') && line.trim().split(/\s+/)[1] === String(process.pid),
  )
  return Number(found?.trim().split(/\s+/)[0] ?? 0)
}
