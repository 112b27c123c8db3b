import { randomUUID } from 'node:crypto'
import { closeSync, createReadStream, existsSync, fstatSync, fsync, openSync } from 'node:fs'
import { opendir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import { isInBucket, type PartBytes } from '../../catalog/records.ts'
import { EngineError, storageError } from '../../errors.ts'
import type { ManifestStore } from '../../iceberg/tables.ts'
import { readHere } from '../../util/whole-file.ts'
import { type HashOptions, hashFile } from '../integrity/hashes.ts'
import { type Layout, partName } from '../layout.ts'
import { type BucketParts, DamagedPart, type FoundPart, type PartStore } from './part-store.ts'

/**
 * Parts in a folder of this machine. DuckDB writes and reads them in the same place, so nothing is copied or cached but
 * attached objects of buckets.
 */
export class FolderParts implements PartStore {
  readonly name: string
  readonly folders: readonly string[]
  readonly attachable: readonly string[]
  readonly objects = undefined
  readonly #buckets: (BucketParts & { readonly folder: string }) | undefined

  /**
   * @param attachable what paths of files that may be attached begin with
   * @param buckets objects of which some may be attached, and the folder of their cache
   */
  constructor(
    folder: string,
    attachable: readonly string[] = [],
    buckets?: BucketParts & { readonly folder: string },
  ) {
    this.name = folder
    this.attachable = attachable
    this.#buckets = buckets
    this.folders = [folder, ...attachable.filter(isAbsolute), ...(buckets ? [buckets.folder] : [])]
  }

  get cache() {
    return this.#buckets?.cache
  }

  get ranges() {
    return this.#buckets?.ranges
  }

  isCached(part: PartBytes): boolean {
    return isInBucket(part)
  }

  bucket(name: string) {
    return this.#buckets?.bucket(name)
  }

  /** Where the parts of a bucket are; undefined for other parts, and where none may be attached. */
  #of(part: PartBytes) {
    return isInBucket(part) ? this.#buckets : undefined
  }

  /** All parts are in one folder, because a part may belong to several versions. */
  target(id: number): string {
    return join(this.name, partName(id))
  }

  async keep({ id }: PartBytes): Promise<void> {
    // Both at once, because the file system may then write its journal once.
    await Promise.all([sync(this.target(id)), sync(this.name)])
  }

  giveUp(id: number): Promise<void> {
    return rm(this.target(id), { force: true })
  }

  /** Iceberg treats locations as plain strings, not as URLs, so nothing in them is escaped. */
  url(part: PartBytes): string {
    return this.#of(part)?.url(part) ?? `file://${this.file(part)}`
  }

  file(part: PartBytes): string {
    const { id, attached } = part
    const own = attached ? join(attached.folder, attached.name) : this.target(id)
    return this.#of(part)?.file(part) ?? own
  }

  pin(parts: readonly PartBytes[], signal?: AbortSignal): Promise<Disposable> | undefined {
    const fetched = parts.filter(isInBucket)
    return fetched.length > 0 ? this.#buckets?.pin(fetched, signal) : undefined
  }

  read(part: PartBytes, from: number, to: number): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#of(part)?.read(part, from, to) ?? fileBytes(this.file(part), from, to)
  }

  async size(part: PartBytes): Promise<number | undefined> {
    return (await statOf(this.file(part)))?.size
  }

  async hash(part: PartBytes, options: HashOptions = {}): Promise<string> {
    const { id, bytes } = part
    const objects = this.#of(part)
    if (objects) return objects.hash(part, options)
    const file = this.target(id)
    const problem = quickCheck(file, bytes)
    if (problem !== undefined) throw new DamagedPart(id, problem)
    return hashFile(file, options)
  }

  distrust(parts: readonly PartBytes[]): void {
    this.#buckets?.distrust(parts.filter(isInBucket))
  }

  remove({ id }: Pick<PartBytes, 'id'>): Promise<void> {
    return this.giveUp(id)
  }

  async *list(): AsyncGenerator<FoundPart, void, undefined> {
    for await (const { name } of await opendir(this.name)) {
      const [, id] = /^(\d+)\.parquet$/.exec(name) ?? []
      const found = await statOf(join(this.name, name))
      if (found) yield { name, id: id === undefined ? undefined : Number(id), bytes: found.size }
    }
  }

  removeFound(name: string): Promise<void> {
    return rm(join(this.name, name), { recursive: true, force: true })
  }

  async setAside(names: readonly string[], folder: () => string): Promise<string> {
    const to = folder()
    for (const name of names) await rename(join(this.name, name), join(to, name))
    return to
  }

  async endUnfinished(): Promise<void> {}

  async close(): Promise<void> {
    await this.#buckets?.close()
  }
}

async function statOf(file: string) {
  try {
    return await stat(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Resolves when a file's content, or the names in a folder, would survive a power cut. */
export async function sync(path: string): Promise<void> {
  // Only what waits for the disk is done in libuv's pool, where each step waits for a core, too.
  const descriptor = openSync(path, 'r')
  try {
    await promisify(fsync)(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Manifests in a folder of the data directory, beside that of the parts.
 * @param temporary a folder that only this process uses, on the same disk
 */
export function folderManifests({ manifests: folder }: Layout, temporary: string): ManifestStore {
  return {
    /** Iceberg treats locations as plain strings, not as URLs, so nothing in them is escaped. */
    url: (name) => `file://${join(folder, name)}`,
    /** @throws EngineError `storage_full` */
    async write(name, bytes) {
      const target = join(folder, name)
      if (existsSync(target)) return
      const written = join(temporary, randomUUID())
      try {
        await writeFile(written, bytes, { mode: 0o600 })
        // Synced before it is renamed, so that the named file is complete even after a power cut.
        await sync(written)
        await rename(written, target)
      } catch (error) {
        await rm(written, { force: true })
        throw storageError(error)
      }
    },
    all: () => readdir(folder),
    known: () => readdir(folder),
    remove: (name) => rm(join(folder, name), { recursive: true, force: true }),
  }
}

const READ_BYTES = 256 << 10

/** Bytes `from` (inclusive) to `to` (exclusive) of a file. @throws EngineError `storage_damaged` if it is shorter */
export async function* fileBytes(
  file: string,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let left = to - from
  if (left <= 0) return
  const pieces = createReadStream(file, { start: from, end: to - 1, highWaterMark: READ_BYTES })
  for await (const piece of pieces as AsyncIterable<Uint8Array>) {
    left -= piece.byteLength
    yield piece
  }
  if (left > 0) throw new EngineError('storage_damaged', 'A part of the stored rows is cut off.')
}

/** What is wrong with a part's file, in words that come after "part 7:"; undefined where nothing is. */
export type Problem = string | undefined

/** A Parquet file begins and ends with this. */
const MAGIC = 'PAR1'
/** The last bytes of a Parquet file: the length of the footer in four bytes, then the magic. */
const TAIL = 8

/**
 * Finds what is wrong with a file without reading its rows.
 * @throws the system's error if the file exists but can't be read, for example because too many files are open. That
 * says nothing about its content.
 */
export function quickCheck(file: string, bytes: number): Problem {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'its file is missing'
    throw error
  }
  try {
    const { size } = fstatSync(descriptor)
    if (size !== bytes) return `its file has ${size} bytes; the catalog says ${bytes}`
    const tail = Buffer.alloc(TAIL)
    const head = Buffer.alloc(MAGIC.length)
    if (size < TAIL + MAGIC.length) return 'its file is too short'
    readHere(descriptor, head, 0)
    readHere(descriptor, tail, size - TAIL)
    const footer = tail.readUInt32LE(0)
    const whole = head.toString('latin1') === MAGIC && tail.toString('latin1', 4) === MAGIC
    return whole && footer <= size - TAIL - MAGIC.length ? undefined : 'its file does not end as Parquet does'
  } finally {
    closeSync(descriptor)
  }
}
