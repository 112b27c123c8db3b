import { createHash } from 'node:crypto'
import {
  constants,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pipeline } from 'node:stream/promises'
import type { Database } from '../catalog/database.ts'
import { knownError } from '../catalog/failures.ts'
import type { PartBytes } from '../catalog/records.ts'
import { makePrivate } from '../catalog/sqlite.ts'
import { EngineError, invalidOption, storageError } from '../errors.ts'
import { quoteLiteral } from '../types/index.ts'
import { hashFile } from './integrity/hashes.ts'
import { type Layout, layoutOf, MOVED, partName } from './layout.ts'
import { copyShared, type MoveAllOptions, type MoveReport, moveIntoCluster } from './move.ts'
import { sync } from './objects/folder.ts'
import { DamagedPart, type PartStore } from './objects/part-store.ts'
import { lockServer } from './storage.ts'
import type { Store } from './store.ts'

export interface BackupReport {
  readonly parts: number
  readonly bytes: number
  /** Parts that were not in the copy yet. */
  readonly copied: number
  /** Files that stay where they are, so that they are not in the copy, by their folders. */
  readonly attached: readonly { readonly folder: string; readonly files: number; readonly bytes: number }[]
}

export interface BackupOptions {
  readonly onProgress?: (done: { bytes: number }) => void
  /** Makes the caller's own tables in the copy of a catalog that nodes share; they are copied, too. */
  readonly prepare?: (database: Database) => Promise<void>
}

/** The data directory, and those of its folders in which nothing else stays. */
const TIDIED = ['', 'parts', 'iceberg', 'tmp', 'locks', 'cache']

/** The most tries. Each copies only what was written during the one before, so a few are enough. */
const ROUNDS = 100

/**
 * Copies the state of a store at one moment into another directory, even while the store is written to. The catalog is
 * copied first, then the parts that it names. A part never changes. If one was removed meanwhile, its version is no
 * longer kept, so the copy begins again with a new catalog. An existing copy is brought up to date,
 * and stays usable until the new catalog replaces the old one. Each copied part is checked against its hash in the
 * catalog.
 * @throws EngineError `invalid_option` where the directory has other or newer data, or is no place for a copy; `locked`
 * where a server has it; `storage_full`; `storage_damaged` if a part is missing or not what was written
 */
export async function backupStore(
  store: Store,
  directory: string,
  { onProgress, prepare }: BackupOptions = {},
): Promise<BackupReport> {
  const [own] = relative(store.layout.directory, resolve(directory)).split(sep)
  if (TIDIED.includes(own!)) {
    throw invalidOption(
      `A backup must go to another directory than the data, and not into ${TIDIED.slice(1).join(', ')} there, which are tidied.`,
    )
  }
  const to = layoutOf(directory)
  using _ = lockServer(to, 'a backup would take the place of its rows')
  let gone: number | undefined
  for (let round = 0; round < ROUNDS; round++) {
    const { layout, files, database } = store
    const copy = files.objects ? copyStored(files) : copyFrom(layout)
    const outcome = await copyOnce(copy, to, onProgress, (fresh) =>
      database.isShared ? copyShared(database, fresh, prepare) : copyCatalog(layout.catalog, fresh),
    )
    if (!('gone' in outcome)) return outcome
    // The catalog that was copied after the part had gone still names it, so no writer has removed it.
    if (outcome.gone === gone) throw missing(gone)
    gone = outcome.gone
  }
  throw new EngineError('locked', 'The data changes faster than it can be copied. Try again later.')
}

/**
 * Copies a backup into a new data directory, and compares every part with the hash that was kept when it was written. The
 * backup is only read.
 * @throws EngineError `invalid_option` where the directory holds data already; `storage_damaged`, `storage_full`
 */
export async function restoreBackup(
  backup: string,
  directory: string,
  onProgress?: (done: { bytes: number }) => void,
): Promise<BackupReport> {
  requireBackup(backup)
  const from = layoutOf(backup)
  const to = layoutOf(directory)
  if (existsSync(to.catalog) || readdirSync(to.parts).length > 0) {
    throw invalidOption(
      `${to.directory} already holds data. Restore into a new directory, or move that data away first.`,
    )
  }
  const outcome = await copyOnce(copyFrom(from), to, onProgress, (fresh) => copyCatalog(from.catalog, fresh))
  if ('gone' in outcome) throw missing(outcome.gone)
  return outcome
}

function requireBackup(backup: string): void {
  if (existsSync(join(backup, 'catalog.sqlite'))) return
  throw invalidOption(`${backup} is not a backup: it has no catalog.sqlite.`)
}

/**
 * Copies a backup into an empty database and an empty place in an object store, of which the restored catalog becomes the
 * owner. Every part is compared with its hash, and the backup is only read. If it is interrupted, the next call
 * continues: what it needs for that is in a folder of the node's data directory until all is done.
 * @throws EngineError `invalid_option` if either holds a catalog already; `catalog_unavailable`, `storage_damaged`,
 * `storage_unavailable`
 */
export async function restoreIntoCluster(backup: string, options: MoveAllOptions): Promise<MoveReport> {
  requireBackup(backup)
  const from = layoutOf(backup)
  // A backup that was brought up to date since then is another one.
  const { mtimeMs } = statSync(from.catalog)
  const name = createHash('sha256').update(`${from.directory} ${mtimeMs}`).digest('hex').slice(0, 16)
  const directory = join(options.directory, `restore-${name}`)
  const catalog = join(directory, 'catalog.sqlite')
  if (!existsSync(directory)) {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    symlinkSync(from.parts, join(directory, 'parts'), 'junction')
  }
  if (!existsSync(catalog) && !existsSync(catalog + MOVED)) {
    rmSync(`${catalog}.new`, { force: true })
    copyCatalog(from.catalog, `${catalog}.new`)
    renameSync(`${catalog}.new`, catalog)
  }
  const report = await moveIntoCluster({ ...options, directory })
  rmSync(directory, { recursive: true })
  return { ...report, from: from.directory }
}

function missing(part: number): EngineError {
  return new EngineError(
    'storage_damaged',
    `Part ${part} is missing, so the copy can't be completed; parquetry verify lists what is damaged.`,
  )
}

/** Copies the catalog and then its parts. `gone` is the id of a part that has no file any more. */
async function copyOnce(
  copyPart: CopyPart,
  to: Layout,
  onProgress: BackupOptions['onProgress'],
  makeCatalog: (fresh: string) => void | Promise<void>,
): Promise<BackupReport | { readonly gone: number }> {
  const fresh = `${to.catalog}.new`
  rmSync(fresh, { force: true })
  makePrivate(fresh)
  await makeCatalog(fresh)
  keepPartsBeside(fresh)
  if (existsSync(to.catalog)) requireEarlier(to, fresh)
  const all = partsIn(fresh)
  const parts = all.filter(({ attached }) => !attached)
  let copied = 0
  let bytes = 0
  for (const part of parts) {
    const outcome = await copyPart(part, join(to.parts, partName(part.id)))
    if (outcome === 'gone') return { gone: part.id }
    if (outcome === 'there') continue
    copied += 1
    bytes += part.bytes
    onProgress?.({ bytes })
  }
  await sync(to.parts)
  await sync(fresh)
  // Somebody who opened the old copy may have left a log beside its catalog, which must not be applied to the new one.
  for (const ending of ['-wal', '-shm']) rmSync(`${to.catalog}${ending}`, { force: true })
  renameSync(fresh, to.catalog)
  await sync(to.directory)
  removeOthers(to, new Set(parts.map(({ id }) => partName(id))))
  return { parts: parts.length, bytes: bytesOf(parts), copied, attached: foldersOf(all) }
}

function bytesOf(parts: readonly PartBytes[]): number {
  return parts.reduce((sum, part) => sum + part.bytes, 0)
}

function foldersOf(parts: readonly PartBytes[]): BackupReport['attached'] {
  const folders = Map.groupBy(parts, ({ attached }) => attached?.folder)
  return [...folders].flatMap(([folder, files]) =>
    folder === undefined ? [] : [{ folder, files: files.length, bytes: bytesOf(files) }],
  )
}

/** Does something with the file of a catalog. @throws EngineError `storage_full`, `storage_damaged` */
function withCatalog<T>(catalog: string, readOnly: boolean, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(catalog, { readOnly, timeout: 10_000 })
  try {
    return work(database)
  } catch (error) {
    throw knownError(error)
  } finally {
    database.close()
  }
}

/** Copies a catalog as it is at one moment, even while it is written to. */
function copyCatalog(catalog: string, fresh: string): void {
  withCatalog(catalog, true, (database) => database.exec(`VACUUM INTO ${quoteLiteral(fresh)}`))
}

/** Finds a repository of another catalog, or that another one has made versions since. */
const NOT_EARLIER = `SELECT 1 FROM repositories r JOIN old.repositories o USING (id) WHERE r.created_at <> o.created_at
  UNION ALL SELECT 1 FROM old.sqlite_sequence o LEFT JOIN sqlite_sequence s USING (name)
    WHERE o.name = 'versions' AND o.seq > coalesce(s.seq, 0)`

/** @throws EngineError `invalid_option` unless a catalog is an earlier state of the fresh one that is to replace it */
function requireEarlier({ catalog, directory }: Layout, fresh: string): void {
  try {
    const other = withCatalog(fresh, true, (database) => {
      database.prepare('ATTACH ? AS old').run(catalog)
      return database.prepare(NOT_EARLIER).get()
    })
    if (!other) return
  } catch {
    // A damaged catalog may be anybody's.
  }
  rmSync(fresh)
  throw invalidOption(
    `${directory} holds other data, or newer data than this, or its catalog is damaged. Name another directory, or ` +
      'move that data away first.',
  )
}

/** The parts of all versions, of the past ones, too. A catalog of an older program has no hashes. */
function partsIn(catalog: string): PartBytes[] {
  return withCatalog(catalog, true, (database) => {
    const columns = database.prepare("SELECT name FROM pragma_table_info('parts')").all()
    const read = (wanted: string) =>
      columns.some(({ name }) => name === wanted) ? `p.${wanted}` : `NULL AS ${wanted}`
    const rows = database
      .prepare(
        `SELECT p.id, p.bytes, ${read('hash')}, ${read('attached')} FROM parts p
         WHERE p.id IN (SELECT part_id FROM version_parts)`,
      )
      .all() as unknown as (Omit<PartBytes, 'attached'> & { attached: string | null })[]
    return rows.map(({ attached, ...part }) => ({
      ...part,
      ...(attached !== null && { attached: JSON.parse(attached) }),
    }))
  })
}

/**
 * Makes the copied catalog look for its parts in its own folder, even if the original ones are in a store of objects.
 */
function keepPartsBeside(catalog: string): void {
  withCatalog(catalog, false, (database) => {
    const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'part_store'").get()
    if (isThere) database.exec('DELETE FROM part_store')
  })
}

/** Copies a part into a file. Gives `there` if the file has the part already, `gone` if the part was removed. */
type CopyPart = (part: PartBytes, target: string) => Promise<'copied' | 'there' | 'gone'>

/** Copies parts from a folder. */
function copyFrom({ parts }: Layout): CopyPart {
  return async (part, target) => {
    const source = join(parts, partName(part.id))
    const expected = statSync(source, { throwIfNoEntry: false })
    if (!expected) return 'gone'
    const found = statSync(target, { throwIfNoEntry: false })
    // The time is compared, too, because after a restore the same id may have been given to another part.
    if (found && found.size === expected.size && Math.abs(found.mtimeMs - expected.mtimeMs) < 1)
      return 'there'
    return appear(part, target, async (unfinished) => {
      await copyFile(source, unfinished, constants.COPYFILE_FICLONE)
      utimesSync(unfinished, expected.atime, expected.mtime)
    })
  }
}

/** Copies parts from a store of objects. It has no file times to compare, so existing files are compared by hash. */
function copyStored(from: PartStore): CopyPart {
  return async (part, target) => {
    const found = statSync(target, { throwIfNoEntry: false })
    if (found?.size === part.bytes && (await hashFile(target)) === part.hash) return 'there'
    return appear(part, target, async (unfinished) => {
      await pipeline(from.read(part, 0, part.bytes), createWriteStream(unfinished, { mode: 0o600 }))
    })
  }
}

/** Writes a file under a temporary name, and renames it when it is complete and checked. */
async function appear(
  part: PartBytes,
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
        `Part ${part.id} differs from what was written, so it is not copied. An earlier copy of it is unchanged; ` +
          'parquetry verify lists what is damaged.',
      )
    }
    await sync(unfinished)
    renameSync(unfinished, target)
    return 'copied'
  } catch (error) {
    rmSync(unfinished, { force: true })
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof DamagedPart) return 'gone'
    throw storageError(error)
  }
}

function removeOthers(to: Layout, names: ReadonlySet<string>): void {
  for (const name of readdirSync(to.parts))
    if (!names.has(name)) rmSync(join(to.parts, name), { force: true })
}
