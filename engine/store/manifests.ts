import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { storageError } from '../errors.ts'
import { type ManifestStore, versionOfManifest } from '../iceberg/tables.ts'
import type { Layout } from './layout.ts'
import type { S3Store } from './objects/s3.ts'
import { sync } from './sync.ts'

/** Manifests of Iceberg, and how they go with their versions. */
export interface Manifests extends ManifestStore {
  /** The ids of versions that have manifests, as far as this process knows without much work. */
  versions(): number[]
  /** Removes the manifests of the given versions. */
  remove(versions: readonly number[]): Promise<void>
  /** Removes the manifests of all versions that are gone, and files that are no manifests. */
  sweep(gone: (versions: readonly number[]) => Promise<readonly number[]>): Promise<void>
}

/** Manifests of Iceberg in a folder of the data directory, beside that of the parts. */
export class FolderManifests implements Manifests {
  readonly #folder: string
  readonly #temporary: string

  /** @param temporary a folder that only this process uses, on the same disk */
  constructor({ manifests }: Layout, temporary: string) {
    this.#folder = manifests
    this.#temporary = temporary
  }

  /** Iceberg treats locations as plain strings, not as URLs, so nothing in them is escaped. */
  url(name: string): string {
    return `file://${join(this.#folder, name)}`
  }

  /** @throws EngineError `storage_full` */
  async write(name: string, bytes: Uint8Array): Promise<void> {
    const target = join(this.#folder, name)
    if (existsSync(target)) return
    const written = join(this.#temporary, randomUUID())
    try {
      await writeFile(written, bytes, { mode: 0o600 })
      // Synced before it is renamed, so that the named file is complete even after a power cut.
      await sync(written)
      await rename(written, target)
    } catch (error) {
      await rm(written, { force: true })
      throw storageError(error)
    }
  }

  versions(): number[] {
    const ids = readdirSync(this.#folder).map(versionOfManifest)
    return [...new Set(ids.filter((id) => id !== undefined))]
  }

  async remove(versions: readonly number[]): Promise<void> {
    if (versions.length === 0) return
    for (const name of readdirSync(this.#folder)) {
      const id = versionOfManifest(name)
      if (id !== undefined && versions.includes(id)) rmSync(join(this.#folder, name), { force: true })
    }
  }

  /** An Iceberg client that tries to write may leave files before it is refused. */
  async sweep(gone: (versions: readonly number[]) => Promise<readonly number[]>): Promise<void> {
    await this.remove(await gone(this.versions()))
    for (const name of readdirSync(this.#folder)) {
      if (versionOfManifest(name) === undefined)
        rmSync(join(this.#folder, name), { recursive: true, force: true })
    }
  }
}

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
    return this.#objects.url(PREFIX + name)
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
