import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { storageError } from '../errors.ts'
import { type ManifestStore, versionOfManifest } from '../iceberg/tables.ts'
import type { Layout } from './layout.ts'
import type { S3Store } from './objects/s3.ts'
import { sync } from './sync.ts'

/** Manifests of Iceberg, and how they go with their versions. */
export interface Manifests extends ManifestStore {
  /** The names of all manifests, and of files beside them that are none. */
  all(): Promise<string[]>
  /** Those of them that this process knows without much work. */
  known(): Promise<string[]>
  remove(name: string): Promise<void>
}

/**
 * Removes manifests of versions that are gone.
 * @param gone finds these versions among others
 * @param all also those that this process does not know yet, and files that are no manifests: an Iceberg client that
 *   tries to write may leave some before it is refused
 */
export async function tidyManifests(
  manifests: Manifests,
  gone: (versions: readonly number[]) => Promise<readonly number[]>,
  all: boolean,
): Promise<void> {
  const byVersion = Map.groupBy(await (all ? manifests.all() : manifests.known()), versionOfManifest)
  const versions = [...byVersion.keys()].filter((version) => version !== undefined)
  for (const version of [...(await gone(versions)), ...(all ? [undefined] : [])]) {
    for (const name of byVersion.get(version) ?? []) await manifests.remove(name)
  }
}

/**
 * Manifests in a folder of the data directory, beside that of the parts.
 * @param temporary a folder that only this process uses, on the same disk
 */
export function folderManifests({ manifests: folder }: Layout, temporary: string): Manifests {
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

const PREFIX = 'iceberg/'

/** Manifests in a store of objects, beside the parts. */
export function objectManifests(objects: S3Store): Manifests {
  const written = new Set<string>()
  return {
    url: (name) => objects.url(PREFIX + name),
    /** @throws EngineError `storage_unavailable` */
    async write(name, bytes) {
      written.add(name)
      await objects.put(PREFIX + name, { data: bytes }, { onlyNew: true })
    },
    all: async () => (await Array.fromAsync(objects.list(PREFIX))).map(({ key }) => key.slice(PREFIX.length)),
    /** Listing a store takes long and costs money, so those of other nodes are not known. */
    known: async () => [...written],
    async remove(name) {
      await objects.remove(PREFIX + name)
      written.delete(name)
    },
  }
}
