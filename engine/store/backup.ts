import {
  constants,
  createWriteStream,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pipeline } from 'node:stream/promises'
import { makePrivate } from '../catalog/sqlite.ts'
import { EngineError } from '../errors.ts'
import { quoteLiteral } from '../types/index.ts'
import { storageFull } from '../util/storage-full.ts'
import { hashFile } from './integrity/hash.ts'
import { type Layout, layoutOf, partFile } from './layout.ts'
import { DamagedPart, type PartStore } from './objects/part-store.ts'
import type { Store } from './store.ts'
import { sync } from './sync.ts'

export interface BackupReport {
  readonly parts: number
  readonly bytes: number
  /** Parts that were not in the copy yet. */
  readonly copied: number
}

type OnProgress = (done: { bytes: number }) => void

/** Each round copies what was written during the one before, so a few are enough. */
const ROUNDS = 100

/**
 * Copies a store as of one moment into another directory, also while it is written to: first the catalog, by SQLite
 * itself, then the parts that it names. A part never changes; one that has been removed meanwhile belongs to a version
 * that nobody shows any more, so the catalog is copied again. A copy made before is brought up to date, and stays
 * usable until the new catalog takes the old one's place. What is copied is held against the hashes of the catalog.
 * @throws EngineError `invalid_option`, `storage_full`, `storage_damaged` where a part is not what was written
 */
export async function backupStore(
  store: Store,
  directory: string,
  onProgress?: OnProgress,
): Promise<BackupReport> {
  const to = layoutOf(directory)
  if (to.directory === store.layout.directory) {
    throw new EngineError('invalid_option', 'A backup goes into another directory than the data.')
  }
  for (let round = 0; round < ROUNDS; round++) {
    const { layout, files, database } = store
    const copy = files.cache ? copyStored(files) : copyFrom(layout)
    const report = await copyOnce(copy, to, onProgress, (fresh) =>
      database.exec(`VACUUM INTO ${quoteLiteral(fresh)}`),
    )
    if (report) return report
  }
  throw new EngineError('locked', 'The data changes faster than it can be copied. Try again later.')
}

/**
 * Copies a backup into a new data directory and holds every part against the catalog's hash. The backup is only read.
 * @throws EngineError `invalid_option` where the directory holds data already; `storage_damaged`, `storage_full`
 */
export async function restoreStore(
  backup: string,
  directory: string,
  onProgress?: OnProgress,
): Promise<BackupReport> {
  if (!existsSync(join(backup, 'catalog.sqlite'))) {
    throw new EngineError('invalid_option', `${backup} is no backup: it has no catalog.sqlite.`)
  }
  const from = layoutOf(backup)
  const to = layoutOf(directory)
  if (existsSync(to.catalog) || readdirSync(to.parts).length > 0) {
    throw new EngineError(
      'invalid_option',
      `${to.directory} holds data already. Restore into a new directory, or move what is there away first.`,
    )
  }
  const report = await copyOnce(copyFrom(from), to, onProgress, (fresh) => {
    const database = new DatabaseSync(from.catalog, { readOnly: true })
    try {
      database.exec(`VACUUM INTO ${quoteLiteral(fresh)}`)
    } finally {
      database.close()
    }
  })
  if (report) return report
  throw new EngineError('storage_damaged', `Parts that the catalog of ${from.directory} names are missing.`)
}

/** undefined where a part was gone that the catalog named when it was copied. */
async function copyOnce(
  copyPart: CopyPart,
  to: Layout,
  onProgress: OnProgress | undefined,
  copyCatalog: (fresh: string) => void | Promise<void>,
): Promise<BackupReport | undefined> {
  const fresh = `${to.catalog}.new`
  rmSync(fresh, { force: true })
  makePrivate(fresh)
  await copyCatalog(fresh)
  keepPartsBeside(fresh)
  const parts = partsIn(fresh)
  let copied = 0
  let bytes = 0
  for (const part of parts) {
    const outcome = await copyPart(part, partFile(to, part.id))
    if (outcome === 'gone') return undefined
    if (outcome === 'there') continue
    copied += 1
    bytes += part.bytes
    onProgress?.({ bytes })
  }
  await sync(to.parts)
  await sync(fresh)
  // A log beside the old catalog, from a look into the copy, is not the new one's.
  for (const ending of ['-wal', '-shm']) rmSync(`${to.catalog}${ending}`, { force: true })
  renameSync(fresh, to.catalog)
  await sync(to.directory)
  removeOthers(to, new Set(parts.map(({ id }) => `${id}.parquet`)))
  return { parts: parts.length, bytes: parts.reduce((sum, part) => sum + part.bytes, 0), copied }
}

interface CopiedPart {
  readonly id: number
  readonly bytes: number
  readonly hash: string | null
}

/** The parts of the versions that datasets show. A catalog of an older program has no hashes. */
function partsIn(catalog: string): CopiedPart[] {
  const database = new DatabaseSync(catalog, { readOnly: true })
  try {
    const columns = database.prepare("SELECT name FROM pragma_table_info('parts')").all()
    const hash = columns.some(({ name }) => name === 'hash') ? 'p.hash' : 'NULL AS hash'
    return database
      .prepare(
        `SELECT p.id, p.bytes, ${hash} FROM parts p WHERE p.id IN
         (SELECT vp.part_id FROM version_parts vp JOIN datasets d ON d.version_id = vp.version_id)`,
      )
      .all() as unknown as CopiedPart[]
  } finally {
    database.close()
  }
}

/** The parts of a copy are in its own folder, wherever those were that it was made of. */
function keepPartsBeside(catalog: string): void {
  const database = new DatabaseSync(catalog)
  try {
    if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'part_store'").get()) {
      database.exec('DELETE FROM part_store')
    }
  } finally {
    database.close()
  }
}

/** Brings a part's bytes into a file; `gone` where they are no longer there. */
type CopyPart = (part: CopiedPart, target: string) => Promise<'copied' | 'there' | 'gone'>

/** Parts that lie in a folder. */
function copyFrom(from: Layout): CopyPart {
  return async (part, target) => {
    const source = partFile(from, part.id)
    const wanted = statSync(source, { throwIfNoEntry: false })
    if (!wanted) return 'gone'
    const found = statSync(target, { throwIfNoEntry: false })
    // By its time, too: after a restore, a number may have been given a second time.
    if (found && found.size === wanted.size && Math.abs(found.mtimeMs - wanted.mtimeMs) < 1) return 'there'
    return appear(part, target, async (unfinished) => {
      await copyFile(source, unfinished, constants.COPYFILE_FICLONE)
      utimesSync(unfinished, wanted.atime, wanted.mtime)
    })
  }
}

/** Parts that lie in a store of objects, which has no times to go by. */
function copyStored(from: PartStore): CopyPart {
  return async (part, target) => {
    const found = statSync(target, { throwIfNoEntry: false })
    if (found?.size === part.bytes && (await hashFile(target)) === part.hash) return 'there'
    return appear(part, target, async (unfinished) => {
      await pipeline(from.read(part, 0, part.bytes), createWriteStream(unfinished, { mode: 0o600 }))
    })
  }
}

/** A file that has its name when it is whole and checked. */
async function appear(
  part: CopiedPart,
  target: string,
  write: (unfinished: string) => Promise<void>,
): Promise<'copied' | 'gone'> {
  const unfinished = `${target}.new`
  try {
    await write(unfinished)
    const { size } = statSync(unfinished)
    if (size !== part.bytes || (part.hash !== null && (await hashFile(unfinished)) !== part.hash)) {
      throw new EngineError(
        'storage_damaged',
        `Part ${part.id} is not what was written, so it is not copied. The copy that was there is as it was; ` +
          'parquetry verify lists what is damaged.',
      )
    }
    await sync(unfinished)
    renameSync(unfinished, target)
    return 'copied'
  } catch (error) {
    rmSync(unfinished, { force: true })
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof DamagedPart) return 'gone'
    throw storageFull(error)
  }
}

function removeOthers(to: Layout, kept: ReadonlySet<string>): void {
  for (const name of readdirSync(to.parts)) if (!kept.has(name)) rmSync(join(to.parts, name), { force: true })
}
