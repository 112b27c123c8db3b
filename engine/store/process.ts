import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { FileLock } from '../catalog/lock.ts'
import type { Versions } from '../catalog/versions.ts'
import type { Layout } from './layout.ts'

/** This process as others on the same data directory know it: a name, a lock that lives as long as it, a folder. */
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

/** Removes what processes have left that did not end by themselves. Gives how many there were. */
export async function forgetDeadProcesses(layout: Layout, versions: Versions): Promise<number> {
  const names = new Set([
    ...(await versions.processes()),
    ...readdirSync(layout.temporary),
    ...readdirSync(layout.locks)
      .filter((name) => name.endsWith('.lock') && name !== 'server.lock')
      .map((name) => name.slice(0, -'.lock'.length)),
  ])
  let dead = 0
  for (const name of names) {
    const lock = FileLock.acquire(lockFile(layout, name))
    if (!lock) continue
    // Kept on a full disk, it would make the dead process look alive for as long as this one lives.
    try {
      await versions.forgetProcess(name)
      rmSync(join(layout.temporary, name), { recursive: true, force: true })
    } finally {
      lock.release()
    }
    dead += 1
  }
  return dead
}

function lockFile(layout: Layout, process: string): string {
  return join(layout.locks, `${process}.lock`)
}
