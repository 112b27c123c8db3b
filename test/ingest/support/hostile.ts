import { readFileSync } from 'node:fs'
import type { Bench } from './helper.ts'

/** 00:20:34.56789, as Parquet holds them in a value and in its statistics. */
const GOOD = Buffer.alloc(8)
GOOD.writeBigInt64LE(1_234_567_890n)
const BAD = Buffer.alloc(8)
BAD.writeBigInt64LE(2n ** 62n)

/**
 * A Parquet file whose one difference from a good one is a TIME of 2^62 microseconds, which is a segmentation fault
 * in DuckDB wherever it writes the time as text.
 */
export async function timeOutOfRange(bench: Bench, statistics: boolean): Promise<Buffer> {
  const file = bench.path()
  const time = "make_time(0, 20, 34.56789) AS t, 'a text' AS s"
  await bench.query(
    `COPY (SELECT ${time}) TO '${file}' (FORMAT parquet, CODEC 'uncompressed', DICTIONARY_SIZE_LIMIT 1)`,
  )
  const bytes = readFileSync(file)
  const found: number[] = []
  for (let at = bytes.indexOf(GOOD); at >= 0; at = bytes.indexOf(GOOD, at + 1)) found.push(at)
  if (found.length < 3) throw new Error('The file has no page and no statistics with the time.')
  // The first is the value itself.
  for (const at of statistics ? found : found.slice(0, 1)) BAD.copy(bytes, at)
  return bytes
}
