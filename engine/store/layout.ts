import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { invalidOption } from '../errors.ts'

/** Where things lie in a data directory. */
export interface Layout {
  readonly directory: string
  readonly catalog: string
  /** `<part id>.parquet`: flat, because a part belongs to versions, not to a folder. */
  readonly parts: string
  /** Iceberg manifests, which are made on demand and made again when they are missing. */
  readonly manifests: string
  /** `<process>/`: uploads under way, and what the engine moves to disk when memory is short. */
  readonly temporary: string
  /** Locks: `server.lock`, and `<process>.lock` for each process that is alive. */
  readonly locks: string
}

export function layoutOf(directory: string): Layout {
  const root = resolve(directory)
  if (/[*?[\]{}]/.test(root)) {
    throw invalidOption(`The data directory's path must not hold any of * ? [ ] { }: ${root}`)
  }
  const layout = {
    directory: root,
    catalog: join(root, 'catalog.sqlite'),
    parts: join(root, 'parts'),
    manifests: join(root, 'iceberg'),
    temporary: join(root, 'tmp'),
    locks: join(root, 'locks'),
  }
  // Rows may be private, so no other user of the machine may read the directory.
  for (const folder of [root, layout.parts, layout.manifests, layout.temporary, layout.locks]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  }
  return layout
}

export function partFile(layout: Layout, partId: number): string {
  return join(layout.parts, `${partId}.parquet`)
}
