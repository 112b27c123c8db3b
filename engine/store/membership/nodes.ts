import { hostname } from 'node:os'
import { type Database, type Handle, POSTGRES } from '../../catalog/database.ts'
import { retentionSql } from '../../catalog/history.ts'
import type { RemovedPart } from '../../catalog/parts.ts'
import { type NumberedVersion, removeVersions } from '../../catalog/versions.ts'
import { EngineError } from '../../errors.ts'
import { withTimeout } from '../../util/concurrency.ts'
import type { StoreContext } from '../context.ts'
import { removeDeadMarks } from './mark.ts'
import type { ClusterStats, Job, Lease, Membership, RemoveParts } from './membership.ts'
import { Leases } from './processes.ts'

const BEAT_MS = 10_000
/** A node that has not been heard of for this time is dead. It knows that itself, and begins no new reading. */
const DEAD_MS = 45_000
/**
 * How long a version that no dataset shows stays. Within this time every node that reads it has said so: what it recalls
 * of a dataset is at most 30 seconds old, and what it reads is told every 10.
 */
const GRACE_MS = 120_000
/** A job that a node is at for longer is taken for stuck, and given to another. */
const LONGEST_JOB_MS = 600_000
/** How long figures may wait for the database. */
const COUNTED_MS = 2_000

/** All moments are by the database's clock. */
const NOW = POSTGRES.now
const IS_SHOWN = 'EXISTS (SELECT 1 FROM datasets d WHERE d.version_id = versions.id)'

/** Nothing of what nodes write down here is cached, nor are versions that nothing shows. */
const UNCACHED = { changes: [] }

/** After how many milliseconds jobs are due again that come by themselves. */
const AGAIN: Partial<Record<Job['kind'], number>> = {
  gc: 60_000,
  // It lists everything in the store, which takes minutes and costs money.
  sweep: 86_400_000,
}

/**
 * The nodes of a cluster. Each writes down every ten seconds that it lives and which versions it reads; what it has not
 * told yet is covered by the time for which versions stay. One that is silent for too long is dead: the others take up
 * its jobs and remove what it left.
 */
export class Nodes implements Membership {
  readonly #context: StoreContext
  readonly #work: (job: Job) => Promise<void>
  readonly #looksForJobs: boolean
  readonly #id: string
  readonly #database: Database
  readonly #leases = new Leases()
  #timer: NodeJS.Timeout | undefined
  /** When the last heartbeat that succeeded was begun. */
  #heard = 0
  #isSilent = false
  #beating: Promise<void> = Promise.resolve()
  #working: Promise<void> | undefined
  /** The jobs that this node is just trying to take. */
  readonly #assigning = new Set<string>()

  /** @param looksForJobs a command does only what it brings about itself */
  constructor(context: StoreContext, work: (job: Job) => Promise<void>, looksForJobs: boolean) {
    this.#context = context
    this.#work = work
    this.#looksForJobs = looksForJobs
    this.#id = context.storage.mark.id
    this.#database = context.storage.database
  }

  async start(): Promise<void> {
    // What crashed processes of this machine have left there, nobody else can remove.
    await removeDeadMarks(this.#context.storage.layout)
    await this.#beat()
    if (this.#looksForJobs) {
      const sql =
        'INSERT INTO jobs (kind, subject, due) VALUES (?, 0, 0) ON CONFLICT (kind, subject) DO NOTHING'
      for (const kind of ['gc', 'sweep']) await this.#database.transient((t) => t.run(sql, kind))
    }
    this.#timer = setInterval(() => this.#database.unattended(() => this.#tick()), BEAT_MS).unref()
  }

  get readers(): number {
    return this.#leases.total
  }

  async cluster(): Promise<ClusterStats> {
    const counting = this.#database.get<{ nodes: number; overdueJobs: number }>(
      `SELECT (SELECT count(*) FROM nodes WHERE seen >= ${NOW} - ?) AS nodes,
         (SELECT count(*) FROM jobs WHERE due < ${NOW} - ?) AS "overdueJobs"`,
      DEAD_MS,
      DEAD_MS,
    )
    const counted = await withTimeout(COUNTED_MS, counting, () => new Error('late')).catch(() => ({}))
    return {
      heartbeatAge: (performance.now() - this.#heard) / 1000,
      waiting: this.#database.waiting,
      ...counted,
    }
  }

  /** @throws EngineError `not_found`; `catalog_unavailable` if the others take this node for dead by now */
  async take(datasetId: number): Promise<Lease> {
    this.#requireHeard()
    return this.#leases.take(datasetId, await this.#context.versions.current(datasetId))
  }

  /** @throws EngineError `catalog_unavailable` as `take` does */
  async takeNumbered(datasetId: number, numbered: NumberedVersion): Promise<Lease | undefined> {
    this.#requireHeard()
    // As if it had been replaced only now, so that this node has time to say that it reads it. A version that is just
    // being removed is gone when this resolves.
    const sql = `UPDATE versions SET retired_at = ${NOW} WHERE dataset_id = ? AND number = ? AND NOT ${IS_SHOWN}`
    await this.#database.transient((t) => t.run(sql, datasetId, numbered.number))
    const version = await this.#context.versions.numbered(datasetId, numbered)
    return version && this.#leases.take(datasetId, version)
  }

  #requireHeard(): void {
    if (performance.now() - this.#heard > DEAD_MS) {
      throw new EngineError(
        'catalog_unavailable',
        'This node could not reach the database for a while. It reads again as soon as it can. Try again in a moment.',
      )
    }
  }

  async assign(job: Job): Promise<void> {
    const name = `${job.kind} ${job.subject}`
    if (AGAIN[job.kind] !== undefined || this.#assigning.has(name)) return
    this.#assigning.add(name)
    let isMine: boolean
    try {
      isMine = await this.#begin(job)
    } catch (error) {
      // Another node is just taking it, and perhaps was cut off while it did.
      if (!(error instanceof EngineError && error.code === 'locked')) throw error
      isMine = false
    } finally {
      this.#assigning.delete(name)
    }
    if (isMine) await this.#do(job)
  }

  /** Takes a new job; gives false if another node has the same one. */
  async #begin({ kind, subject }: Job): Promise<boolean> {
    const sql = `INSERT INTO jobs (kind, subject, due, taken_by) VALUES (?, ?, ${NOW} + ${LONGEST_JOB_MS}, ?)
      ON CONFLICT (kind, subject) DO NOTHING`
    return (await this.#database.transient((t) => t.run(sql, kind, subject, this.#id))) > 0
  }

  async forgetDead(): Promise<number> {
    await removeDeadMarks(this.#context.storage.layout)
    return forgetDeadNodes(this.#database)
  }

  async reclaim(remove: RemoveParts): Promise<void> {
    await this.#beat()
    await this.#retire()
    const given = 'SELECT id, hash FROM parts WHERE given_up_at IS NOT NULL'
    const removed = await remove(await this.#database.all<RemovedPart>(given))
    if (removed.length === 0) return
    const ids = removed.map(({ id }) => id).join(', ')
    const forget = `DELETE FROM parts WHERE id IN (${ids}) AND given_up_at IS NOT NULL`
    await this.#database.transient((t) => t.run(forget))
  }

  /** Removes versions that are neither shown nor kept and that no node reads; gives parts up that are in none. */
  #retire(): Promise<void> {
    const isUnneeded = `NOT ${IS_SHOWN} AND NOT ${retentionSql(this.#context.keep)}`
    return this.#database.transaction(async (t) => {
      await t.run(`UPDATE versions SET retired_at = ${NOW} WHERE retired_at IS NULL AND ${isUnneeded}`)
      await removeVersions(
        t,
        `retired_at < ${NOW} - ? AND ${isUnneeded}
         AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.version_id = versions.id)`,
        GRACE_MS,
      )
      await t.run(
        `UPDATE parts SET given_up_at = ${NOW} WHERE process IS NULL AND given_up_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM part_ranges r WHERE r.part_id = parts.id)`,
      )
    }, UNCACHED)
  }

  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async leave(): Promise<void> {
    await this.#beating
    await this.#working
    await this.#database.transaction(async (t) => {
      await t.run('DELETE FROM nodes WHERE id = ?', this.#id)
      await takeUp(t)
    }, UNCACHED)
  }

  #tick(): void {
    const { events } = this.#context
    this.#beating = this.#beat().then(
      () => {
        this.#isSilent = false
      },
      (cause) => {
        const message = 'Telling the other nodes that this one is running failed.'
        if (!this.#isSilent) events.tell('heartbeat_failed', message, { cause })
        this.#isSilent = true
      },
    )
    if (!this.#looksForJobs || this.#working) return
    this.#working = this.#lookForJobs()
      .catch(events.failure('tidy_failed', 'Background work of the cluster failed.'))
      .finally(() => {
        this.#working = undefined
      })
  }

  /** Says that this node lives and which versions it reads. */
  async #beat(): Promise<void> {
    const begun = performance.now()
    const pinned = `{${this.#leases.versions.join(',')}}`
    await this.#database.transient(async (t) => {
      await t.run(
        `INSERT INTO nodes (id, name, seen) VALUES (?, ?, ${NOW})
         ON CONFLICT (id) DO UPDATE SET seen = excluded.seen`,
        this.#id,
        `${hostname()} ${process.pid}`,
      )
      await t.run(
        'DELETE FROM leases WHERE process = ? AND NOT version_id = ANY(CAST(? AS bigint[]))',
        this.#id,
        pinned,
      )
      await t.run(
        `INSERT INTO leases (version_id, process) SELECT id, ? FROM versions WHERE id = ANY(CAST(? AS bigint[]))
         ON CONFLICT (version_id, process) DO NOTHING`,
        this.#id,
        pinned,
      )
    })
    this.#heard = begun
  }

  async #lookForJobs(): Promise<void> {
    const areDead = `SELECT 1 FROM nodes WHERE seen < ${NOW} - ? LIMIT 1`
    if (await this.#database.get(areDead, DEAD_MS)) await forgetDeadNodes(this.#database)
    for (;;) {
      const job = this.#timer && (await this.#takeDue())
      if (!job) return
      await this.#do(job)
    }
  }

  /** Takes the job that has been due for longest and that no other node is just taking. */
  #takeDue(): Promise<Job | undefined> {
    const sql = `UPDATE jobs SET due = ${NOW} + ${LONGEST_JOB_MS}, taken_by = ? WHERE (kind, subject) = (
        SELECT kind, subject FROM jobs WHERE due <= ${NOW} ORDER BY due LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING kind, subject`
    return this.#database.transient((t) => t.get<Job>(sql, this.#id))
  }

  async #do(job: Job): Promise<void> {
    try {
      await this.#work(job)
    } finally {
      const again = AGAIN[job.kind]
      const mine = 'WHERE kind = ? AND subject = ? AND taken_by = ?'
      const sql =
        again === undefined
          ? `DELETE FROM jobs ${mine}`
          : `UPDATE jobs SET due = ${NOW} + ${again}, taken_by = NULL ${mine}`
      await this.#database.transient((t) => t.run(sql, job.kind, job.subject, this.#id))
    }
  }
}

/** Forgets nodes that have died; gives how many. */
export function forgetDeadNodes(database: Database): Promise<number> {
  return database.transaction(async (t) => {
    const dead = await t.run(`DELETE FROM nodes WHERE seen < ${NOW} - ?`, DEAD_MS)
    if (dead > 0) await takeUp(t)
    return dead
  }, UNCACHED)
}

/** Takes back what belonged to nodes that are no longer there: leases, parts that they were writing, jobs. */
async function takeUp(t: Handle): Promise<void> {
  const isGone = (column: string) => `${column} IS NOT NULL AND ${column} NOT IN (SELECT id FROM nodes)`
  // Its clients may go on at another node, which then says that it reads these versions.
  await t.run(
    `UPDATE versions SET retired_at = ${NOW} WHERE retired_at IS NOT NULL
     AND id IN (SELECT version_id FROM leases WHERE ${isGone('process')})`,
  )
  await t.run(`DELETE FROM leases WHERE ${isGone('process')}`)
  await t.run(`UPDATE parts SET given_up_at = ${NOW} WHERE given_up_at IS NULL AND ${isGone('process')}`)
  await t.run(`UPDATE jobs SET due = 0, taken_by = NULL WHERE ${isGone('taken_by')}`)
}
