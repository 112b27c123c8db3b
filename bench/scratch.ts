import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

/** A folder for the files of a benchmark, and a DuckDB of its own, which makes them and is the rival. */
export interface Scratch extends Disposable {
  readonly folder: string
  readonly connection: DuckDBConnection
}

/** Disposing the scratch removes the folder. */
export async function openScratch(): Promise<Scratch> {
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-bench-'))
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  return {
    folder,
    connection,
    [Symbol.dispose]() {
      connection.closeSync()
      instance.closeSync()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
