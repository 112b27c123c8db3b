import { join } from 'node:path'
import { Database } from '../catalog/database.ts'
import { FileLock } from '../catalog/lock.ts'
import { migrate } from '../catalog/migrate.ts'
import { CATALOG_STEPS } from '../catalog/schema.ts'
import { EngineError } from '../errors.ts'
import type { Events } from '../events.ts'
import { type Layout, layoutOf } from './layout.ts'
import { catalogLost, isCatalogLost, partFiles, setAllAside } from './lost.ts'
import { ProcessMark } from './process.ts'

export interface HoldOptions {
  readonly directory: string
  readonly role: 'server' | 'guest'
  /** Begin anew where the catalog is lost or damaged; see `EngineOptions`. */
  readonly anew?: boolean
  readonly events: Events
}

/** What a process holds of a data directory while it works there: all of it, or, where that fails, nothing. */
export class Hold {
  readonly layout: Layout
  readonly database: Database
  readonly mark: ProcessMark
  /** In whose hands the directory is, if in this process's. */
  readonly serverLock: FileLock | undefined

  /**
   * @throws EngineError `locked` when another server has the directory; `storage_full`; `storage_damaged` when its
   * catalog is lost or damaged
   */
  constructor(options: HoldOptions) {
    this.layout = layoutOf(options.directory)
    this.serverLock = options.role === 'server' ? lockServer(this.layout, 'it is served already') : undefined
    let database: Database | undefined
    try {
      database = options.anew
        ? openAnew(this.layout, options.events)
        : openCatalog(this.layout, options.events)
      migrate(database, 'catalog', CATALOG_STEPS)
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

/** @throws EngineError `storage_damaged` where it is lost or damaged, so that nothing is taken for a leftover */
function openCatalog(layout: Layout, events: Events): Database {
  if (isCatalogLost(layout)) throw catalogLost(layout)
  let database: Database | undefined
  try {
    database = new Database(layout.catalog, (cause) =>
      events.tell(
        'writes_stopped',
        'A commit failed so that its outcome is unknown. Nothing more is written by this process; start it again.',
        { cause },
      ),
    )
    const known = database.get("SELECT 1 FROM sqlite_schema WHERE name = 'parts'")
    const started = database.get("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'")
    if (!known && !started && partFiles(layout).length > 0) throw catalogLost(layout)
    return database
  } catch (error) {
    database?.close()
    if (!(error instanceof EngineError && error.code === 'storage_damaged' && error.cause)) throw error
    throw new EngineError(
      'storage_damaged',
      `The catalog ${layout.catalog} is damaged (${(error.cause as Error).message}). Restore the data directory from ` +
        'a backup, or start with --new to begin anew; the files are then set aside.',
      { cause: error },
    )
  }
}

/** @throws EngineError `invalid_option` where there is a catalog that is well */
function openAnew(layout: Layout, events: Events): Database {
  let database: Database
  try {
    database = openCatalog(layout, events)
  } catch (error) {
    if (!(error instanceof EngineError && error.code === 'storage_damaged')) throw error
    const folder = setAllAside(layout)
    events.tell('files_set_aside', `The data directory begins anew; what was there lies in ${folder}.`, {
      cause: error,
    })
    return openCatalog(layout, events)
  }
  if (!database.get("SELECT 1 FROM sqlite_schema WHERE name = 'parts'")) return database
  database.close()
  throw new EngineError(
    'invalid_option',
    `The catalog of ${layout.directory} is well, so there is nothing to begin anew: leave --new out, or name another directory.`,
  )
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
