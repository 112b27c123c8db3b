import { LRUCache } from 'lru-cache'
import { EngineError } from '../errors.ts'
import type { Column } from '../types/index.ts'
import type { Handle, SqlValue } from './database.ts'
import { type Change, KEEP, retentionSql } from './history.ts'
import { PART, type PartRow, partOf, type RemovedPart } from './parts.ts'
import type { Keep, Part, Version } from './records.ts'

type VersionRow = Omit<Version, 'columns' | 'parts' | 'key'>
/** The columns of a `VersionRow`. */
const ROW =
  'v.id, v.number, v.rows, v.bytes, v.raw_bytes AS "rawBytes", v.appended_since AS "appendedSince", v.created_at AS "createdAt"'

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
    current: Pick<Version, 'id' | 'parts' | 'number' | 'appendedSince'>,
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
    const since =
      change && operation !== 'append' ? number : (current.appendedSince ?? (change ? current.number : null))
    const id = await this.#handle.insert(
      `INSERT INTO versions (number, columns, key_columns, rows, bytes, raw_bytes, created_at, dataset_id,
         operation, author, note, added_rows, removed_rows, appended_since)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
      since,
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
   * @param datasetId whose versions and parts are looked at; 0 stands for all
   */
  async reclaim(datasetId = 0): Promise<RemovedPart[]> {
    const unneeded = `${datasetId === 0 ? '' : `dataset_id = ${datasetId} AND `}id NOT IN (SELECT version_id FROM datasets) AND id NOT IN (SELECT version_id FROM leases)
      AND NOT ${retentionSql(this.#keep)}`
    const first = `SELECT 1 FROM versions WHERE ${unneeded} LIMIT 1`
    // Most commits leave nothing to remove, and a transaction waits for the disk.
    if (datasetId !== 0 && (await this.#handle.get(first)) === undefined) return []
    return this.#handle.transaction(async (t) => {
      const left = await removeVersions(t, unneeded)
      return t.all<RemovedPart>(
        `DELETE FROM parts WHERE process IS NULL AND id NOT IN (SELECT part_id FROM part_ranges)
         ${datasetId === 0 ? '' : `AND id IN (${left.join(', ')})`} RETURNING id, hash`,
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

/** Removes versions, and what says which parts they had, whose ids it gives. Call it in a transaction. */
export async function removeVersions(t: Handle, where: string, ...parameters: SqlValue[]): Promise<number[]> {
  const sql = `DELETE FROM versions WHERE ${where} RETURNING dataset_id AS "datasetId"`
  const removed = await t.all<{ datasetId: number | null }>(sql, ...parameters)
  const parts: number[] = []
  for (const datasetId of new Set(removed.map((version) => version.datasetId))) {
    const ranges = await t.all<{ part: number }>(
      `DELETE FROM part_ranges WHERE dataset_id = ? AND NOT EXISTS (SELECT 1 FROM versions v
         WHERE v.dataset_id = part_ranges.dataset_id AND v.id >= part_ranges.since AND v.id < part_ranges.until)
       RETURNING part_id AS part`,
      datasetId,
    )
    parts.push(...ranges.map(({ part }) => part))
  }
  return parts
}
