import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { AttachedFile } from '../../catalog/records.ts'
import { machineError, storageError } from '../../errors.ts'
import { Semaphore } from '../../util/semaphore.ts'
import { SingleFlight } from '../../util/shared.ts'
import { writeAt } from '../../util/whole-file.ts'
import { FileHashes, type FileHashOptions, hashFile, hashFooter } from '../integrity/hashes.ts'

/** An object that can be cached. Objects with different content have different names. */
export interface Cacheable {
  readonly name: string
  readonly bytes: number
  /** As `hashFile` gives it; for attached objects as `hashFooter` does. */
  readonly hash: string
  /** Set for an object that others keep. */
  readonly attached?: AttachedFile | undefined
}

interface Entry {
  readonly name: string
  /** Bytes on disk; 0 while the file is not there. */
  bytes: number
  /** How many readers read it or wait for it. */
  pins: number
}

/** Fetches bytes `from` (inclusive) to `to` (exclusive) of an object. */
type Fetch = (object: Cacheable, from: number, to: number, signal: AbortSignal) => Promise<Uint8Array>

/** The ending of the name of a file that is not complete yet. */
const UNFINISHED = '.new'
const BLOCKS = '.blocks'

/** The name of a file that has some blocks of an object; the others are holes. */
export const blocksName = (object: string) => object + BLOCKS

/**
 * Keeps objects of a store as files in a folder: the most recently used ones, up to a number of bytes. A file gets its
 * name only when it is complete and checked; a file of an earlier process, or one that has changed, is checked when it
 * is next wanted, and fetched again if it is damaged. It stays while a reader has it pinned, even if the folder then
 * becomes larger than allowed. Anybody may empty the folder at any time: missing files are fetched again.
 */
export class ObjectCache {
  readonly #folder: string
  readonly #maxBytes: number
  readonly #get: Fetch
  readonly #fetching = new SingleFlight<void>()
  readonly #hashes = new FileHashes()
  readonly #hashing = new SingleFlight<string>()
  /** In the order of their last use, the most recent ones last. */
  readonly #entries = new Map<string, Entry>()
  #bytes = 0
  /** Bytes of the files that are being fetched. */
  #coming = 0
  readonly #counts = { hits: 0, misses: 0, fetchedBytes: 0 }

  /**
   * Takes over the files that an earlier process has left in the folder.
   */
  constructor(folder: string, maxBytes: number, get: Fetch) {
    this.#folder = folder
    this.#maxBytes = maxBytes
    this.#get = get
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const { name, bytes } of filesByUse(folder)) {
      if (name.endsWith(UNFINISHED) || name.endsWith(BLOCKS)) rmSync(join(folder, name), { force: true })
      else this.#enter({ name, bytes })
    }
    this.#trim()
  }

  get stats() {
    return { ...this.#counts, bytes: this.#bytes, maxBytes: this.#maxBytes }
  }

  file(name: string): string {
    return join(this.#folder, name)
  }

  /** Whether the complete object is in the cache. */
  has({ name, bytes }: Cacheable): boolean {
    const size = statSync(this.file(name), { throwIfNoEntry: false })?.size
    if (size === bytes) return true
    // Only this class writes here, so a file of another size was left incomplete by a crash of the machine.
    this.drop(name)
    return false
  }

  /**
   * Fetches the objects that are missing. All of them stay in the cache until the result is disposed.
   * @throws the errors of `get`; WrongBytes; EngineError `storage_full`
   */
  async pin(objects: readonly Cacheable[], signal?: AbortSignal): Promise<Disposable> {
    const pin = this.hold(objects.map(({ name }) => name))
    try {
      const whole = await Promise.all(objects.map((object) => this.#isWhole(object, signal)))
      const missing = objects.filter((_, index) => !whole[index])
      this.#counts.hits += objects.length - missing.length
      this.#counts.misses += missing.length
      await Promise.all(missing.map((object) => this.#fetch(object, signal)))
      return pin
    } catch (error) {
      pin[Symbol.dispose]()
      throw error
    }
  }

  /** Moves a file that this process has written into the cache, so that it need not be fetched. */
  async adopt(object: Cacheable, file: string): Promise<void> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    await rename(file, this.file(object.name))
    this.#hashes.remember(this.file(object.name), object.hash)
    this.#enter(object)
    this.#trim()
  }

  /** Fetches bytes of an object from the store, and counts them. */
  async get(...range: Parameters<Fetch>): Promise<Uint8Array> {
    const data = await this.#get(...range)
    this.#counts.fetchedBytes += data.byteLength
    return data
  }

  /** The file of an object that is complete and was compared with its hash; undefined if there is none. */
  wholeFile({ name, hash }: Cacheable): string | undefined {
    const file = this.file(name)
    return this.#hashes.known(file) === hash ? file : undefined
  }

  /** Keeps files from being removed to make room, until the result is disposed. */
  hold(names: readonly string[]): Disposable {
    const held = names.map((name) => this.#pin(name))
    return { [Symbol.dispose]: () => this.#release(held.splice(0)) }
  }

  /** Counts the bytes of the blocks of an object that are here. @param name that of their file */
  grow(name: string, bytes: number): void {
    this.#enter({ name, bytes })
    this.#trim()
  }

  /** Whether the complete object is in the cache, with the bytes that were written. Damaged files are removed. */
  async #isWhole(object: Cacheable, signal: AbortSignal | undefined): Promise<boolean> {
    const { name, hash } = object
    if (!this.has(object)) return false
    const file = this.file(name)
    if (this.#hashes.known(file) === hash) return true
    const found = await this.#hashing.run(
      name,
      (signal) => this.#hashes.read(file, { signal }, hashingOf(object)),
      signal,
    )
    if (found !== hash) this.drop(name)
    return found === hash
  }

  /** Fetches an object once for all callers that want it; gives up when none of them waits any more. */
  #fetch(object: Cacheable, signal: AbortSignal | undefined): Promise<void> {
    const work = async (signal: AbortSignal) => {
      const to = this.file(object.name)
      const fetch = () => download(object, to, (...range) => this.get(...range), signal)
      this.#coming += object.bytes
      try {
        this.#trim()
        await fetch().catch((error: unknown) => {
          if (machineError(error)?.code !== 'storage_full') throw error
          // Other programs have filled the disk, so everything that nobody has pinned is removed to make room.
          this.#trim(0)
          return fetch()
        })
      } catch (error) {
        throw storageError(error)
      } finally {
        this.#coming -= object.bytes
      }
      this.#hashes.remember(this.file(object.name), object.hash)
      this.#enter(object)
    }
    return this.#fetching.run(object.name, work, signal)
  }

  #pin(name: string): Entry {
    const entry = this.#entry(name)
    // Moves the entry to the end, because it is now the most recently used one.
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

  /** Counts the bytes of a file that is now in the folder. */
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

  /** Removes a file, as that of an object that is gone or damaged. Readers that have it open can go on. */
  drop(name: string): void {
    try {
      rmSync(this.file(name), { force: true })
    } catch {
      // A file that can't be removed only takes room; the next start counts it again.
    }
    const entry = this.#entries.get(name)
    if (!entry) return
    this.#bytes -= entry.bytes
    entry.bytes = 0
    if (entry.pins === 0) this.#entries.delete(name)
  }

  /** Removes files that nobody has pinned, the least recently used first, until at most `most` bytes are left. */
  #trim(most = this.#maxBytes): void {
    for (const [name, { pins }] of this.#entries) {
      if (this.#bytes + this.#coming <= most) return
      if (pins === 0) this.drop(name)
    }
  }
}

/** The files of a folder, ordered by when they were last read or written, the oldest first. */
function filesByUse(folder: string): { name: string; bytes: number }[] {
  return readdirSync(folder)
    .flatMap((name) => {
      const found = statSync(join(folder, name), { throwIfNoEntry: false })
      if (!found?.isFile()) return []
      return [{ name, bytes: found.size, used: Math.max(found.atimeMs, found.mtimeMs) }]
    })
    .sort((a, b) => a.used - b.used)
}

/** Bytes of one request. Several requests at once use the whole bandwidth even if each answer is slow to begin. */
const RANGE_BYTES = 8 * 2 ** 20
/** The most requests at once, over all downloads. Each holds a range in memory. */
const AT_ONCE = new Semaphore(8)
/** How often an object is fetched in all. Wrong bytes may come from the transfer, so they are fetched a second time. */
const TRIES = 2

/** The error that an object is missing or has not the bytes that the catalog knows. */
export class WrongBytes extends Error {
  override readonly name = 'WrongBytes'
  readonly object: string
  /** In words that come after the name of the object; undefined where the hashes differ. */
  readonly problem: string | undefined

  constructor(object: string, problem?: string, options?: ErrorOptions) {
    super(`${object}: ${problem ?? 'the bytes are not those that were written'}`, options)
    this.object = object
    this.problem = problem
  }
}

/**
 * Downloads an object into a file, in ranges. The file appears only when it is complete, checked and synced. If
 * something fails, nothing is left behind.
 * @throws WrongBytes, and the errors of `get`
 */
async function download(object: Cacheable, to: string, get: Fetch, signal: AbortSignal): Promise<void> {
  const { name, hash } = object
  const unfinished = `${to}.${randomUUID()}${UNFINISHED}`
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  try {
    for (let tries = 1; ; tries++) {
      await fill(unfinished, object, get, signal)
      if ((await hashingOf(object)(unfinished, { signal })) === hash) break
      if (tries === TRIES) throw new WrongBytes(name)
    }
    await rename(unfinished, to)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

/** How a file is hashed to compare it with the hash of its object. */
const hashingOf =
  ({ attached }: Cacheable) =>
  (file: string, options?: FileHashOptions): Promise<string> =>
    attached ? hashFooter(file, options).catch(noFooter) : hashFile(file, options)

function noFooter(error: unknown): string {
  if (error instanceof RangeError) return ''
  throw error
}

async function fill(file: string, object: Cacheable, get: Fetch, signal: AbortSignal): Promise<void> {
  const { bytes } = object
  await using handle = await open(file, 'w', 0o600)
  const failed = new AbortController()
  const ending = AbortSignal.any([signal, failed.signal])
  const ranges = Array.from({ length: Math.ceil(bytes / RANGE_BYTES) }, async (_, index) => {
    using _place = await AT_ONCE.enter()
    ending.throwIfAborted()
    const from = index * RANGE_BYTES
    try {
      await writeAt(handle, await get(object, from, Math.min(from + RANGE_BYTES, bytes), ending), from)
    } catch (error) {
      failed.abort(error)
      throw error
    }
  })
  // Waits for all ranges even after a failure, because nothing may be written after the file is closed.
  const failure = (await Promise.allSettled(ranges)).find((range) => range.status === 'rejected')
  if (failure) throw signal.aborted ? signal.reason : (failed.signal.reason ?? failure.reason)
  await handle.sync()
}
