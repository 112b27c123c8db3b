import { constants, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makePrivate } from '../catalog/database.ts'
import { EngineError } from '../errors.ts'
import { quoteLiteral } from '../types/index.ts'
import { storageFull } from '../util/storage-full.ts'
import { type Layout, layoutOf, partFile } from './layout.ts'
import type { Store } from './store.ts'
import { sync } from './sync.ts'

export interface BackupReport {
  readonly parts: number
  readonly bytes: number
  /** Parts that were not in the copy yet. */
  readonly copied: number
}

/** Each round copies what was written during the one before, so a few are enough. */
const ROUNDS = 100

/**
 * Copies a store as of one moment into another directory, also while it is written to: first the catalog, by SQLite
 * itself, then the parts that it names. A part never changes; one that has been removed meanwhile belongs to a version
 * that nobody shows any more, so the catalog is copied again. A copy made before is brought up to date, and stays
 * usable until the new catalog takes the old one's place.
 * @throws EngineError `invalid_option`, `storage_full`
 */
export async function backupStore(
  store: Store,
  directory: string,
  onProgress?: (done: { bytes: number }) => void,
): Promise<BackupReport> {
  const to = layoutOf(directory)
  if (to.directory === store.layout.directory) {
    throw new EngineError('invalid_option', 'A backup goes into another directory than the data.')
  }
  const fresh = `${to.catalog}.new`
  let copied = 0
  let bytes = 0
  for (let round = 0; round < ROUNDS; round++) {
    rmSync(fresh, { force: true })
    makePrivate(fresh)
    store.database.run(`VACUUM INTO ${quoteLiteral(fresh)}`)
    const parts = partsIn(fresh)
    let complete = true
    for (const part of parts) {
      const outcome = await copyPart(store.layout, to, part.id)
      if (outcome === 'gone') {
        complete = false
        break
      }
      if (outcome === 'copied') {
        copied += 1
        bytes += part.bytes
        onProgress?.({ bytes })
      }
    }
    if (!complete) continue
    await sync(to.parts)
    await sync(fresh)
    // A log beside the old catalog, from a look into the copy, is not the new one's.
    for (const ending of ['-wal', '-shm']) rmSync(`${to.catalog}${ending}`, { force: true })
    renameSync(fresh, to.catalog)
    await sync(to.directory)
    removeOthers(to, new Set(parts.map(({ id }) => `${id}.parquet`)))
    return { parts: parts.length, bytes: parts.reduce((sum, part) => sum + part.bytes, 0), copied }
  }
  throw new EngineError('locked', 'The data changes faster than it can be copied. Try again later.')
}

/** The parts of the versions that datasets show. */
function partsIn(catalog: string): { id: number; bytes: number }[] {
  const database = new DatabaseSync(catalog, { readOnly: true })
  try {
    return database
      .prepare(
        `SELECT p.id, p.bytes FROM parts p WHERE p.id IN
         (SELECT vp.part_id FROM version_parts vp JOIN datasets d ON d.version_id = vp.version_id)`,
      )
      .all() as unknown as { id: number; bytes: number }[]
  } finally {
    database.close()
  }
}

async function copyPart(from: Layout, to: Layout, id: number): Promise<'copied' | 'there' | 'gone'> {
  const source = partFile(from, id)
  const target = partFile(to, id)
  const wanted = statSync(source, { throwIfNoEntry: false })
  if (!wanted) return 'gone'
  const found = statSync(target, { throwIfNoEntry: false })
  // By its time, too: after a restore, a number may have been given a second time.
  if (found && found.size === wanted.size && Math.abs(found.mtimeMs - wanted.mtimeMs) < 1) return 'there'
  const unfinished = `${target}.new`
  try {
    await copyFile(source, unfinished, constants.COPYFILE_FICLONE)
    utimesSync(unfinished, wanted.atime, wanted.mtime)
    await sync(unfinished)
    renameSync(unfinished, target)
    return 'copied'
  } catch (error) {
    rmSync(unfinished, { force: true })
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'gone'
    throw storageFull(error)
  }
}

function removeOthers(to: Layout, kept: ReadonlySet<string>): void {
  for (const name of readdirSync(to.parts)) if (!kept.has(name)) rmSync(join(to.parts, name), { force: true })
}
