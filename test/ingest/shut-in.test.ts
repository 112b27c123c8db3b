import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Ingestor } from '../../engine/ingest/index.ts'
import { Readers } from '../../engine/ingest/process/reader-processes.ts'
import { useBench } from './support/helper.ts'

const bench = useBench()
const limits = { unpackedBytes: 1 << 30 }

async function part(): Promise<string> {
  const target = bench.path('.parquet')
  const file = bench.file('a\n1\n2\n')
  await bench.ingestor.ingest({ format: 'csv', file, target, limits })
  return target
}

test('a reader opens no file outside of its folders', async () => {
  const inside = await part()
  const temporary = mkdtempSync(join(tmpdir(), 'parquetry-shut-in-'))
  const readers = new Readers({ tempDirectory: temporary })
  try {
    using lent = readers.lend()
    await expect(lent.process.run('verify', { part: inside }, {})).rejects.toThrow(
      /disabled by configuration/,
    )
    using other = readers.lend([inside])
    await expect(other.process.run('verify', { part: inside }, {})).resolves.toMatchObject({ rows: 2 })
  } finally {
    await readers.close()
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
    const read = await ingestor.ingest({ format: 'parquet', file: link, target, limits })
    expect(read.rows).toBe(2)
    await expect(ingestor.verify(target)).resolves.toMatchObject({ rows: 2 })
  } finally {
    await ingestor.close()
  }
})
