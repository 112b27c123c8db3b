import { join } from 'node:path'
import { Duck } from '../../engine/duckdb/duck.ts'
import { openEngine } from '../../engine/index.ts'
import { profileParts } from '../../engine/ingest/profile.ts'
import { readParts } from '../../engine/parquet/read-parts.ts'
import { type BenchOptions, type Case, cpuTime, median } from '../case.ts'
import { writeLineitem } from '../peers/lineitem.ts'
import { openScratch } from '../scratch.ts'

/** CPU time of a profile of sixteen columns, compared with that of DuckDB's SUMMARIZE over the same parts. */
export async function* measure({ quick }: BenchOptions): AsyncGenerator<Case> {
  using scratch = await openScratch()
  const file = join(scratch.folder, 'lineitem.parquet')
  await writeLineitem(file, quick ? 600_000 : 6_000_000)
  await using engine = await openEngine({ directory: join(scratch.folder, 'data') })
  const repository = await engine.createRepository({ name: 'bench' })
  const { id } = await engine.createDataset({ repositoryId: repository.id, name: 'lineitem' })
  const dataset = await engine.dataset(id)
  const { columns } = await dataset.replace({ body: { file }, format: 'parquet' })
  await engine.settled()
  using snapshot = await dataset.snapshot()
  const { scan } = snapshot.plan
  if (scan.kind !== 'slices') throw new Error('The table has no parts.')
  const parts = scan.slices.map((slice) => slice.file)
  const duck = await Duck.open({ tempDirectory: scratch.folder })
  const ours = () => profileParts(duck, { parts, columns }, {})
  const theirs = () => scratch.connection.runAndReadAll(`SUMMARIZE FROM ${readParts(parts)}`)
  const figures = { ours: [] as number[], theirs: [] as number[] }
  for (let run = 0; run < (quick ? 3 : 5); run++) {
    figures.ours.push(await cpuTime(ours))
    figures.theirs.push(await cpuTime(theirs))
  }
  await duck.close()
  const [value, rivalValue] = [median(figures.ours.slice(1)), median(figures.theirs.slice(1))]
  yield {
    name: 'profile of sixteen columns',
    value,
    unit: 'ms CPU',
    rival: 'DuckDB SUMMARIZE',
    rivalValue,
    ratio: value / rivalValue,
    most: 2.5,
  }
}
