import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { storageError } from '../errors.ts'
import { type ManifestStore, versionOfManifest } from '../iceberg/tables.ts'
import type { Layout } from './layout.ts'
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
