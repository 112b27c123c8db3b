import { cancelled } from '../errors.ts'
import { lockDown, openSettings } from '../instance.ts'
import type { DuckRunner, RunnerOptions } from '../runner.ts'
import { loadDuckDb } from './ffi.ts'
import { NativeCursor } from './native-cursor.ts'

/** Opens a DuckDB through its C API. @throws EngineError `internal` if the library can't be loaded */
export async function openNativeRunner(options: RunnerOptions): Promise<DuckRunner> {
  const duckdb = loadDuckDb()
  const database = duckdb.open(openSettings(options))
  let readsHttp: boolean
  try {
    const connection = duckdb.connect(database)
    try {
      readsHttp = await lockDown(options, (sql) => duckdb.run(connection, sql))
    } finally {
      await duckdb.disconnect(connection)
    }
  } catch (error) {
    duckdb.close(database)
    throw error
  }
  const cursors = new Set<NativeCursor>()
  let closed = false
  let started = 0
  return {
    readsHttp,
    get started() {
      return started
    },
    get open() {
      return cursors.size
    },
    async start(statement, startOptions) {
      if (closed) throw cancelled(undefined)
      const cursor = new NativeCursor(duckdb, database, statement, (self) => cursors.delete(self))
      cursors.add(cursor)
      started++
      await cursor.start(startOptions)
      return cursor
    },
    async close() {
      if (closed) return
      closed = true
      await Promise.all([...cursors].map((cursor) => cursor.close()))
      duckdb.close(database)
    },
  }
}
