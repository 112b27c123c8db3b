import type { Database } from './database.ts'
import { isUnwritable } from './failures.ts'
import type { Part } from './records.ts'

export interface PartRow extends Omit<Part, 'statistics'> {
  readonly statistics: string | null
}

/** The columns of a `PartRow`. */
export const PART = 'p.id, p.rows, p.bytes, p.raw_bytes AS "rawBytes", p.hash, p.statistics'

export function partOf({ statistics, ...row }: PartRow): Part {
  return { ...row, statistics: statistics === null ? null : JSON.parse(statistics) }
}

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
    const sql = 'INSERT INTO parts (process) VALUES (?)'
    return this.#database.transaction((t) => t.insert(sql, process), UNCACHED)
  }

  /** @param blockSums the sums of its blocks, if it may be read by ranges */
  async describe(part: Part, blockSums?: string): Promise<void> {
    await this.#database.transaction(
      (t) =>
        t.run(
          'UPDATE parts SET rows = ?, bytes = ?, raw_bytes = ?, hash = ?, statistics = ?, checked_at = ?, block_sums = ? WHERE id = ?',
          part.rows,
          part.bytes,
          part.rawBytes,
          part.hash,
          part.statistics && JSON.stringify(part.statistics),
          new Date().toISOString(),
          blockSums ?? null,
          part.id,
        ),
      UNCACHED,
    )
  }

  async addBlockSums(id: number, blockSums: string): Promise<void> {
    const sql = 'UPDATE parts SET block_sums = ? WHERE id = ?'
    await this.#database.transaction((t) => t.run(sql, blockSums, id), UNCACHED)
  }

  /**
   * The hash of a part as it is known now, and the sums of its blocks, which no `Part` has because only cold reads need
   * them; null if they were never computed. Undefined if the part is gone.
   */
  find(id: number): Promise<{ readonly hash: string | null; readonly blockSums: string | null } | undefined> {
    return this.#database.get('SELECT hash, block_sums AS "blockSums" FROM parts WHERE id = ?', id)
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

  /** The highest id that a part ever got. */
  newest(): Promise<number> {
    return this.#database.newestId('parts')
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

  /** The committed part whose last check is longest ago, if that was before the given moment. */
  async toCheck(before: string): Promise<Part | undefined> {
    const row = await this.#database.get<PartRow>(
      `SELECT ${PART} FROM parts p WHERE process IS NULL AND given_up_at IS NULL AND (checked_at IS NULL OR checked_at < ?)
       ORDER BY checked_at IS NOT NULL, checked_at, id LIMIT 1`,
      before,
    )
    return row && partOf(row)
  }
}
