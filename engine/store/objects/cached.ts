import { isInBucket, type PartBytes } from '../../catalog/records.ts'
import { type HashOptions, hashOf } from '../integrity/hashes.ts'
import { type S3Address, splitS3 } from './address.ts'
import { type Cacheable, ObjectCache, WrongBytes } from './cache.ts'
import { MissingObject } from './failures.ts'
import { fileBytes } from './folder.ts'
import { type BucketParts, type CacheStats, CHANGED, DamagedPart, GONE, OTHER_FOOTER } from './part-store.ts'
import { Ranges } from './ranges/ranges.ts'
import { S3Store } from './s3.ts'

export interface CachedOptions {
  readonly cache: { readonly folder: string; readonly maxBytes: number }
  /** DuckDB's extension for reading by ranges: a folder that has it, or `install`; without it parts are fetched whole. */
  readonly httpfs?: string | undefined
  /** How buckets of others are reached. */
  readonly s3?: Omit<S3Address, 'bucket' | 'prefix'>
}

const OTHER_BYTES = 'its bytes are not those that were written'
const MISSING = 'its object is missing or too short'
export const PREFIX = 'parts/'
/** How many characters of its hash are in a part's name: 132 bits of BLAKE2b. */
const NAMED = 22
/** The most characters of an ETag there. Those of Amazon have up to 38. */
const TAGGED = 60
/** The most bytes that one request of `read` asks for. */
const RANGE_BYTES = 2 * 2 ** 20

/**
 * Parts that are objects, with a cache on this machine. A part's name has its id and the beginning of its hash. So if a
 * restored catalog gives the same id again, the new part is another object, in the store and in every cache.
 *
 * Those that others keep have their own addresses. Each request for their bytes demands the ETag that they had when they
 * were attached, which is in their names in the cache, too: what is read is always of the same object.
 */
export class CachedParts implements BucketParts {
  readonly ranges: Ranges | undefined
  /** Of the cache. */
  readonly folder: string
  protected readonly objectCache: ObjectCache
  readonly #own: S3Store | undefined
  readonly #s3: CachedOptions['s3']
  readonly #buckets = new Map<string, S3Store>()

  /** @param own where our own parts are; without it, there are only those that others keep */
  constructor({ cache, httpfs, s3 }: CachedOptions, own?: S3Store) {
    this.#own = own
    this.folder = cache.folder
    this.#s3 = s3
    this.objectCache = new ObjectCache(cache.folder, cache.maxBytes, (...range) => this.#get(...range))
    this.ranges = httpfs === undefined ? undefined : new Ranges(httpfs, this.objectCache, cacheable, damage)
  }

  get cache(): CacheStats {
    const { hits: blockHits, misses: blockMisses } = this.ranges?.stats ?? { hits: 0, misses: 0 }
    const requests = { requests: 0, failedRequests: 0, requestSeconds: 0 }
    for (const { requests: some } of [...(this.#own ? [this.#own] : []), ...this.#buckets.values()]) {
      requests.requests += some.requests
      requests.failedRequests += some.failedRequests
      requests.requestSeconds += some.requestSeconds
    }
    return { ...this.objectCache.stats, blockHits, blockMisses, ...requests }
  }

  /** A bucket with objects that may be attached. */
  bucket(name: string): S3Store {
    const known = this.#buckets.get(name)
    const bucket = known ?? new S3Store({ ...this.#s3, bucket: name, prefix: '' })
    this.#buckets.set(name, bucket)
    return bucket
  }

  isCached(part: PartBytes): boolean {
    return this.#own !== undefined || isInBucket(part)
  }

  url(part: PartBytes): string {
    const { objects, key } = this.#place(cacheable(part))
    return objects.url(key)
  }

  file(part: PartBytes): string {
    return this.objectCache.file(nameOf(part))
  }

  async pin(parts: readonly PartBytes[], signal?: AbortSignal): Promise<Disposable> {
    try {
      return await this.objectCache.pin(parts.map(cacheable), signal)
    } catch (error) {
      throw damage(error, parts)
    }
  }

  async *read(part: PartBytes, from: number, to: number): AsyncGenerator<Uint8Array, void, undefined> {
    const object = cacheable(part)
    if (this.objectCache.has(object)) {
      using _ = await this.objectCache.pin([object])
      yield* fileBytes(this.file(part), from, to)
      return
    }
    yield* this.#stored(part, from, to)
  }

  /** Reads bytes of a part from the store, even if they are cached. */
  async *#stored(part: PartBytes, from: number, to: number, signal?: AbortSignal) {
    try {
      for (let at = from; at < to; at += RANGE_BYTES) {
        yield await this.#get(cacheable(part), at, Math.min(at + RANGE_BYTES, to), signal)
      }
    } catch (error) {
      throw damage(error, [part])
    }
  }

  /** @throws WrongBytes where the object is not as the catalog knows it */
  async #get(object: Cacheable, from: number, to: number, signal?: AbortSignal): Promise<Uint8Array> {
    const { objects, key, tag } = this.#place(object)
    try {
      return await objects.get(key, from, to, signal, tag)
    } catch (error) {
      if (!(error instanceof MissingObject)) throw error
      const problem = !object.attached ? MISSING : error.isChanged ? CHANGED : GONE
      throw new WrongBytes(object.name, problem, { cause: error })
    }
  }

  async size(part: PartBytes): Promise<number | undefined> {
    const { objects, key } = this.#place(cacheable(part))
    return objects.size(key)
  }

  /** The hash of a part in the store. Of one that others keep it is that of the catalog, if its tag is the same. */
  async hash(part: PartBytes, options: HashOptions = {}): Promise<string> {
    const { objects, key, tag } = this.#place(cacheable(part))
    const found = await objects.head(key)
    if (tag !== undefined) {
      if (!found) throw new DamagedPart(part.id, GONE)
      if (found.tag !== tag) throw new DamagedPart(part.id, CHANGED)
      return part.hash!
    }
    if (!found) throw new DamagedPart(part.id, MISSING)
    if (found.bytes !== part.bytes) {
      throw new DamagedPart(part.id, `its object has ${found.bytes} bytes; the catalog says ${part.bytes}`)
    }
    return hashOf(this.#stored(part, 0, part.bytes, options.signal), options)
  }

  distrust(parts: readonly PartBytes[]): void {
    for (const part of parts) this.drop(nameOf(part))
  }

  protected drop(name: string): void {
    this.objectCache.drop(name)
    this.ranges?.forget(name)
  }

  async close(): Promise<void> {
    await this.ranges?.close()
    this.#own?.close()
    for (const bucket of this.#buckets.values()) bucket.close()
  }

  /** Where an object is, and the tag that it must have. */
  #place({ name, attached }: Cacheable) {
    if (!attached) return { objects: this.#own!, key: PREFIX + name, tag: undefined }
    const { bucket, key } = splitS3(`${attached.folder}/${attached.name}`)
    return { objects: this.bucket(bucket), key, tag: attached.changed }
  }
}

export function cacheable(part: PartBytes): Cacheable {
  // `nameOf` refuses a part without a hash.
  return { name: nameOf(part), bytes: part.bytes, hash: part.hash!, attached: part.attached }
}

export function nameOf({ id, hash, attached }: Pick<PartBytes, 'id' | 'hash' | 'attached'>): string {
  if (hash === null)
    throw new DamagedPart(id, 'its hash is unknown, and a store of objects names parts by it')
  const tag = attached ? `-${Buffer.from(attached.changed).toString('base64url').slice(0, TAGGED)}` : ''
  return `${id}-${hash.slice(hash.indexOf(':') + 1).slice(0, NAMED)}${tag}.parquet`
}

/** Turns an error about the bytes of one of these parts into a `DamagedPart`; gives others unchanged. */
function damage(error: unknown, parts: readonly PartBytes[]): unknown {
  if (!(error instanceof WrongBytes)) return error
  const part = parts.find((one) => nameOf(one) === error.object)
  const usual = part?.attached ? OTHER_FOOTER : OTHER_BYTES
  return part ? new DamagedPart(part.id, error.problem ?? usual, { cause: error }) : error
}
