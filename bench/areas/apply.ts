import { join } from 'node:path'
import { openFiles } from '../../engine/index.ts'
import { rowsStatement } from '../../engine/plan/statements.ts'
import { type BenchOptions, type Case, duel } from '../case.ts'
import { openScratch } from '../scratch.ts'

const APPLY = 'groupby((City,Product),aggregate(Amount with sum as Total))'

/**
 * Grouping and summing, from the pipeline to csv, compared with DuckDB running the same SQL and with a program as one
 * would write it by hand.
 */
export async function* measure({ quick }: BenchOptions): AsyncGenerator<Case> {
  using scratch = await openScratch()
  const { folder, connection } = scratch
  const rows = quick ? 1_000_000 : 6_000_000
  const file = join(folder, 'sales.parquet')
  await connection.run(`COPY (
    SELECT 'city ' || (n * 7919 % 200) AS "City", 'product ' || (n * 31 % 50) AS "Product",
      CAST(n % 100000 / 100 AS DECIMAL(10,2)) AS "Amount"
    FROM range(${rows}) t(n)
  ) TO '${file}' (FORMAT parquet)`)
  await using files = await openFiles(file)
  using query = files.query({ apply: APPLY })
  const { sql } = rowsStatement(query.plan, undefined)
  const ours = async () => {
    let bytes = 0
    for await (const chunk of await query.bytes('csv')) bytes += chunk.byteLength
    if (bytes < 1000) throw new Error(`only ${bytes} bytes came`)
  }
  const theirs = async (text: string) => {
    const groups = await (await connection.run(text)).getRows()
    if (groups.length < 100) throw new Error(`only ${groups.length} groups came`)
  }
  const name = `apply: two keys and a sum over ${rows / 1e6}M rows`
  const runs = quick ? 5 : 11
  yield await duel(name, 'DuckDB, the same SQL', runs, ours, () => theirs(sql))
  const byHand = `SELECT "City", "Product", sum("Amount") FROM read_parquet('${file}') GROUP BY ALL`
  yield await duel(`${name}, groups in order`, 'DuckDB, groups in any order', runs, ours, () =>
    theirs(byHand),
  )
}
