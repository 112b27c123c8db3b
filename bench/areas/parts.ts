import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Dataset, type Engine, openEngine } from '../../engine/index.ts'
import { type BenchOptions, type Case, cpuTime, median } from '../case.ts'

/** The cost of a small read as the number of parts of a table grows, with and without statistics of the parts. */
export async function* measure({ quick }: BenchOptions): AsyncGenerator<Case> {
  const rows = quick ? 100_000 : 1_000_000
  for (const parts of quick ? [1, 10, 100] : [1, 10, 100, 1_000]) {
    const directory = mkdtempSync(join(tmpdir(), 'parquetry-bench-parts-'))
    try {
      await fill(directory, rows, parts)
      await using engine = await open(directory, parts, rows)
      const [known, unknown] = [await engine.dataset(1), await engine.dataset(2)]
      const reads = quick ? 10 : 30
      await cpu(known, rows, reads)
      await cpu(unknown, rows, reads)
      const mine: number[] = []
      const other: number[] = []
      for (let run = 0; run < 5; run++) {
        mine.push(await cpu(known, rows, reads))
        other.push(await cpu(unknown, rows, reads))
      }
      yield {
        name: `parts: 5 rows and their count out of ${parts} ${parts === 1 ? 'part' : 'parts'}`,
        value: median(mine),
        unit: 'ms CPU',
        rival: 'without statistics',
        rivalValue: median(other),
        ratio: median(mine) / median(other),
      }
    } finally {
      rmSync(directory, { recursive: true })
    }
  }
}

function open(directory: string, parts: number, rows: number): Promise<Engine> {
  return openEngine({
    directory,
    role: 'server',
    checks: { bytesPerSecond: 0 },
    partSizes: { rows: Math.ceil(rows / parts) },
  })
}

/** Two datasets with the same rows; the parts of the second have no statistics. */
async function fill(directory: string, rows: number, parts: number): Promise<void> {
  await using engine = await open(directory, parts, rows)
  const { id: repositoryId } = await engine.createRepository({ name: 'r' })
  for (const name of ['known', 'unknown']) {
    const { id } = await engine.createDataset({ repositoryId, name })
    await (await engine.dataset(id)).replace({ format: 'csv', body: lines(rows) })
  }
  await engine.settled()
  await engine.database.run(
    `UPDATE parts SET statistics = NULL WHERE id IN
     (SELECT part_id FROM version_parts vp JOIN datasets d ON d.version_id = vp.version_id WHERE d.id = 2)`,
  )
}

async function* lines(rows: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from('id,key,price,day,note\n')
  for (let from = 0; from < rows; from += 10_000) {
    let text = ''
    for (let n = from; n < Math.min(rows, from + 10_000); n++) {
      const day = new Date(n * 60_000).toISOString().slice(0, 10)
      text += `${n},k${(n * 7_919) % 10_007},${(n % 9_973) / 100},${day},note of row ${n}\n`
    }
    yield Buffer.from(text)
  }
}

let asked = 0

/** CPU milliseconds of a read, where each read asks for another value. */
async function cpu(dataset: Dataset, rows: number, reads: number): Promise<number> {
  const all = await cpuTime(async () => {
    for (let read = 0; read < reads; read++) {
      const from = (++asked * 7_919) % (rows - 100)
      using query = await dataset.query({ filter: `id ge ${from} and id lt ${from + 50}`, top: 5 })
      if ((await query.count()) !== 50) throw new Error('the count is wrong')
      for await (const _ of query.rows());
    }
  })
  return all / reads
}
