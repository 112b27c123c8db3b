import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Database } from '../../catalog/database.ts'
import type { PartBytes } from '../../catalog/records.ts'
import { EngineError, invalidOption } from '../../errors.ts'
import { Events } from '../../events.ts'
import { BlockSums, hashFile } from '../integrity/hashes.ts'
import { parseS3Address } from '../objects/address.ts'
import { FolderParts } from '../objects/folder.ts'
import { type ObjectStoreOptions, remoteParts, type WhereItIs } from '../objects/open.ts'
import { claimTarget, settleIn } from '../objects/owner.ts'
import { DamagedPart, type PartStore } from '../objects/part-store.ts'
import { S3Store } from '../objects/s3.ts'
import { openStorage, type Storage } from '../storage.ts'

export interface MoveOptions {
  /** A store of objects, or undefined for the data directory. */
  readonly target: ObjectStoreOptions | undefined
  /** How to reach the store of objects that holds the rows now, if one does. */
  readonly from: WhereItIs['whereItIs']
}

export interface MoveReport {
  readonly from: string
  readonly to: string
  readonly parts: number
  readonly bytes: number
  /** The number of parts that had to be copied, because no earlier try had copied them. */
  readonly copied: number
}

/**
 * Copies the rows of a data directory into an object store, or back, and uses the copies once all of them are there and
 * were checked; the old files stay where they are. If it is interrupted, the next call continues. No other process may
 * have the directory open.
 * @throws EngineError `locked` beside a server, `invalid_option`, `storage_damaged`, `storage_unavailable`,
 * `storage_full`
 */
export async function moveRows(
  directory: string,
  { target, from }: MoveOptions,
  onProgress?: (done: { bytes: number; of: number }) => void,
): Promise<MoveReport> {
  const options = { directory, role: 'server', store: { whereItIs: from }, events: new Events() } as const
  await using storage = await openStorage(options)
  const report = await movePartsOf(storage, target, onProgress)
  if (report.from !== report.to) return report
  throw invalidOption(`The rows are already in ${report.to}.`)
}

/** The same in a directory that is open. Does nothing if the rows are there already. */
export async function movePartsOf(
  storage: Storage,
  target: ObjectStoreOptions | undefined,
  onProgress?: (done: { bytes: number; of: number }) => void,
): Promise<MoveReport> {
  const { database, files } = storage
  const to = await openTarget(storage, target)
  try {
    const parts = await movable(database)
    const of = parts.reduce((sum, { bytes }) => sum + bytes, 0)
    const done = { parts: parts.length, bytes: 0, copied: 0 }
    const places = { from: files.name, to: to.name }
    if (to.name === files.name) return { ...done, bytes: of, ...places }
    for (const part of parts) {
      if (await copy(files, to, part, database)) done.copied += 1
      done.bytes += part.bytes
      onProgress?.({ bytes: done.bytes, of })
    }
    await database.transaction((t) => settleIn(t, target ? 'target' : 'directory'))
    return { ...done, ...places }
  } finally {
    await to.close()
  }
}

async function openTarget(storage: Storage, target: ObjectStoreOptions | undefined): Promise<PartStore> {
  const { layout, database, mark } = storage
  if (!target) return new FolderParts(layout.parts)
  const objects = new S3Store(parseS3Address(target.address, target))
  try {
    if (objects.name !== storage.files.name) await claimTarget(database, objects)
    return remoteParts({ layout, database, temporary: mark.temporary, role: 'server' }, objects, target)
  } catch (error) {
    objects.close()
    throw error
  }
}

/** The committed parts. Others belong to processes that have ended, and the next sweep removes them. */
function movable(database: Database): Promise<PartBytes[]> {
  return database.all(
    'SELECT id, bytes, hash FROM parts WHERE process IS NULL AND given_up_at IS NULL ORDER BY id',
  )
}

/** Copies a part unless it is there already; gives whether it was copied. */
async function copy(from: PartStore, to: PartStore, part: PartBytes, database: Database): Promise<boolean> {
  const note = (column: 'hash' | 'block_sums', value: string) =>
    database.run(`UPDATE parts SET ${column} = ? WHERE id = ?`, value, part.id)
  const hash = part.hash ?? (await from.hash(part))
  const known = { ...part, hash }
  // Parts of an older program have no hash, but the names in a store of objects need one.
  if (part.hash === null) await note('hash', hash)
  if (await isThere(to, known)) return false
  const target = to.target(part.id)
  await pipeline(from.read(known, 0, part.bytes), createWriteStream(target, { mode: 0o600 }))
  const blocks = to.objects && new BlockSums()
  if ((await hashFile(target, { blocks })) !== hash) {
    await to.giveUp(part.id)
    throw new EngineError(
      'storage_damaged',
      `Part ${part.id} differs from what was written, so the rows stay where they are; parquetry verify lists what is damaged.`,
    )
  }
  if (blocks) await note('block_sums', blocks.text())
  await to.keep(known)
  return true
}

/** In a store of objects, names contain the hash, so name and size are enough. In a folder, the content is hashed. */
async function isThere(to: PartStore, part: PartBytes): Promise<boolean> {
  if ((await to.size(part)) !== part.bytes) return false
  if (to.objects) return true
  try {
    return (await to.hash(part)) === part.hash
  } catch (error) {
    if (error instanceof DamagedPart) return false
    throw error
  }
}
