import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Database } from '../../catalog/database.ts'
import { databaseError } from '../../catalog/failures.ts'
import { EngineError } from '../../errors.ts'
import type { Layout } from '../layout.ts'

/** Marks this process for others on the same data directory: a name, a lock held as long as it runs, and a folder. */
export class ProcessMark {
  readonly id = randomUUID()
  readonly temporary: string
  readonly #lock: FileLock

  constructor(layout: Layout) {
    const lock = FileLock.acquire(lockFile(layout, this.id))
    if (!lock) throw new Error('a lock with a random name is taken')
    this.#lock = lock
    this.temporary = join(layout.temporary, this.id)
    try {
      mkdirSync(this.temporary, { mode: 0o700 })
    } catch (error) {
      lock.release()
      throw error
    }
  }

  end(): void {
    try {
      rmSync(this.temporary, { recursive: true, force: true })
    } finally {
      this.#lock.release()
    }
  }
}

/**
 * Removes what processes on this directory that crashed or were killed have left behind. Gives the number of those
 * processes.
 * @param database forgets them, too; left out where the catalog also knows processes of other directories
 */
export async function removeDeadMarks(layout: Layout, database?: Database): Promise<number> {
  const known = await database?.all<{ process: string }>(
    'SELECT process FROM leases UNION SELECT process FROM parts WHERE process IS NOT NULL',
  )
  const names = new Set([
    ...(known ?? []).map(({ process }) => process),
    ...readdirSync(layout.temporary),
    ...readdirSync(layout.locks)
      .filter((name) => name.endsWith('.lock') && name !== 'server.lock')
      .map((name) => name.slice(0, -'.lock'.length)),
  ])
  let dead = 0
  for (const name of names) {
    // Released even if a full disk makes this fail. Otherwise the dead process would look alive as long as this one runs.
    using lock = FileLock.acquire(lockFile(layout, name))
    if (!lock) continue
    if (database) await forgetProcess(database, name)
    rmSync(join(layout.temporary, name), { recursive: true, force: true })
    dead += 1
  }
  return dead
}

/** Forgets what a process that ended has left behind: its leases, and the parts that it never committed. */
export async function forgetProcess(database: Database, process: string): Promise<void> {
  await database.run('DELETE FROM leases WHERE process = ?', process)
  await database.run('DELETE FROM parts WHERE process = ?', process)
}

function lockFile(layout: Layout, process: string): string {
  return join(layout.locks, `${process}.lock`)
}

/**
 * A lock that ends with its process, however the process ends: an SQLite file with an open exclusive transaction, so
 * that the operating system releases it. It does not use process ids, because they are reused and differ between
 * containers.
 */
export class FileLock implements Disposable {
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

  /** Never throws: the lock is free even where its file can't be removed, and a fault met before it is the one to tell. */
  [Symbol.dispose](): void {
    try {
      this.release()
    } catch {}
  }
}
