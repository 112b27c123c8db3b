import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DuckDBInstance } from '@duckdb/node-api'

/** The bytes of an SQLite database that these statements make. */
export function database(sql: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-sqlite-'))
  const path = join(folder, 'a.db')
  try {
    const made = new DatabaseSync(path)
    made.exec(sql)
    made.close()
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The bytes of a DuckDB database that these statements make, which is written to `path`. */
export async function duckDatabase(path: string, sql: string): Promise<Buffer> {
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  await connection.run(`${sql}; CHECKPOINT`)
  connection.closeSync()
  instance.closeSync()
  return readFileSync(path)
}
