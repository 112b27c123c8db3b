import { LRUCache } from 'lru-cache'
import { EngineError } from '../errors.ts'
import type { Column } from '../types/index.ts'
import type { Database, Handle, SqlValue } from './database.ts'
import { isUnwritable } from './failures.ts'
import { type Change, KEEP, retentionSql } from './history.ts'
import type { Keep, Origin, Part, Version } from './records.ts'

interface PartRow extends Omit<Part, 'statistics' | 'attached'> {
  readonly statistics: string | null
  readonly attached: string | null
}

/** The columns of a `PartRow`. */
const PART = 'p.id, p.rows, p.bytes, p.raw_bytes AS "rawBytes", p.hash, p.statistics, p.attached'

function partOf({ statistics, attached, ...row }: PartRow): Part {
  return {
    ...row,
    statistics: statistics === null ? null : JSON.parse(statistics),
    ...(attached !== null && { attached: JSON.parse(attached) }),
  }
}

type VersionRow = Omit<Version, 'columns' | 'parts' | 'key'>
/** The columns of a `VersionRow`. */
const ROW = 'v.id, v.number, v.rows, v.bytes, v.raw_bytes AS "rawBytes", v.created_at AS "createdAt"'

/**
 * A version by its number. A merge makes a version of the same number with the same rows in other parts, so who needs a
 * certain part names it.
 */
export interface NumberedVersion {
  readonly number: number
  readonly part?: number | undefined
}

/** The name under which the current version of a dataset is cached. */
export const versionOf = (datasetId: number) => `version of ${datasetId}`
/** A part that is no longer in the catalog, so that its bytes may be removed. */
export type RemovedPart = Pick<Part, 'id' | 'hash'>
type Content = Pick<Version, 'columns' | 'key' | 'parts' | 'bytes'>

/** The most parts of versions that are kept in memory. With a dozen columns, each takes half a kilobyte. */
const MOST_KNOWN = 50_000

function contents(): LRUCache<number, Content> {
  return new LRUCache({ maxSize: MOST_KNOWN, sizeCalculation: ({ parts }) => parts.length + 1 })
}

/** What `until` is in `part_ranges` as long as the newest version has the part. */
const OPEN = Number.MAX_SAFE_INTEGER

const TAKE_PART =
  'UPDATE parts SET process = NULL WHERE id = ? AND process IS NOT NULL AND given_up_at IS NULL'

function givenUp(): EngineError {
  return new EngineError(
    'catalog_unavailable',
    'The database was out of reach for so long that the change was given up. Nothing was changed; try again.',
  )
}

/** The versions of datasets. */
export class Versions {
  readonly #handle: Handle
  readonly #contents: LRUCache<number, Content>
  readonly #keep: Keep

  /** @param keep how long versions of datasets stay that were given no other time */
  constructor(handle: Handle, keep = KEEP, known = contents()) {
    this.#handle = handle
    this.#keep = keep
    this.#contents = known
  }

  /** The same versions, read and written in a transaction. */
  in(t: Handle): Versions {
    return new Versions(t, this.#keep, this.#contents)
  }

  /**
   * A version of a dataset by its number, also one that it no longer shows, if it is still there. Make sure first that
   * nobody removes it meanwhile.
   */
  async numbered(datasetId: number, { number, part }: NumberedVersion): Promise<Version | undefined> {
    const hasPart = 'SELECT 1 FROM version_parts vp WHERE vp.version_id = v.id AND vp.part_id = ?'
    const row = await this.#handle.get<VersionRow>(
      `SELECT ${ROW} FROM versions v WHERE v.dataset_id = ? AND v.number = ?
         ${part === undefined ? '' : `AND EXISTS (${hasPart})`} ORDER BY v.id DESC LIMIT 1`,
      ...[datasetId, number, ...(part === undefined ? [] : [part])],
    )
    const content = row && (await this.#content(row))
    return content && { ...content, ...row }
  }

  /** The version that a dataset shows now. @throws EngineError `not_found` */
  current(datasetId: number): Promise<Version> {
    return this.#handle.cached(versionOf(datasetId), () => this.#current(datasetId))
  }

  async #current(datasetId: number): Promise<Version> {
    for (let seen: number | undefined; ; ) {
      const row = await this.#handle.get<VersionRow>(
        `SELECT ${ROW} FROM datasets d JOIN versions v ON v.id = d.version_id WHERE d.id = ?`,
        datasetId,
      )
      if (!row) throw new EngineError('not_found', `There is no dataset ${datasetId}.`)
      const content = await this.#content(row)
      // If the parts are missing, the version was removed between the statements, so another one is current by now.
      if (content && (content.bytes === row.bytes || seen === row.id)) {
        return { ...content, ...row }
      }
      seen = row.id
    }
  }

  /**
   * Makes a new version visible. Call it in a transaction that has locked the dataset and then read its current
   * version. Its parts up to the first that differs are those of the current version and are not written again.
   * @param content `made` are the ids of parts that are in no version yet; without a `change` the rows stay as they are,
   *   in other parts
   * @throws EngineError `catalog_unavailable` if such a part was given up, because its process was taken for dead
   */
  async commit(
    datasetId: number,
    current: Pick<Version, 'id' | 'parts'>,
    content: {
      columns: readonly Column[]
      key: readonly string[]
      parts: readonly Part[]
      number: number
      made?: ReadonlySet<number>
      change?: Change | undefined
    },
  ): Promise<void> {
    const at = new Date().toISOString()
    const { columns, key, parts, number, made, change } = content
    const sum = (key: 'rows' | 'bytes' | 'rawBytes') => parts.reduce((total, part) => total + part[key], 0)
    const { operation = null, by = null, note = null, addedRows = null, removedRows = null } = change ?? {}
    const id = await this.#handle.insert(
      `INSERT INTO versions (number, columns, key_columns, rows, bytes, raw_bytes, created_at, dataset_id,
         operation, author, note, added_rows, removed_rows)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      number,
      JSON.stringify(columns),
      key.length > 0 ? JSON.stringify(key) : null,
      sum('rows'),
      sum('bytes'),
      sum('rawBytes'),
      at,
      datasetId,
      operation,
      by,
      note,
      addedRows,
      removedRows,
    )
    await this.#replace(current.id, id, change !== undefined)
    const before = current.parts
    let same = 0
    while (same < before.length && before[same]!.id === parts[same]?.id) same += 1
    if (same < before.length) {
      const sql = 'UPDATE part_ranges SET until = ? WHERE dataset_id = ? AND until = ? AND position >= ?'
      await this.#handle.run(sql, id, datasetId, OPEN, same)
    }
    for (const [index, part] of parts.slice(same).entries()) {
      const isTaken = await this.#handle.run(TAKE_PART, part.id)
      if (isTaken === 0 && made?.has(part.id)) throw givenUp()
      const sql =
        'INSERT INTO part_ranges (dataset_id, until, position, since, part_id) VALUES (?, ?, ?, ?, ?)'
      await this.#handle.run(sql, datasetId, OPEN, same + index, id, part.id)
    }
    // Merged parts have the same rows, so for clients nothing has changed.
    const changed = await this.#handle.run(
      `UPDATE datasets SET version_id = ?, updated_at = ${change ? '?' : 'updated_at'} WHERE id = ?`,
      ...[id, ...(change ? [at] : []), datasetId],
    )
    if (changed === 0) throw new EngineError('not_found', `There is no dataset ${datasetId}.`)
  }

  /** Says when a version took the place of another; without a change, it is described as that one was. */
  async #replace(before: number, id: number, isChange: boolean): Promise<void> {
    const sql = 'UPDATE versions SET replaced_at = ? WHERE id = ?'
    await this.#handle.run(sql, isChange ? Date.now() : 0, before)
    if (isChange) return
    const described = 'created_at, operation, author, note, added_rows, removed_rows'
    await this.#handle.run(
      `UPDATE versions SET (${described}) = (SELECT ${described} FROM versions WHERE id = ?) WHERE id = ?`,
      before,
      id,
    )
  }

  /**
   * Removes versions that are neither shown nor kept nor read; gives the parts that are in no version any more.
   * @param datasetId whose versions are looked at; 0 stands for all
   */
  reclaim(datasetId = 0): Promise<RemovedPart[]> {
    return this.#handle.transaction(async (t) => {
      await removeVersions(
        t,
        `${datasetId === 0 ? '' : `dataset_id = ${datasetId} AND `}id NOT IN (SELECT version_id FROM datasets) AND id NOT IN (SELECT version_id FROM leases)
         AND NOT ${retentionSql(this.#keep)}`,
      )
      return t.all<RemovedPart>(
        `DELETE FROM parts WHERE process IS NULL AND id NOT IN (SELECT part_id FROM part_ranges)
         RETURNING id, hash`,
      )
    })
  }

  /** The ids among the given ones whose version no longer exists. */
  async gone(ids: readonly number[]): Promise<number[]> {
    const gone: number[] = []
    for (const id of ids) {
      if (!(await this.#handle.get('SELECT 1 FROM versions WHERE id = ?', id))) gone.push(id)
    }
    return gone
  }

  /**
   * Columns and parts of a version, and the bytes of those parts. A version never changes, so they stay in memory even
   * when something else is written. Gives undefined if the version was removed since it was found to be current.
   */
  async #content(version: VersionRow): Promise<Content | undefined> {
    const known = this.#contents.get(version.id)
    if (known) return known
    const row = await this.#handle.get<{ columns: string; key: string | null }>(
      'SELECT columns, key_columns AS "key" FROM versions WHERE id = ?',
      version.id,
    )
    const parts = await this.#handle.all<PartRow>(
      `SELECT ${PART} FROM version_parts vp JOIN parts p ON p.id = vp.part_id
       WHERE vp.version_id = ? ORDER BY vp.position`,
      version.id,
    )
    if (!row) return undefined
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
    const key = row.key === null ? [] : JSON.parse(row.key)
    const content = { columns: JSON.parse(row.columns), key, parts: parts.map(partOf), bytes }
    // Not kept in a transaction: if it is rolled back, another version will get the same id.
    const isWhole = bytes === version.bytes
    if (isWhole && !this.#handle.inTransaction) this.#contents.set(version.id, content)
    return content
  }
}

/** Removes versions, and what says which parts they had. Call it in a transaction. */
export async function removeVersions(t: Handle, where: string, ...parameters: SqlValue[]): Promise<void> {
  const sql = `DELETE FROM versions WHERE ${where} RETURNING dataset_id AS "datasetId"`
  const removed = await t.all<{ datasetId: number | null }>(sql, ...parameters)
  for (const datasetId of new Set(removed.map((version) => version.datasetId))) {
    // Of an older program.
    if (datasetId === null) continue
    await t.run(
      `DELETE FROM part_ranges WHERE dataset_id = ? AND NOT EXISTS (SELECT 1 FROM versions v
         WHERE v.dataset_id = part_ranges.dataset_id AND v.id >= part_ranges.since AND v.id < part_ranges.until)`,
      datasetId,
    )
  }
}

function describePart(t: Handle, part: Part, origin?: Origin, blockSums?: string): Promise<number> {
  return t.run(
    'UPDATE parts SET rows = ?, bytes = ?, raw_bytes = ?, hash = ?, statistics = ?, checked_at = ?, origin = ?, block_sums = ?, attached = ? WHERE id = ?',
    part.rows,
    part.bytes,
    part.rawBytes,
    part.hash,
    part.statistics && JSON.stringify(part.statistics),
    new Date().toISOString(),
    origin ? JSON.stringify(origin) : null,
    blockSums ?? null,
    part.attached ? JSON.stringify(part.attached) : null,
    part.id,
  )
}

const REGISTER = 'INSERT INTO parts (process) VALUES (?)'
/** Parts are cached only with their version. */
const UNCACHED = { changes: [] }

/**
 * The parts that versions are made of. A part is registered before its file exists, and belongs to the process that
 * writes it until a commit takes it into a version. So each file on disk is in a version, is being written by a known
 * process, or is a leftover.
 */
export class Parts {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Registers a part that `process` is about to write. */
  register(process: string): Promise<number> {
    return this.#database.transaction((t) => t.insert(REGISTER, process), UNCACHED)
  }

  /** Registers parts whose files are there already: all at once, because each write waits for the disk. */
  add(process: string, parts: readonly Omit<Part, 'id'>[]): Promise<Part[]> {
    return this.#database.transaction(async (t) => {
      const added: Part[] = []
      for (const part of parts) {
        added.push({ ...part, id: await t.insert(REGISTER, process) })
        await describePart(t, added.at(-1)!)
      }
      return added
    }, UNCACHED)
  }

  /**
   * Notes what a part has that was written. On one machine this does not wait for the disk: the commit that takes the part
   * into a version brings it there, and without that commit nobody needs it. A shared database may lose what it has not
   * synced while this process lives, and the object has the hash in its name, by which others find it.
   * @param blockSums the sums of its blocks, if it may be read by ranges
   */
  async describe(part: Part, origin?: Origin, blockSums?: string): Promise<void> {
    const describe = (t: Handle) => describePart(t, part, origin, blockSums)
    const database = this.#database
    await (database.isShared ? database.transaction(describe, UNCACHED) : database.transient(describe))
  }

  /**
   * The hash of a part as it is known now, and the sums of its blocks, which no `Part` has because only cold reads need
   * them; null if they were never computed. Undefined if the part is gone.
   */
  find(id: number): Promise<{ readonly hash: string | null; readonly blockSums: string | null } | undefined> {
    return this.#database.get('SELECT hash, block_sums AS "blockSums" FROM parts WHERE id = ?', id)
  }

  /** The origins of those parts that have one, by their ids. Only comparisons need them, so no `Part` has its own. */
  async origins(ids: readonly number[]): Promise<Map<number, Origin>> {
    const rows = await this.#database.all<{ id: number; origin: string }>(
      `SELECT id, origin FROM parts WHERE origin IS NOT NULL AND id IN (${['NULL', ...ids].join(', ')})`,
    )
    return new Map(rows.map(({ id, origin }) => [id, JSON.parse(origin) as Origin]))
  }

  /**
   * Forgets a part unless a commit has taken it into a version; gives whether it did. A commit whose outcome is unknown
   * here may still be under way at the database; then this waits for it.
   */
  async drop(id: number): Promise<boolean> {
    const sql = 'DELETE FROM parts WHERE id = ? AND process IS NOT NULL'
    return (await this.#database.transaction((t) => t.run(sql, id), UNCACHED)) > 0
  }

  /** The ids of all registered parts. A file with another id is a leftover. */
  async all(): Promise<Set<number>> {
    const rows = await this.#database.all<{ id: number }>('SELECT id FROM parts')
    return new Set(rows.map(({ id }) => id))
  }

  /** Says for each damaged part, by its id, what is wrong with it. */
  async damaged(): Promise<Map<number, string>> {
    const rows = await this.#database.all<{ id: number; damage: string }>(
      'SELECT id, damage FROM parts WHERE damage IS NOT NULL',
    )
    return new Map(rows.map(({ id, damage }) => [id, damage]))
  }

  /** Writes down what reading a part's whole file has shown. If a power cut loses it, the next check finds it again. */
  async noteCheck(id: number, found: { hash: string | null; damage: string | undefined }): Promise<void> {
    try {
      await this.#database.transient((t) =>
        t.run(
          'UPDATE parts SET hash = coalesce(?, hash), damage = ?, checked_at = ? WHERE id = ?',
          found.hash,
          found.damage ?? null,
          new Date().toISOString(),
          id,
        ),
      )
    } catch (error) {
      // `Integrity` keeps the damage in memory, so readers of the part still get an error.
      if (!isUnwritable(error)) throw error
    }
  }

  /**
   * The committed part whose last check is longest ago, if that was before the given moment. Files that others keep are
   * checked whenever they are read.
   */
  async toCheck(before: string): Promise<Part | undefined> {
    const row = await this.#database.get<PartRow>(
      `SELECT ${PART} FROM parts p WHERE process IS NULL AND given_up_at IS NULL AND attached IS NULL AND (checked_at IS NULL OR checked_at < ?)
       ORDER BY checked_at IS NOT NULL, checked_at, id LIMIT 1`,
      before,
    )
    return row && partOf(row)
  }
}
