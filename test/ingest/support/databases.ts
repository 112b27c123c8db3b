import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** The bytes of a database that these statements make. */
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
