import { join } from 'node:path'
import { type Engine, openEngine } from '../../engine/index.ts'
import { rowsStatement } from '../../engine/plan/statements.ts'
import { quoteIdentifier } from '../../engine/types/index.ts'
import { isInstalled, openTpc, type Tpc } from '../../test/sql/tpc.ts'
import { type BenchOptions, type Case, duel } from '../case.ts'
import { openScratch } from '../scratch.ts'

/** The questions of TPC-H in SQL, beside the DuckDB of this process over the same parts with as many threads. */
export async function* measure({ quick }: BenchOptions): AsyncGenerator<Case> {
  if (!isInstalled('tpch')) return
  using scratch = await openScratch()
  await using engine = await openEngine({ directory: join(scratch.folder, 'data') })
  using tpc = await openTpc('tpch', quick ? 0.1 : 1, engine)
  await engine.settled()
  await useParts(tpc, engine)
  const ratios: number[] = []
  for (const [number, sql] of tpc.questions) {
    const one = await duel(
      `sql: question ${number} of TPC-H`,
      'DuckDB on the same parts',
      quick ? 3 : 5,
      async () => {
        using query = await engine.sql(sql)
        for await (const _ of await query.bytes('arrow'));
      },
      () => tpc.duck.run(sql),
    )
    ratios.push(one.ratio!)
    yield one
  }
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length)
  yield { name: 'sql: geometric mean of the ratios', value: mean, unit: '' }
}

/** Puts views of the engine's parts in the place of the tables that were generated. */
async function useParts({ duck }: Tpc, engine: Engine): Promise<void> {
  for (const { id, name, columns } of await engine.datasets()) {
    using query = await (await engine.dataset(id)).query()
    const { sql } = rowsStatement(query.plan, undefined)
    const names = columns.map((column) => quoteIdentifier(column.name)).join(', ')
    await duck.run(`DROP TABLE ${quoteIdentifier(name)}`)
    await duck.run(`CREATE VIEW ${quoteIdentifier(name)} (${names}) AS ${sql}`)
  }
  await duck.run("SET disabled_optimizers = ''")
  await duck.run('SET parquet_metadata_cache = true')
}
