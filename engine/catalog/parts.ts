import type { Database, Handle } from './database.ts'
import { isUnwritable } from './failures.ts'
import type { Origin, Part } from './records.ts'

export interface PartRow extends Omit<Part, 'statistics' | 'attached'> {
  readonly statistics: string | null
  readonly attached: string | null
}

/** The columns of a `PartRow`. */
export const PART = 'p.id, p.rows, p.bytes, p.raw_bytes AS "rawBytes", p.hash, p.statistics, p.attached'

export function partOf({ statistics, attached, ...row }: PartRow): Part {
  return {
    ...row,
    statistics: statistics === null ? null : JSON.parse(statistics),
    ...(attached !== null && { attached: JSON.parse(attached) }),
  }
}

/** A part that is no longer in the catalog, so that its bytes may be removed. */
export type RemovedPart = Pick<Part, 'id' | 'hash'>

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
/** How many parts are registered at once on one machine, because each write waits for the disk. */
const AT_ONCE = 16
/** Parts are cached only with their version. */
const UNCACHED = { changes: [] }

/**
 * The parts that versions are made of. A part is registered before its file exists, and belongs to the process that
 * writes it until a commit takes it into a version. So each file on disk is in a version, is being written by a known
 * process, or is a leftover.
 */
export class Parts {
  readonly #database: Database
  /** Registered, to be written next. */
  readonly #ahead: number[] = []

  constructor(database: Database) {
    this.#database = database
  }

  /**
   * Registers a part that `process` is about to write. A process of a cluster may be taken for dead, and then loses the
   * parts that are registered for it, so it has none ahead.
   * @param process always the same
   */
  async register(process: string): Promise<number> {
    const known = this.#ahead.shift()
    if (known !== undefined) return known
    const count = this.#database.isShared ? 1 : AT_ONCE
    const ids = await this.#database.transaction(async (t) => {
      const registered: number[] = []
      while (registered.length < count) registered.push(await t.insert(REGISTER, process))
      return registered
    }, UNCACHED)
    this.#ahead.push(...ids.slice(1))
    return ids[0]!
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
