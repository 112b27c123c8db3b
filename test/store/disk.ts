import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A disk of its own, as small as wanted, in memory. */
export interface Disk extends Disposable {
  readonly folder: string
  /** Fills it until so many bytes are left, whatever is on it. */
  leave(bytes: number): void
  /** Makes room again. */
  clear(): void
}

/** Makes a folder read-only until it is disposed, for what is opened from now on; undefined as below. */
export function mountReadOnly(folder: string): Disposable | undefined {
  try {
    execFileSync('mount', ['--bind', folder, folder], { stdio: 'ignore' })
    execFileSync('mount', ['-o', 'remount,bind,ro', folder], { stdio: 'ignore' })
  } catch {
    console.warn('The tests of a read-only disk are left out: no folder can be mounted here.')
    return undefined
  }
  return { [Symbol.dispose]: () => void execFileSync('umount', [folder]) }
}

/** undefined, with a warning, where this user may not mount anything. */
export function mountDisk(bytes: number): Disk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    console.warn('The tests of a full disk are left out: no tmpfs can be mounted here.')
    rmSync(folder, { recursive: true })
    return undefined
  }
  const filler = join(folder, 'filler')
  const clear = () => rmSync(filler, { force: true })
  return {
    folder,
    leave(bytes) {
      clear()
      const { bavail, bsize } = statfsSync(folder)
      try {
        writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - bytes), 1))
      } catch (error) {
        // Somebody else was quicker with what was left.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    },
    clear,
    [Symbol.dispose]() {
      execFileSync('umount', [folder])
      rmSync(folder, { recursive: true })
    },
  }
}
