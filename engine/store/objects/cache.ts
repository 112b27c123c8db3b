import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Shared } from '../../util/shared.ts'
import { isStorageFull, storageFull } from '../../util/storage-full.ts'
import { type Download, download } from './download.ts'
import type { CacheStats } from './part-store.ts'

/** An object as a cache knows it. Its name says its content: another content has another name. */
export interface Cacheable {
  readonly name: string
  readonly bytes: number
  /** As `hashFile` gives it; null where nobody knows. */
  readonly hash: string | null
}

interface Entry {
  readonly name: string
  /** On disk. */
  bytes: number
  /** Who reads it, or waits for it. */
  pins: number
}

/** What a file is called that is not whole yet. */
const UNFINISHED = '.new'

/**
 * Files of a folder that stand for objects of a store: the ones used last, up to so many bytes. A file is whole and
 * checked before it has its name, and stays while somebody has it pinned, if need be beyond the bound. The folder may be
 * emptied at any time by anybody: what is missing is fetched again.
 */
export class ObjectCache {
  readonly #folder: string
  readonly #maxBytes: number
  readonly #get: Download['get']
  readonly #fetching = new Shared<void>()
  /** Those that were used last come last. */
  readonly #entries = new Map<string, Entry>()
  #bytes = 0
  /** Bytes that are being fetched. */
  #coming = 0
  #hits = 0
  #misses = 0
  #fetchedBytes = 0

  /**
   * Knows again what an earlier process has left in the folder.
   * @param get bytes `from` (inclusive) to `to` (exclusive) of an object
   */
  constructor(folder: string, maxBytes: number, get: Download['get']) {
    this.#folder = folder
    this.#maxBytes = maxBytes
    this.#get = get
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const { name, bytes } of filesByUse(folder)) {
      if (name.endsWith(UNFINISHED)) rmSync(join(folder, name), { force: true })
      else this.#enter({ name, bytes })
    }
    this.#trim()
  }

  get stats(): CacheStats {
    const [hits, misses, fetchedBytes] = [this.#hits, this.#misses, this.#fetchedBytes]
    return { hits, misses, fetchedBytes, bytes: this.#bytes, maxBytes: this.#maxBytes }
  }

  file(name: string): string {
    return join(this.#folder, name)
  }

  /** Whether all of an object is here. */
  has({ name, bytes }: Cacheable): boolean {
    const size = statSync(this.file(name), { throwIfNoEntry: false })?.size
    if (size === bytes) return true
    // Nobody but us writes here, so another size is half a file that a crash of the machine has left.
    this.#remove(name)
    return false
  }

  /**
   * Fetches what is not here. Until it is disposed, all of these files stay.
   * @throws what `get` throws; WrongBytes; EngineError `storage_full`
   */
  async pin(objects: readonly Cacheable[], signal?: AbortSignal): Promise<Disposable> {
    const pinned = objects.map((object) => this.#pin(object))
    const pin = { [Symbol.dispose]: () => this.#release(pinned.splice(0)) }
    try {
      const missing = objects.filter((object) => !this.has(object))
      this.#hits += objects.length - missing.length
      this.#misses += missing.length
      await Promise.all(missing.map((object) => this.#fetch(object, signal)))
      return pin
    } catch (error) {
      pin[Symbol.dispose]()
      throw error
    }
  }

  /** Takes a file over that was written here, so that it needs no fetching. */
  async adopt(object: Cacheable, file: string): Promise<void> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    await rename(file, this.file(object.name))
    this.#enter(object)
    this.#trim()
  }

  /** Forgets an object that is gone or damaged. Who reads its file goes on. */
  drop(name: string): void {
    this.#remove(name)
  }

  /** Once for all who ask for the same; given up when none of them waits any more. */
  #fetch(object: Cacheable, signal: AbortSignal | undefined): Promise<void> {
    const work = async (signal: AbortSignal) => {
      const { name, bytes } = object
      const to = this.file(name)
      const get: Download['get'] = async (...range) => {
        const data = await this.#get(...range)
        this.#fetchedBytes += data.byteLength
        return data
      }
      const fetch = () =>
        download({ ...object, to, unfinished: `${to}.${randomUUID()}${UNFINISHED}`, get, signal })
      this.#coming += bytes
      try {
        this.#trim()
        await fetch().catch((error: unknown) => {
          if (!isStorageFull(error)) throw error
          // Others have taken the room that the bound counts on.
          this.#trim(0)
          return fetch()
        })
      } catch (error) {
        throw storageFull(error)
      } finally {
        this.#coming -= bytes
      }
      this.#enter(object)
    }
    return this.#fetching.run(object.name, work, signal)
  }

  #pin({ name }: Cacheable): Entry {
    const entry = this.#entry(name)
    // What was used last goes last.
    this.#entries.delete(name)
    this.#entries.set(name, entry)
    entry.pins += 1
    return entry
  }

  #release(entries: readonly Entry[]): void {
    for (const entry of entries) {
      entry.pins -= 1
      if (entry.pins === 0 && entry.bytes === 0) this.#entries.delete(entry.name)
    }
    this.#trim()
  }

  /** Counts a file. */
  #enter({ name, bytes }: Omit<Cacheable, 'hash'>): void {
    const entry = this.#entry(name)
    this.#bytes += bytes - entry.bytes
    entry.bytes = bytes
  }

  #entry(name: string): Entry {
    let entry = this.#entries.get(name)
    if (!entry) {
      entry = { name, bytes: 0, pins: 0 }
      this.#entries.set(name, entry)
    }
    return entry
  }

  #remove(name: string): void {
    try {
      rmSync(this.file(name), { force: true })
    } catch {
      // It only takes room, and is known again after the next start.
    }
    const entry = this.#entries.get(name)
    if (!entry) return
    this.#bytes -= entry.bytes
    entry.bytes = 0
    if (entry.pins === 0) this.#entries.delete(name)
  }

  /** Removes what nobody has pinned, until so much is left. */
  #trim(most = this.#maxBytes): void {
    for (const [name, { pins }] of this.#entries) {
      if (this.#bytes + this.#coming <= most) return
      if (pins === 0) this.#remove(name)
    }
  }
}

/** The files of a folder, those first that were read or written longest ago. */
function filesByUse(folder: string): { name: string; bytes: number }[] {
  return readdirSync(folder)
    .flatMap((name) => {
      const found = statSync(join(folder, name), { throwIfNoEntry: false })
      if (!found?.isFile()) return []
      return [{ name, bytes: found.size, used: Math.max(found.atimeMs, found.mtimeMs) }]
    })
    .sort((a, b) => a.used - b.used)
}
