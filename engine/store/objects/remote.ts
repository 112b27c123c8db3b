import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { PartBytes } from '../../catalog/records.ts'
import type { ManifestStore } from '../../iceberg/tables.ts'
import { type HashOptions, hashOf } from '../integrity/hashes.ts'
import { type Cacheable, ObjectCache, WrongBytes } from './cache.ts'
import { FolderParts, fileBytes } from './folder.ts'
import { type CacheStats, DamagedPart, type FoundPart, type PartStore } from './part-store.ts'
import { Ranges } from './ranges/ranges.ts'
import { MissingObject, ONLY_NEW, type S3Store } from './s3.ts'

export interface RemoteOptions {
  /** Where parts are written before they are stored; on the same file system as the cache. */
  readonly writing: string
  readonly cache: { readonly folder: string; readonly maxBytes: number }
  /** DuckDB's extension for reading by ranges: a folder that has it, or `install`; without it parts are fetched whole. */
  readonly httpfs?: string | undefined
}

/** An upload that was begun longer ago than this is taken for abandoned. */
const LONGEST_UPLOAD_MS = 86_400_000
const MISSING = 'its object is missing or too short'
const PREFIX = 'parts/'
const MANIFESTS = 'iceberg/'
/** How many characters of its hash are in a part's name: 132 bits of BLAKE2b. */
const NAMED = 22
/** The most bytes that one request of `read` asks for. */
const RANGE_BYTES = 2 * 2 ** 20

/**
 * Parts in a store of objects, with a cache on this machine. A part's name has its id and the beginning of its hash. So
 * if a restored catalog gives the same id again, the new part is another object, in the store and in every cache.
 */
export class RemoteParts implements PartStore {
  readonly name: string
  readonly folders: readonly string[]
  readonly attachable = []
  readonly objects: S3Store
  readonly ranges: Ranges | undefined
  readonly #writing: FolderParts
  readonly #cache: ObjectCache

  constructor(objects: S3Store, { writing, cache, httpfs }: RemoteOptions) {
    this.name = objects.name
    this.folders = [cache.folder, writing]
    this.objects = objects
    mkdirSync(writing, { recursive: true, mode: 0o700 })
    this.#writing = new FolderParts(writing)
    this.#cache = new ObjectCache(cache.folder, cache.maxBytes, async (name, from, to, signal) =>
      objects.get(PREFIX + name, from, to, signal),
    )
    this.ranges = httpfs === undefined ? undefined : new Ranges(httpfs, this.#cache, cacheable, damage)
  }

  get cache(): CacheStats {
    const { hits: blockHits, misses: blockMisses } = this.ranges?.stats ?? { hits: 0, misses: 0 }
    return { ...this.#cache.stats, blockHits, blockMisses, ...this.objects.requests }
  }

  target(id: number): string {
    return this.#writing.target(id)
  }

  async keep(part: PartBytes): Promise<void> {
    const name = nameOf(part)
    const file = this.target(part.id)
    await this.objects.put(PREFIX + name, { file }, ONLY_NEW)
    const stored = await this.objects.size(PREFIX + name)
    if (stored !== part.bytes) {
      throw new DamagedPart(part.id, `the store has ${stored ?? 'none'} of ${part.bytes} bytes`)
    }
    await this.#cache.adopt(cacheable(part), file)
  }

  giveUp(id: number): Promise<void> {
    return rm(this.target(id), { force: true })
  }

  url(part: PartBytes): string {
    return this.objects.url(PREFIX + nameOf(part))
  }

  file(part: PartBytes): string {
    return this.#cache.file(nameOf(part))
  }

  async pin(parts: readonly PartBytes[], signal?: AbortSignal): Promise<Disposable> {
    try {
      return await this.#cache.pin(parts.map(cacheable), signal)
    } catch (error) {
      throw damage(error, parts)
    }
  }

  async *read(part: PartBytes, from: number, to: number): AsyncGenerator<Uint8Array, void, undefined> {
    const object = cacheable(part)
    if (this.#cache.has(object)) {
      using _ = await this.#cache.pin([object])
      yield* fileBytes(this.file(part), from, to)
      return
    }
    yield* this.#stored(part, from, to)
  }

  /** Reads bytes of a part from the store, even if they are cached. */
  async *#stored(part: PartBytes, from: number, to: number, signal?: AbortSignal) {
    const key = PREFIX + nameOf(part)
    try {
      for (let at = from; at < to; at += RANGE_BYTES) {
        yield await this.objects.get(key, at, Math.min(at + RANGE_BYTES, to), signal)
      }
    } catch (error) {
      throw damage(error, [part])
    }
  }

  size(part: PartBytes): Promise<number | undefined> {
    return this.objects.size(PREFIX + nameOf(part))
  }

  async hash(part: PartBytes, options: HashOptions = {}): Promise<string> {
    const size = await this.size(part)
    if (size === undefined) throw new DamagedPart(part.id, MISSING)
    if (size !== part.bytes) {
      throw new DamagedPart(part.id, `its object has ${size} bytes; the catalog says ${part.bytes}`)
    }
    return hashOf(this.#stored(part, 0, part.bytes, options.signal), options)
  }

  distrust(parts: readonly PartBytes[]): void {
    for (const part of parts) this.#drop(nameOf(part))
  }

  #drop(name: string): void {
    this.#cache.drop(name)
    this.ranges?.forget(name)
  }

  /** Removes a part. One without a hash was never stored, so only its local file may exist. */
  async remove({ id, hash }: Pick<PartBytes, 'id' | 'hash'>): Promise<void> {
    await this.giveUp(id)
    if (hash === null) return
    const name = nameOf({ id, hash })
    this.#drop(name)
    await this.objects.remove(PREFIX + name)
  }

  async *list(): AsyncGenerator<FoundPart, void, undefined> {
    for await (const { key, bytes } of this.objects.list(PREFIX)) {
      const name = key.slice(PREFIX.length)
      const [, id] = /^(\d+)-[\w-]+\.parquet$/.exec(name) ?? []
      yield { name, id: id === undefined ? undefined : Number(id), bytes }
    }
  }

  removeFound(name: string): Promise<void> {
    return this.objects.remove(PREFIX + name)
  }

  /** They are not moved: a store of objects would copy them. */
  async setAside(): Promise<string> {
    return this.name
  }

  async endUnfinished(): Promise<void> {
    await this.objects.endUploads(PREFIX, new Date(Date.now() - LONGEST_UPLOAD_MS))
  }

  async close(): Promise<void> {
    await this.ranges?.close()
    this.objects.close()
  }
}

function cacheable({ id, bytes, hash }: PartBytes): Cacheable {
  // `nameOf` refuses a part without a hash.
  return { name: nameOf({ id, hash }), bytes, hash: hash! }
}

function nameOf({ id, hash }: Pick<PartBytes, 'id' | 'hash'>): string {
  if (hash === null)
    throw new DamagedPart(id, 'its hash is unknown, and a store of objects names parts by it')
  return `${id}-${hash.slice(hash.indexOf(':') + 1).slice(0, NAMED)}.parquet`
}

/** Turns an error about the bytes of one of these parts into a `DamagedPart`; gives others unchanged. */
function damage(error: unknown, parts: readonly PartBytes[]): unknown {
  if (error instanceof WrongBytes) return damaged(error.object, 'its bytes are not those that were written')
  if (error instanceof MissingObject) return damaged(error.key, MISSING)
  return error

  function damaged(key: string, problem: string): unknown {
    const part = parts.find((one) => key.endsWith(nameOf(one)))
    return part ? new DamagedPart(part.id, problem, { cause: error }) : error
  }
}

/** Manifests in a store of objects, beside the parts. */
export function objectManifests(objects: S3Store): ManifestStore {
  const written = new Set<string>()
  return {
    url: (name) => objects.url(MANIFESTS + name),
    /** @throws EngineError `storage_unavailable` */
    async write(name, bytes) {
      written.add(name)
      await objects.put(MANIFESTS + name, { data: bytes }, ONLY_NEW)
    },
    all: async () =>
      (await Array.fromAsync(objects.list(MANIFESTS))).map(({ key }) => key.slice(MANIFESTS.length)),
    /** Listing a store takes long and costs money, so those of other nodes are not known. */
    known: async () => [...written],
    async remove(name) {
      await objects.remove(MANIFESTS + name)
      written.delete(name)
    },
  }
}
