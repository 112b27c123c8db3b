import { join } from 'node:path'
import { Database, migrate } from '../catalog/database.ts'
import { FileLock } from '../catalog/lock.ts'
import { CATALOG_STEPS } from '../catalog/schema.ts'
import { EngineError } from '../errors.ts'
import { type Layout, layoutOf } from './layout.ts'
import { ProcessMark } from './process.ts'

/** What a process holds of a data directory while it works there: all of it, or, where that fails, nothing. */
export class Hold {
  readonly layout: Layout
  readonly database: Database
  readonly mark: ProcessMark
  /** In whose hands the directory is, if in this process's. */
  readonly serverLock: FileLock | undefined

  /** @throws EngineError `locked` when another server has the directory; `storage_full` */
  constructor(directory: string, role: 'server' | 'guest') {
    this.layout = layoutOf(directory)
    this.serverLock = role === 'server' ? lockServer(this.layout, 'it is served already') : undefined
    let database: Database | undefined
    try {
      database = new Database(this.layout.catalog)
      migrate(database.raw, 'catalog', CATALOG_STEPS)
      this.mark = new ProcessMark(this.layout)
      this.database = database
    } catch (error) {
      database?.close()
      this.serverLock?.release()
      throw error
    }
  }

  end(): void {
    try {
      this.mark.end()
    } finally {
      this.database.close()
      this.serverLock?.release()
    }
  }
}

/** @throws EngineError `locked`, saying `why` */
export function lockServer(layout: Layout, why: string): FileLock {
  const lock = FileLock.acquire(join(layout.locks, 'server.lock'))
  if (lock) return lock
  throw new EngineError(
    'locked',
    `A server holds the data directory ${layout.directory}: ${why}. Stop it first.`,
  )
}
