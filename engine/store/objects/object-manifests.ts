import { versionOfManifest } from '../../iceberg/tables.ts'
import type { Manifests } from '../manifests.ts'
import type { S3Store } from './s3.ts'

const PREFIX = 'iceberg/'

/** Manifests of Iceberg in a store of objects, beside the parts. */
export class ObjectManifests implements Manifests {
  readonly #objects: S3Store
  /** The keys of those that this process wrote, by their versions. */
  readonly #written = new Map<number, Set<string>>()

  constructor(objects: S3Store) {
    this.#objects = objects
  }

  url(name: string): string {
    return urlIn(this.#objects, PREFIX + name)
  }

  /** @throws EngineError `storage_unavailable` */
  async write(name: string, bytes: Uint8Array): Promise<void> {
    const key = PREFIX + name
    const version = versionOfManifest(name)!
    const keys = this.#written.get(version) ?? new Set()
    this.#written.set(version, keys.add(key))
    await this.#objects.put(key, { data: bytes }, { onlyNew: true })
  }

  /** Listing a store takes long and costs money, so those of other nodes are left to `sweep`. */
  versions(): number[] {
    return [...this.#written.keys()]
  }

  async remove(versions: readonly number[]): Promise<void> {
    for (const version of versions) {
      for (const key of this.#written.get(version) ?? []) await this.#objects.remove(key)
      this.#written.delete(version)
    }
  }

  async sweep(gone: (versions: readonly number[]) => Promise<readonly number[]>): Promise<void> {
    const found: { key: string; version: number | undefined }[] = []
    for await (const { key } of this.#objects.list(PREFIX)) {
      found.push({ key, version: versionOfManifest(key.slice(PREFIX.length)) })
    }
    const known = [...new Set(found.flatMap(({ version }) => version ?? []))]
    const unneeded = new Set(await gone(known))
    for (const { key, version } of found) {
      if (version === undefined || unneeded.has(version)) await this.#objects.remove(key)
    }
  }
}

/** The address of an object for other programs. */
export function urlIn({ name }: S3Store, key: string): string {
  return `${name.replace(/\/$/, '')}/${key}`
}
