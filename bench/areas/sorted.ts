import { join } from 'node:path'
import { type Dataset, openEngine, type QueryOptions } from '../../engine/index.ts'
import { rowsStatement } from '../../engine/plan/statements.ts'
import { type BenchOptions, type Case, cpuTime, median } from '../case.ts'
import { writeLineitem } from '../peers/lineitem.ts'
import { openScratch } from '../scratch.ts'

const WINDOWS: Readonly<Record<string, QueryOptions>> = {
  'first ten by an unsorted number': { orderBy: 'l_extendedprice desc', top: 10 },
  'first ten by a text': { orderBy: 'l_comment', top: 10 },
  'first ten of a filter': { filter: 'l_quantity gt 40', orderBy: 'l_extendedprice desc', top: 10 },
  'first hundred': { orderBy: 'l_extendedprice desc', top: 100 },
  'first 250': { orderBy: 'l_extendedprice desc', top: 250 },
  'last ten': { orderBy: 'l_extendedprice desc', last: 10 },
}

/** CPU time of some rows of a sorted table, compared with that of one statement in DuckDB over the same parts. */
export async function* measure({ quick }: BenchOptions): AsyncGenerator<Case> {
  using scratch = await openScratch()
  const rows = quick ? 600_000 : 6_000_000
  const file = join(scratch.folder, 'lineitem.parquet')
  await writeLineitem(file, rows)
  await using engine = await openEngine({ directory: join(scratch.folder, 'data') })
  const repository = await engine.createRepository({ name: 'bench' })
  const { id } = await engine.createDataset({ repositoryId: repository.id, name: 'lineitem' })
  const dataset = await engine.dataset(id)
  await dataset.replace({ body: { file }, format: 'parquet' })
  await engine.settled()
  await scratch.connection.run('SET parquet_metadata_cache = true')
  for (const [name, options] of Object.entries(WINDOWS)) {
    const sql = await oneStatement(dataset, options, rows)
    const ours = async () => {
      using query = await dataset.query(options)
      for await (const _ of await query.bytes('json'));
    }
    const theirs = () => scratch.connection.runAndReadAll(sql.sql, [...sql.parameters])
    const figures = { ours: [] as number[], theirs: [] as number[] }
    for (let run = 0; run < (quick ? 3 : 9); run++) {
      figures.ours.push(await cpuTime(ours))
      figures.theirs.push(await cpuTime(theirs))
    }
    const [value, rivalValue] = [median(figures.ours.slice(1)), median(figures.theirs.slice(1))]
    yield {
      name: `sorted: ${name}`,
      value,
      unit: 'ms CPU',
      rival: 'DuckDB in one statement',
      rivalValue,
      ratio: value / rivalValue,
    }
  }
}

async function oneStatement(dataset: Dataset, options: QueryOptions, rows: number) {
  using query = await dataset.query(options)
  return rowsStatement(query.plan, rows)
}
