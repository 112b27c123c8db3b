import type { Database, Handle } from '../database.ts'
import { isKept } from '../history.ts'
import type { Keep } from '../records.ts'
import { type RemovedPart, removeVersions } from '../versions.ts'

/** A node that has not been heard of for this time is dead. It knows that itself, and begins no new reading. */
export const DEAD_MS = 45_000
/**
 * How long a version that no dataset shows stays. Within this time every node that reads it has said so: what it recalls
 * of a dataset is at most 30 seconds old, and what it reads is told every 10.
 */
const GRACE_MS = 120_000
/** A job that a node is at for longer is taken for stuck, and given to another. */
const LONGEST_JOB_MS = 600_000

const IS_SHOWN = 'EXISTS (SELECT 1 FROM datasets d WHERE d.version_id = versions.id)'

/** Nothing of what nodes write down here is cached, nor are versions that nothing shows. */
const UNCACHED = { changes: [] }

interface NodeJob {
  readonly kind: string
  readonly subject: number
}

/** What the nodes of a cluster write down about themselves in PostgreSQL, all by its clock. */
export class NodeTables {
  readonly #database: Database
  readonly #now: string
  readonly #keep: Keep

  constructor(database: Database, keep: Keep) {
    this.#keep = keep
    this.#database = database
    this.#now = database.dialect.now
  }

  /** Says that a node lives and which versions it reads. */
  beat(id: string, name: string, versions: readonly number[]): Promise<void> {
    const pinned = `{${versions.join(',')}}`
    return this.#database.transient(async (t) => {
      await t.run(
        `INSERT INTO nodes (id, name, seen) VALUES (?, ?, ${this.#now})
         ON CONFLICT (id) DO UPDATE SET seen = excluded.seen`,
        id,
        name,
      )
      await t.run(
        'DELETE FROM leases WHERE process = ? AND NOT version_id = ANY(CAST(? AS bigint[]))',
        id,
        pinned,
      )
      await t.run(
        `INSERT INTO leases (version_id, process) SELECT id, ? FROM versions WHERE id = ANY(CAST(? AS bigint[]))
         ON CONFLICT (version_id, process) DO NOTHING`,
        id,
        pinned,
      )
    })
  }

  /** Removes a node that ends; others take up what it leaves. */
  leave(id: string): Promise<void> {
    return this.#database.transaction(async (t) => {
      await t.run('DELETE FROM nodes WHERE id = ?', id)
      await takeUp(t, this.#now)
    }, UNCACHED)
  }

  /** Forgets nodes that have died; gives how many. */
  forgetDead(): Promise<number> {
    return this.#database.transaction(async (t) => {
      const dead = await t.run(`DELETE FROM nodes WHERE seen < ${this.#now} - ?`, DEAD_MS)
      if (dead > 0) await takeUp(t, this.#now)
      return dead
    }, UNCACHED)
  }

  /** How many nodes live, and how many jobs have been due for longer than it takes a node to look for them. */
  async count(): Promise<{ readonly nodes: number; readonly overdueJobs: number }> {
    const found = await this.#database.get<{ nodes: number; overdueJobs: number }>(
      `SELECT (SELECT count(*) FROM nodes WHERE seen >= ${this.#now} - ?) AS nodes,
         (SELECT count(*) FROM jobs WHERE due < ${this.#now} - ?) AS "overdueJobs"`,
      DEAD_MS,
      DEAD_MS,
    )
    return found!
  }

  /** The names of the nodes that run. */
  async names(): Promise<string[]> {
    const rows = await this.#database.all<{ name: string }>('SELECT name FROM nodes ORDER BY name')
    return rows.map(({ name }) => name)
  }

  /** Whether there are nodes that have died. */
  async areDead(): Promise<boolean> {
    const sql = `SELECT 1 FROM nodes WHERE seen < ${this.#now} - ? LIMIT 1`
    return (await this.#database.get(sql, DEAD_MS)) !== undefined
  }

  /**
   * Makes versions of a dataset that it no longer shows stay as if they had been replaced only now, so that this node
   * has time to say that it reads one. One that is just being removed is gone when this resolves.
   */
  async prolong(datasetId: number, number: number): Promise<void> {
    const sql = `UPDATE versions SET retired_at = ${this.#now} WHERE dataset_id = ? AND number = ? AND NOT ${IS_SHOWN}`
    await this.#database.transient((t) => t.run(sql, datasetId, number))
  }

  /** Removes versions that are neither shown nor kept and that no node reads; gives parts up that are in none. */
  reclaim(): Promise<void> {
    return this.#database.transaction(async (t) => {
      await t.run(
        `UPDATE versions SET retired_at = ${this.#now} WHERE retired_at IS NULL AND NOT ${IS_SHOWN}
         AND NOT ${isKept(this.#keep)}`,
      )
      await removeVersions(
        t,
        `retired_at < ${this.#now} - ? AND NOT ${IS_SHOWN} AND NOT ${isKept(this.#keep)}
         AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.version_id = versions.id)`,
        GRACE_MS,
      )
      await t.run(
        `UPDATE parts SET given_up_at = ${this.#now} WHERE process IS NULL AND given_up_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM part_ranges r WHERE r.part_id = parts.id)`,
      )
    }, UNCACHED)
  }

  /** Parts whose bytes are to be removed. */
  givenUp(): Promise<RemovedPart[]> {
    return this.#database.all<RemovedPart>('SELECT id, hash FROM parts WHERE given_up_at IS NOT NULL')
  }

  /** Forgets a part whose bytes were removed. */
  async forgetPart(id: number): Promise<void> {
    const sql = 'DELETE FROM parts WHERE id = ? AND given_up_at IS NOT NULL'
    await this.#database.transient((t) => t.run(sql, id))
  }

  /** Writes down a job that is due from time to time, unless it is there. */
  async expect(job: NodeJob): Promise<void> {
    const sql =
      'INSERT INTO jobs (kind, subject, due) VALUES (?, ?, 0) ON CONFLICT (kind, subject) DO NOTHING'
    await this.#database.transient((t) => t.run(sql, job.kind, job.subject))
  }

  /** Takes a new job; gives false if another node has the same one. */
  async begin({ kind, subject }: NodeJob, node: string): Promise<boolean> {
    const sql = `INSERT INTO jobs (kind, subject, due, taken_by) VALUES (?, ?, ${this.#now} + ${LONGEST_JOB_MS}, ?)
      ON CONFLICT (kind, subject) DO NOTHING`
    return (await this.#database.transient((t) => t.run(sql, kind, subject, node))) > 0
  }

  /** Takes the job that has been due for longest and that no other node is just taking. */
  takeDue(node: string): Promise<NodeJob | undefined> {
    return this.#database.transient((t) =>
      t.get<NodeJob>(
        `UPDATE jobs SET due = ${this.#now} + ${LONGEST_JOB_MS}, taken_by = ? WHERE (kind, subject) = (
           SELECT kind, subject FROM jobs WHERE due <= ${this.#now} ORDER BY due LIMIT 1 FOR UPDATE SKIP LOCKED)
         RETURNING kind, subject`,
        node,
      ),
    )
  }

  /** Ends a job. @param again after how many milliseconds it is due again; undefined: never */
  async done({ kind, subject }: NodeJob, node: string, again: number | undefined): Promise<void> {
    const mine = 'WHERE kind = ? AND subject = ? AND taken_by = ?'
    const sql =
      again === undefined
        ? `DELETE FROM jobs ${mine}`
        : `UPDATE jobs SET due = ${this.#now} + ${again}, taken_by = NULL ${mine}`
    await this.#database.transient((t) => t.run(sql, kind, subject, node))
  }
}

/** Takes back what belonged to nodes that are no longer there: leases, parts that they were writing, jobs. */
async function takeUp(t: Handle, now: string): Promise<void> {
  const isGone = (column: string) => `${column} IS NOT NULL AND ${column} NOT IN (SELECT id FROM nodes)`
  // Its clients may go on at another node, which then says that it reads these versions.
  await t.run(
    `UPDATE versions SET retired_at = ${now} WHERE retired_at IS NOT NULL
     AND id IN (SELECT version_id FROM leases WHERE ${isGone('process')})`,
  )
  await t.run(`DELETE FROM leases WHERE ${isGone('process')}`)
  await t.run(`UPDATE parts SET given_up_at = ${now} WHERE given_up_at IS NULL AND ${isGone('process')}`)
  await t.run(`UPDATE jobs SET due = 0, taken_by = NULL WHERE ${isGone('taken_by')}`)
}
