import { rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { EngineError } from '../errors.ts'
import { databaseError } from './failures.ts'

/**
 * A lock that dies with its process, whatever ends it: an SQLite file with an open exclusive transaction, so the
 * operating system releases it. No process ids, which are reused and differ between containers.
 */
export class FileLock {
  readonly #file: string
  readonly #database: DatabaseSync

  private constructor(file: string, database: DatabaseSync) {
    this.#file = file
    this.#database = database
  }

  /** The lock, or undefined when somebody alive holds it. @throws EngineError `storage_full` */
  static acquire(file: string): FileLock | undefined {
    for (;;) {
      const database = new DatabaseSync(file, { timeout: 0 })
      try {
        // Nothing is ever written, so a journal on disk would only need room that a full disk has not.
        database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
      } catch (error) {
        database.close()
        const known = databaseError(error)
        if (known instanceof EngineError && known.code === 'locked') return undefined
        throw known
      }
      // Between opening and locking, its last owner may have removed the file: then this lock guards nothing.
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
