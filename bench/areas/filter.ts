import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { compileFilter, type SqlColumn } from '../../engine/filter/index.ts'
import { type BenchOptions, type Case, duel, median } from '../case.ts'
import { openScratch } from '../scratch.ts'

/** A typical filter: it has names, values of several kinds, a function, a list and a date. */
const TYPICAL =
  "Country eq 'AT' and Price gt 9.99 and (contains(tolower(Name), 'milk') or Rating in (4, 5)) and Day ge 2024-01-01"

const SHOP: readonly SqlColumn[] = [
  { name: 'Name', type: 'string', sql: '"c0"' },
  { name: 'Country', type: 'string', sql: '"c1"' },
  { name: 'Price', type: 'decimal(10,2)', sql: '"c2"' },
  { name: 'Rating', type: 'integer', sql: '"c3"' },
  { name: 'Day', type: 'date', sql: '"c4"' },
]

const SORTED: readonly SqlColumn[] = [
  { name: 'Id', type: 'integer', sql: '"c0"' },
  { name: 'Key', type: 'string', sql: '"c1"' },
  { name: 'Seen', type: 'timestamptz', sql: '"c2"' },
  { name: 'Rate', type: 'double', sql: '"c3"' },
]

/** The time from the text of a filter to its SQL, and how much reading that SQL spares DuckDB. */
export async function* measure({ quick }: BenchOptions): AsyncGenerator<Case> {
  yield compiling('filter: typical filter, text to SQL', TYPICAL, SHOP, quick ? 40 : 200)
  const list = Array.from({ length: 20_000 }, (_, index) => index * 7).join(',')
  yield compiling(
    'filter: list of 20,000 numbers, text to SQL',
    `Rating in (${list})`,
    SHOP,
    quick ? 3 : 10,
    1,
  )
  yield* skipping(quick)
}

function compiling(
  name: string,
  filter: string,
  columns: readonly SqlColumn[],
  batches: number,
  perBatch = 100,
): Case {
  const times: number[] = []
  for (let batch = -batches / 4; batch < batches; batch++) {
    const start = performance.now()
    for (let index = 0; index < perBatch; index++) compileFilter(filter, columns)
    // The batches below zero only warm up and aren't recorded.
    if (batch >= 0) times.push((performance.now() - start) / perBatch)
  }
  return { name, value: median(times), unit: 'ms' }
}

/**
 * The same rows by two filters: DuckDB can skip row groups with one; the other means the same but must read all rows.
 */
async function* skipping(quick: boolean): AsyncGenerator<Case> {
  using scratch = await openScratch()
  const { folder, connection } = scratch
  const rows = quick ? 3_000_000 : 20_000_000
  const file = join(folder, 'sorted.parquet')
  await connection.run("SET TimeZone = 'UTC'")
  await connection.run(`COPY (
    SELECT n AS c0, 'k' || lpad(n::VARCHAR, 9, '0') AS c1,
      TIMESTAMPTZ '2000-01-01 00:00:00+00' + to_seconds(n) AS c2, n / 7 AS c3
    FROM range(${rows}) t(n)
  ) TO '${file}' (FORMAT parquet)`)
  const last = rows - 1000
  const key = `k${String(last).padStart(9, '0')}`
  const seen = new Date(Date.UTC(2000, 0, 1) + last * 1000).toISOString()
  const pairs: readonly (readonly [name: string, sparing: string, reading: string])[] = [
    ['integer', `Id ge ${last}`, `not (Id lt ${last})`],
    ['text', `Key ge '${key}'`, `not (Key lt '${key}')`],
    ['moment', `Seen ge ${seen}`, `not (Seen lt ${seen})`],
    ['double', `Rate ge ${last / 7}`, `not (Rate lt ${last / 7})`],
  ]
  for (const [name, sparing, reading] of pairs) {
    yield await duel(
      `filter: last 1,000 of ${rows / 1e6}M sorted rows by ${name}`,
      'a filter that reads every row group',
      quick ? 5 : 11,
      () => run(connection, file, sparing),
      () => run(connection, file, reading),
    )
  }
}

async function run(connection: DuckDBConnection, file: string, filter: string): Promise<void> {
  const { sql, parameters } = compileFilter(filter, SORTED)
  const statement = await connection.prepare(`SELECT * FROM read_parquet('${file}') WHERE ${sql}`)
  parameters.forEach((text, index) => {
    statement.bindVarchar(index + 1, text)
  })
  const rows = await (await statement.run()).getRows()
  statement.destroySync()
  if (rows.length < 990) throw new Error(`${filter} gives ${rows.length} rows`)
}
