import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { PartBytes } from '../../catalog/records.ts'
import type { ManifestStore } from '../../iceberg/tables.ts'
import { type CachedOptions, CachedParts, cacheable, nameOf, PREFIX } from './cached.ts'
import { FolderParts } from './folder.ts'
import { DamagedPart, type FoundPart, type PartStore } from './part-store.ts'
import { ONLY_NEW, type S3Store } from './s3.ts'

export interface RemoteOptions extends CachedOptions {
  /** Where parts are written before they are stored; on the same file system as the cache. */
  readonly writing: string
  /** What addresses of objects that may be attached begin with. */
  readonly attachable?: readonly string[] | undefined
}

/** An upload that was begun longer ago than this is taken for abandoned. */
const LONGEST_UPLOAD_MS = 86_400_000
const MANIFESTS = 'iceberg/'

/** Parts in a store of objects, with a cache on this machine. */
export class RemoteParts extends CachedParts implements PartStore {
  readonly name: string
  readonly folders: readonly string[]
  readonly attachable: readonly string[]
  readonly objects: S3Store
  readonly #writing: FolderParts

  constructor(objects: S3Store, { writing, attachable = [], ...options }: RemoteOptions) {
    super(options, objects)
    this.name = objects.name
    this.folders = [options.cache.folder, writing]
    this.attachable = attachable
    this.objects = objects
    mkdirSync(writing, { recursive: true, mode: 0o700 })
    this.#writing = new FolderParts(writing)
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
    await this.objectCache.adopt(cacheable(part), file)
  }

  giveUp(id: number): Promise<void> {
    return rm(this.target(id), { force: true })
  }

  /** Removes a part. One without a hash was never stored, so only its local file may exist. */
  async remove({ id, hash }: Pick<PartBytes, 'id' | 'hash'>): Promise<void> {
    await this.giveUp(id)
    if (hash === null) return
    const name = nameOf({ id, hash })
    this.drop(name)
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
