import { statSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import { type HashOptions, hashFile } from './hash.ts'

/** The most files that are remembered. More take no more memory; they are only read again. */
const MOST = 100_000

interface Known {
  readonly hash: string
  /** Of the file when it was read. */
  readonly stamp: string
}

/** The hashes of files that this process has read, as long as their size and the time of their last change stay. */
export class FileHashes {
  // With `max` it would make room for all of them at once, which takes ten milliseconds of each start.
  readonly #known = new LRUCache<string, Known>({ maxSize: MOST, sizeCalculation: () => 1 })

  /** Reads a file and gives the hash of its bytes. */
  async read(file: string, options?: HashOptions): Promise<string> {
    const stamp = stampOf(file)
    const hash = await hashFile(file, options)
    if (stamp !== undefined) this.#known.set(file, { hash, stamp })
    return hash
  }

  /** The hash of a file, undefined if it was not read or has changed since. */
  known(file: string): string | undefined {
    const known = this.#known.get(file)
    return known && known.stamp === stampOf(file) ? known.hash : undefined
  }

  /** Remembers the hash of a file whose bytes were read under another name. */
  remember(file: string, hash: string): void {
    const stamp = stampOf(file)
    if (stamp !== undefined) this.#known.set(file, { hash, stamp })
  }
}

function stampOf(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat && `${stat.ino} ${stat.size} ${stat.mtimeMs}`
}
