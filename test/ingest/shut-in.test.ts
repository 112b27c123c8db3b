import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Ingestor } from '../../engine/ingest/ingestor.ts'
import { ReaderPool } from '../../engine/ingest/process/reader-pool.ts'
import { useBench } from './support/helper.ts'

const bench = useBench()
const limits = { unpackedBytes: 1 << 30 }

async function part(): Promise<string> {
  const target = bench.path('.parquet')
  const file = bench.file('a\n1\n2\n')
  await bench.ingestor.jobs.ingest({ format: 'csv', file, target, limits })
  return target
}

test('a reader opens no file outside of its folders', async () => {
  const inside = await part()
  const temporary = mkdtempSync(join(tmpdir(), 'parquetry-shut-in-'))
  const pool = new ReaderPool({ tempDirectory: temporary })
  try {
    using lent = pool.lend()
    await expect(lent.process.run('verify', { part: inside }, {})).rejects.toThrow(
      /disabled by configuration/,
    )
    using other = pool.lend(inside)
    await expect(other.process.run('verify', { part: inside }, {})).resolves.toMatchObject({ rows: 2 })
  } finally {
    await pool.close()
  }
})

test('a file anywhere is read, also by a link, after a reader was started that knew nothing of its folder', async () => {
  const temporary = join(bench.folder, 'apart')
  mkdirSync(temporary)
  const ingestor = new Ingestor({ tempDirectory: temporary })
  try {
    ingestor.warm()
    const link = bench.path()
    symlinkSync(await part(), link)
    const target = bench.path('.parquet')
    const read = await ingestor.jobs.ingest({ format: 'parquet', file: link, target, limits })
    expect(read.rows).toBe(2)
    await expect(ingestor.jobs.verify({ part: target })).resolves.toMatchObject({ rows: 2 })
  } finally {
    await ingestor.close()
  }
})
