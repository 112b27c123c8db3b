import { LRUCache } from 'lru-cache'
import { EngineError } from '../errors.ts'
import type { Column } from '../types/index.ts'
import type { Database } from './database.ts'
import { isUnwritable } from './failures.ts'
import { now } from './fields.ts'
import type { Part, Version } from './records.ts'

interface VersionRow extends Omit<Version, 'columns' | 'parts'> {
  readonly columns: string
}

const PART = 'p.id, p.rows, p.bytes, p.raw_bytes AS rawBytes, p.hash, p.statistics'

/** Parts of versions that are kept in memory: half a kilobyte each, for a dozen columns. */
const MOST_KNOWN = 50_000

/**
 * Versions and the parts that they are made of. A part is registered before its file exists and belongs to its
 * writer's process until a commit takes it into a version: so a file on disk is either in a version, or known to be
 * in the making, or a leftover.
 */
export class Versions {
  readonly #database: Database
  readonly #known = new LRUCache<number, readonly Part[]>({
    maxSize: MOST_KNOWN,
    sizeCalculation: (parts) => parts.length + 1,
  })

  constructor(database: Database) {
    this.#database = database
  }

  /** The version that a dataset shows now. @throws EngineError `not_found` */
  current(datasetId: number): Version {
    return this.#database.recall(`version of ${datasetId}`, () => this.#current(datasetId))
  }

  #current(datasetId: number): Version {
    const row = this.#database.get<VersionRow>(
      `SELECT v.id, v.number, v.columns, v.rows, v.bytes, v.raw_bytes AS rawBytes,
         v.created_at AS createdAt
       FROM datasets d JOIN versions v ON v.id = d.version_id WHERE d.id = ?`,
      datasetId,
    )
    if (!row) throw new EngineError('not_found', `There is no dataset ${datasetId}.`)
    return { ...row, columns: JSON.parse(row.columns), parts: this.#parts(row.id) }
  }

  /** Makes a new version of a dataset visible. Call it in a transaction that read the current one. */
  commit(
    datasetId: number,
    content: { columns: readonly Column[]; parts: readonly Part[]; number: number },
  ): Version {
    const at = now()
    const sum = (key: 'rows' | 'bytes' | 'rawBytes') =>
      content.parts.reduce((total, part) => total + part[key], 0)
    const { id } = this.#database.run(
      'INSERT INTO versions (number, columns, rows, bytes, raw_bytes, created_at) VALUES (?, ?, ?, ?, ?, ?)',
      content.number,
      JSON.stringify(content.columns),
      sum('rows'),
      sum('bytes'),
      sum('rawBytes'),
      at,
    )
    for (const [position, part] of content.parts.entries()) {
      this.#database.run('INSERT INTO version_parts VALUES (?, ?, ?)', id, position, part.id)
      this.#database.run('UPDATE parts SET process = NULL WHERE id = ? AND process IS NOT NULL', part.id)
    }
    const changed = this.#database.run(
      'UPDATE datasets SET version_id = ?, updated_at = ? WHERE id = ?',
      id,
      at,
      datasetId,
    ).changes
    if (changed === 0) throw new EngineError('not_found', `There is no dataset ${datasetId}.`)
    return this.current(datasetId)
  }

  /** Registers a part that `process` is about to write. */
  newPart(process: string): number {
    return this.#database.run('INSERT INTO parts (process) VALUES (?)', process).id
  }

  describePart(part: Part): void {
    this.#database.run(
      'UPDATE parts SET rows = ?, bytes = ?, raw_bytes = ?, hash = ?, statistics = ?, checked_at = ? WHERE id = ?',
      part.rows,
      part.bytes,
      part.rawBytes,
      part.hash,
      part.statistics && JSON.stringify(part.statistics),
      now(),
      part.id,
    )
  }

  /** Forgets a part whose write failed. */
  dropPart(id: number): void {
    this.#database.run('DELETE FROM parts WHERE id = ? AND process IS NOT NULL', id)
  }

  lease(versionId: number, process: string): void {
    this.#database.run('INSERT OR IGNORE INTO leases VALUES (?, ?)', versionId, process)
  }

  release(versionId: number, process: string): void {
    this.#database.run('DELETE FROM leases WHERE version_id = ? AND process = ?', versionId, process)
  }

  /** Forgets what processes that ended have left behind: leases, and parts never committed. */
  forgetProcess(process: string): void {
    this.#database.run('DELETE FROM leases WHERE process = ?', process)
    this.#database.run('DELETE FROM parts WHERE process = ?', process)
  }

  processes(): string[] {
    return this.#database
      .all<{ process: string }>(
        'SELECT process FROM leases UNION SELECT process FROM parts WHERE process IS NOT NULL',
      )
      .map((row) => row.process)
  }

  /** Removes versions that no dataset shows and nobody reads; gives the parts that no version holds any more. */
  reclaim(): number[] {
    return this.#database.transaction(() => {
      this.#database.run(
        `DELETE FROM versions WHERE id NOT IN (SELECT version_id FROM datasets)
         AND id NOT IN (SELECT version_id FROM leases)`,
      )
      const parts = this.#database.all<{ id: number }>(
        'SELECT id FROM parts WHERE process IS NULL AND id NOT IN (SELECT part_id FROM version_parts)',
      )
      this.#database.run(
        'DELETE FROM parts WHERE process IS NULL AND id NOT IN (SELECT part_id FROM version_parts)',
      )
      return parts.map((part) => part.id)
    })
  }

  /** Every part that a file may stand for. */
  allParts(): Part[] {
    return this.#database.all<PartRow>(`SELECT ${PART} FROM parts p ORDER BY id`).map(partOf)
  }

  /** Those of some versions that are no longer there. */
  gone(ids: readonly number[]): number[] {
    return ids.filter((id) => !this.#database.get('SELECT 1 FROM versions WHERE id = ?', id))
  }

  /** The highest number that a part was ever given. */
  newestPart(): number {
    return (
      this.#database.get<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'parts'")?.seq ?? 0
    )
  }

  /** What is wrong with parts that were found damaged, by their ids. */
  damagedParts(): Map<number, string> {
    const rows = this.#database.all<{ id: number; damage: string }>(
      'SELECT id, damage FROM parts WHERE damage IS NOT NULL',
    )
    return new Map(rows.map(({ id, damage }) => [id, damage]))
  }

  /** Writes down what reading all of a part's file has shown. Lost in a power cut, it is found again. */
  noteCheck(id: number, found: { hash: string | null; damage: string | undefined }): void {
    try {
      this.#database.transient(() =>
        this.#database.run(
          'UPDATE parts SET hash = coalesce(?, hash), damage = ?, checked_at = ? WHERE id = ?',
          found.hash,
          found.damage ?? null,
          now(),
          id,
        ),
      )
    } catch (error) {
      // It is known in memory, and who reads a damaged part hears so.
      if (!isUnwritable(error)) throw error
    }
  }

  /** The part of a version that was checked longest ago, if that was before a moment. */
  partToCheck(before: string): Part | undefined {
    const row = this.#database.get<PartRow>(
      `SELECT ${PART} FROM parts p WHERE process IS NULL AND (checked_at IS NULL OR checked_at < ?)
       ORDER BY checked_at IS NOT NULL, checked_at, id LIMIT 1`,
      before,
    )
    return row && partOf(row)
  }

  hashOf(id: number): string | null {
    return (
      this.#database.get<{ hash: string | null }>('SELECT hash FROM parts WHERE id = ?', id)?.hash ?? null
    )
  }

  hasPart(id: number): boolean {
    return this.#database.get('SELECT 1 FROM parts WHERE id = ?', id) !== undefined
  }

  /** A version never changes, so its parts are kept, however often something else is written. */
  #parts(versionId: number): readonly Part[] {
    // Inside of a transaction that is taken back, its number will be another version's.
    if (this.#database.inTransaction) return this.#readParts(versionId)
    let parts = this.#known.get(versionId)
    if (!parts) {
      parts = this.#readParts(versionId)
      this.#known.set(versionId, parts)
    }
    return parts
  }

  #readParts(versionId: number): Part[] {
    return this.#database
      .all<PartRow>(
        `SELECT ${PART} FROM version_parts vp JOIN parts p ON p.id = vp.part_id
         WHERE vp.version_id = ? ORDER BY vp.position`,
        versionId,
      )
      .map(partOf)
  }
}

interface PartRow extends Omit<Part, 'statistics'> {
  readonly statistics: string | null
}

function partOf({ statistics, ...row }: PartRow): Part {
  return { ...row, statistics: statistics === null ? null : JSON.parse(statistics) }
}
