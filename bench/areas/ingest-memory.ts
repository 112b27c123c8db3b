import { once } from 'node:events'
import { createWriteStream, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Ingestor } from '../../engine/ingest/ingestor.ts'

/** Ingests JSON rows and reports the most megabytes by which this process and its readers together grew. */
const [directory, rows] = process.argv.slice(2) as [string, string]
const file = join(directory, 'rows.json')
await writeRows(Number(rows))
const ingestor = new Ingestor({ tempDirectory: directory })
const take = async (from: string) => {
  const target = join(directory, 'memory.parquet')
  await ingestor.jobs.ingest({
    file: from,
    format: 'json',
    target,
    limits: { unpackedBytes: 2 ** 36 },
  })
  rmSync(target)
}
const before = process.memoryUsage.rss()
let most = 0
// The readers report their resident memory five times a second.
const timer = setInterval(() => {
  const read = ingestor.readers.reduce((sum, { memory }) => sum + memory, 0)
  most = Math.max(most, process.memoryUsage.rss() - before + read)
}, 10)
await take(file)
clearInterval(timer)
await ingestor.close()
process.send?.(Math.round(most / 1e6))

async function writeRows(count: number): Promise<void> {
  const out = createWriteStream(file)
  out.write('{"rows":[')
  for (let i = 0; i < count; i++) {
    const row = {
      id: i,
      name: `Customer number ${i}`,
      price: i * 1.01,
      day: '2026-01-31',
      note: `a longer text, no. ${i * 7919}`,
      ok: i % 2 === 0,
    }
    if (!out.write(`${i > 0 ? ',' : ''}${JSON.stringify(row)}`)) await once(out, 'drain')
  }
  out.end(']}')
  await once(out, 'finish')
}
