import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { quoteLiteral } from '../../../engine/types/sql.ts'
import { type Spread, spread } from './measure.ts'

/** How DuckDB's COPY writes our formats; the others it does not have. */
const FORMATS: Readonly<Record<string, string>> = {
  csv: 'FORMAT csv',
  tsv: "FORMAT csv, DELIMITER '\t'",
  json: 'FORMAT json, ARRAY true',
  ndjson: 'FORMAT json',
  parquet: 'FORMAT parquet',
}

/**
 * Rows per second with which DuckDB's own COPY writes a Parquet file in another format to a file; undefined for formats
 * that it doesn't write.
 */
export async function measureCopy(
  file: string,
  how: { readonly format: string; readonly seconds: number; readonly rows: number },
): Promise<Spread | undefined> {
  const options = FORMATS[how.format]
  if (options === undefined) return undefined
  const instance = await DuckDBInstance.create()
  const connection = await instance.connect()
  try {
    const target = quoteLiteral(join(file, '..', 'copy'))
    const copy = () =>
      connection.run(`COPY (FROM read_parquet(${quoteLiteral(file)})) TO ${target} (${options})`)
    await copy()
    const rates: number[] = []
    const end = performance.now() + how.seconds * 1000
    while (rates.length < 3 || performance.now() < end) {
      const start = performance.now()
      await copy()
      rates.push((how.rows * 1000) / (performance.now() - start))
    }
    return spread(rates)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}
