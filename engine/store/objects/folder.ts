import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, opendir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PartBytes } from '../../catalog/records.ts'
import { storageError } from '../../errors.ts'
import type { ManifestStore } from '../../iceberg/tables.ts'
import { type HashOptions, hashFile } from '../integrity/hashes.ts'
import { quickCheck } from '../integrity/quick-check.ts'
import type { Layout } from '../layout.ts'
import { fileBytes } from './download.ts'
import { DamagedPart, type FoundPart, type PartStore } from './part-store.ts'

/**
 * Parts in a folder of this machine. DuckDB writes and reads them in the same place, so nothing is copied or cached.
 */
export class FolderParts implements PartStore {
  readonly name: string
  readonly folders: readonly string[]
  readonly cache = undefined
  readonly objects = undefined
  readonly ranges = undefined

  constructor(folder: string) {
    this.name = folder
    this.folders = [folder]
  }

  /** All parts are in one folder, because a part may belong to several versions. */
  target(id: number): string {
    return join(this.name, `${id}.parquet`)
  }

  async keep({ id }: PartBytes): Promise<void> {
    await sync(this.target(id))
    await sync(this.name)
  }

  giveUp(id: number): Promise<void> {
    return rm(this.target(id), { force: true })
  }

  /** Iceberg treats locations as plain strings, not as URLs, so nothing in them is escaped. */
  url(part: PartBytes): string {
    return `file://${this.file(part)}`
  }

  file({ id }: PartBytes): string {
    return this.target(id)
  }

  pin(): undefined {
    return undefined
  }

  read({ id }: PartBytes, from: number, to: number): AsyncGenerator<Uint8Array, void, undefined> {
    return fileBytes(this.target(id), from, to)
  }

  async size({ id }: PartBytes): Promise<number | undefined> {
    return (await statOf(this.target(id)))?.size
  }

  async hash({ id, bytes }: PartBytes, options: HashOptions = {}): Promise<string> {
    const file = this.target(id)
    const problem = quickCheck(file, bytes)
    if (problem !== undefined) throw new DamagedPart(id, problem)
    return hashFile(file, options)
  }

  distrust(): void {}

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

  close(): void {}
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
  await using handle = await open(path, 'r')
  await handle.sync()
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
