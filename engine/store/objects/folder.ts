import { opendir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sync } from '../sync.ts'
import { fileBytes } from './file-bytes.ts'
import type { FoundPart, PartBytes, PartStore } from './part-store.ts'

/** Parts in a folder of this machine. DuckDB writes them where they are read, so nothing is copied or cached. */
export class FolderParts implements PartStore {
  readonly name: string
  readonly folders: readonly string[]
  readonly cache = undefined

  constructor(folder: string) {
    this.name = folder
    this.folders = [folder]
  }

  /** Flat, because a part belongs to versions, not to a folder. */
  target(id: number): string {
    return join(this.name, `${id}.parquet`)
  }

  async keep({ id }: PartBytes): Promise<void> {
    await sync(this.target(id))
    await sync(this.name)
  }

  file({ id }: PartBytes): string {
    return this.target(id)
  }

  pin(): undefined {
    return undefined
  }

  async *read(
    { id }: PartBytes,
    from: number,
    to: number,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    yield* fileBytes(this.target(id), from, to, signal)
  }

  async size({ id }: PartBytes): Promise<number | undefined> {
    return (await statOf(this.target(id)))?.size
  }

  remove({ id }: Pick<PartBytes, 'id'>): Promise<void> {
    return rm(this.target(id), { force: true })
  }

  async *list(): AsyncGenerator<FoundPart, void, undefined> {
    for await (const { name } of await opendir(this.name)) {
      const [, id] = /^(\d+)\.parquet$/.exec(name) ?? []
      const found = await statOf(join(this.name, name))
      if (found) yield { name, id: id === undefined ? undefined : Number(id), bytes: found.size }
    }
  }

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
