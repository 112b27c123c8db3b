import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from '../../catalog/database.ts'
import { FileLock } from '../../catalog/lock.ts'
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
    const lock = FileLock.acquire(lockFile(layout, name))
    if (!lock) continue
    // The lock is released even if a full disk makes this fail. Otherwise the dead process would look alive as long as
    // this one runs.
    try {
      if (database) await forgetProcess(database, name)
      rmSync(join(layout.temporary, name), { recursive: true, force: true })
    } finally {
      lock.release()
    }
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
