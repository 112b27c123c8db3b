import { rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { EngineError } from '../errors.ts'
import { databaseError } from './failures.ts'

/**
 * A lock that ends with its process, however the process ends: an SQLite file with an open exclusive transaction, so
 * that the operating system releases it. It does not use process ids, because they are reused and differ between
 * containers.
 */
export class FileLock {
  readonly #file: string
  readonly #database: DatabaseSync

  private constructor(file: string, database: DatabaseSync) {
    this.#file = file
    this.#database = database
  }

  /** The lock, or undefined when a running process holds it. @throws EngineError `storage_full`, `storage_read_only` */
  static acquire(file: string): FileLock | undefined {
    for (;;) {
      let database: DatabaseSync | undefined
      try {
        database = new DatabaseSync(file, { timeout: 0 })
        // Nothing is ever written, so a journal on disk would be useless, and on a full disk it would make this fail.
        database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
      } catch (error) {
        database?.close()
        const known = databaseError(error)
        if (known instanceof EngineError && known.code === 'locked') return undefined
        throw known
      }
      // The last owner may have removed the file after it was opened here and before it was locked. Then nobody else
      // can find the locked file, so the lock is useless, and the loop tries again.
      if (statSync(file, { throwIfNoEntry: false })) return new FileLock(file, database)
      database.close()
    }
  }

  release(): void {
    try {
      rmSync(this.#file, { force: true })
    } finally {
      this.#database.close()
    }
  }
}
