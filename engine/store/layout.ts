import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { EngineError, invalidOption } from '../errors.ts'
import { counted } from '../util/counted.ts'
import { splitS3 } from './objects/address.ts'

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

export const partName = (id: number) => `${id}.parquet`

/** Files of parts that lie in a data directory. */
export function partFiles(layout: Layout): string[] {
  return readdirSync(layout.parts).filter((name) => name.endsWith('.parquet'))
}

/** Whether there once was a catalog: its file is missing or empty, but there are parts or a write-ahead log. */
export function isCatalogLost(layout: Layout): boolean {
  const size = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return size(layout.catalog) === 0 && (partFiles(layout).length > 0 || size(`${layout.catalog}-wal`) > 0)
}

/** What is appended to the name of a catalog that was moved into a cluster. */
export const MOVED = '.moved'

/** The file that says where it was moved. */
export function movedNote({ catalog }: Layout): string {
  return `${catalog}${MOVED}-to`
}

/** @throws EngineError `invalid_option` if the catalog was moved into a cluster, even if the parts are gone as well */
export function refuseMoved(layout: Layout): void {
  if (existsSync(layout.catalog) || !existsSync(layout.catalog + MOVED)) return
  const note = movedNote(layout)
  const where = existsSync(note) ? `to ${readFileSync(note, 'utf8').trim()}` : 'into a cluster'
  throw invalidOption(
    `The data directory ${layout.directory} was moved ${where}. Set PARQUETRY_DATABASE and PARQUETRY_STORE, or name ` +
      'another directory.',
  )
}

/** The error for a catalog that is missing or does not know the existing parts; it says what to do. */
export function catalogLost(layout: Layout): EngineError {
  return new EngineError(
    'storage_damaged',
    `The catalog ${layout.catalog} is missing or empty, but ${layout.parts} holds ${counted(partFiles(layout).length, 'part')}. ` +
      'Restore the data directory from a backup, or start empty with --new; the present files are then set aside.',
  )
}

/** Moves catalog and parts into a folder under `lost`, so that the directory is empty again. Gives the folder. */
export function setAllAside(layout: Layout): string {
  const folder = lostFolder(layout)
  for (const ending of ['', '-wal', '-shm']) {
    if (existsSync(layout.catalog + ending))
      renameSync(layout.catalog + ending, join(folder, `catalog.sqlite${ending}`))
  }
  renameSync(layout.parts, join(folder, 'parts'))
  mkdirSync(layout.parts, { mode: 0o700 })
  return folder
}

/** Makes a folder `lost/<moment>` for files that the catalog does not know, but that nobody asked to delete. */
export function lostFolder(layout: Layout): string {
  const moment = new Date().toISOString().replaceAll(/[:.]/g, '-')
  const folder = join(layout.directory, 'lost', moment)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}

/**
 * The folders with files that may be attached, without links: DuckDB follows them before it decides what it may open. And
 * prefixes of buckets, which end with `/`.
 * @throws EngineError `invalid_option`
 */
export function attachableFolders(folders: readonly string[], { directory }: Layout): string[] {
  const own = realpathSync(directory)
  return folders.map((given) => {
    if (given.startsWith('s3://')) {
      const { bucket, key } = splitS3(given)
      return `s3://${bucket}/${key.replace(/([^/])$/, '$1/')}`
    }
    // A disk may be absent for a while.
    const folder = existsSync(given) ? realpathSync(given) : resolve(given)
    const apart = !isBelow(folder, own) && !isBelow(own, folder)
    if (isAbsolute(given) && apart && !/[*?[\]{}]/.test(folder)) return folder
    throw invalidOption(
      `Files may be attached below an absolute path without any of * ? [ ] { }, apart from the data directory; not below ${given}.`,
    )
  })
}

/** Whether a path is below a folder. Both are absolute and without links. */
export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
