import type { Handle } from '../../catalog/database.ts'
import { isUnwritable } from '../../catalog/failures.ts'
import type { Version } from '../../catalog/records.ts'
import type { NumberedVersion, Versions } from '../../catalog/versions.ts'
import { once } from '../../util/shared.ts'
import type { StoreContext } from '../context.ts'
import { forgetProcess, removeDeadMarks } from './mark.ts'
import type { Job, Lease, Membership, RemoveParts } from './membership.ts'

/** The leases that this process holds, by version. */
export class Leases {
  readonly #counts = new Map<number, number>()
  readonly #onIdle: (datasetId: number, versionId: number) => void

  /** @param onIdle called when the last reader of a version has left */
  constructor(onIdle: (datasetId: number, versionId: number) => void = () => {}) {
    this.#onIdle = onIdle
  }

  get total(): number {
    let total = 0
    for (const count of this.#counts.values()) total += count
    return total
  }

  /** The ids of the versions that are read. */
  get versions(): number[] {
    return [...this.#counts.keys()]
  }

  has(versionId: number): boolean {
    return this.#counts.has(versionId)
  }

  take(datasetId: number, version: Version): Lease {
    const { id } = version
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1)
    return {
      version,
      [Symbol.dispose]: once(() => {
        const left = this.#counts.get(id)! - 1
        if (left > 0) this.#counts.set(id, left)
        else this.#counts.delete(id)
        if (left === 0) this.#onIdle(datasetId, id)
      }),
    }
  }
}

const SHOWN = 'SELECT 1 FROM datasets WHERE version_id = ?'

/**
 * The processes on one data directory. Whether one lives is told by the lock on a file. A lease in the catalog tells the
 * others which version it reads. The first reader writes the lease, and it stays while the version is current, so that
 * reading the same dataset again writes nothing.
 */
export class Processes implements Membership {
  readonly #context: StoreContext
  readonly #work: (job: Job) => Promise<void>
  readonly #leases: Leases
  /** Versions whose lease is in the database. */
  readonly #written = new Set<number>()
  /**
   * Versions that are read without a lease in the database, because nothing could be written, for example on a full
   * disk.
   */
  readonly #unwritten = new Set<number>()
  #ended = false

  /** @param onIdle called when the last reader of a version has left */
  constructor(
    context: StoreContext,
    work: (job: Job) => Promise<void>,
    onIdle: (datasetId: number, versionId: number) => void,
  ) {
    this.#context = context
    this.#work = work
    this.#leases = new Leases((datasetId, versionId) => {
      if (!this.#ended) onIdle(datasetId, versionId)
    })
  }

  get #id(): string {
    return this.#context.storage.mark.id
  }

  /** Does nothing: the lock on its file is there since the directory was opened. */
  async start(): Promise<void> {}

  get readers(): number {
    return this.#leases.total
  }

  async cluster(): Promise<undefined> {}

  async take(datasetId: number): Promise<Lease> {
    const version = await this.#context.versions.current(datasetId)
    if (this.#written.has(version.id) || this.#unwritten.has(version.id)) {
      return this.#leases.take(datasetId, version)
    }
    return (await this.#lease(datasetId, (versions) => versions.current(datasetId)))!
  }

  takeNumbered(datasetId: number, version: NumberedVersion): Promise<Lease | undefined> {
    return this.#lease(datasetId, (versions) => versions.numbered(datasetId, version))
  }

  /** Does the work itself: if another process on the directory does the same, only time is lost. */
  assign(job: Job): Promise<void> {
    return this.#work(job)
  }

  forgetDead(): Promise<number> {
    const { layout, database } = this.#context.storage
    return removeDeadMarks(layout, database)
  }

  async reclaim(remove: RemoveParts, datasetId: number): Promise<void> {
    await this.#settle()
    await remove(await this.#context.versions.reclaim(datasetId))
  }

  end(): void {
    this.#ended = true
  }

  leave(): Promise<void> {
    return forgetProcess(this.#context.storage.database, this.#id)
  }

  /**
   * Writes the leases that could not be written before, and removes those of versions that nobody reads and that are no
   * longer current.
   */
  async #settle(): Promise<void> {
    const { database } = this.#context.storage
    for (const id of this.#unwritten) {
      if (this.#leases.has(id)) {
        await writeLease(database, id, this.#id)
        this.#written.add(id)
      }
      this.#unwritten.delete(id)
    }
    const left: number[] = []
    for (const id of this.#written) {
      if (!this.#leases.has(id) && !(await database.get(SHOWN, id))) left.push(id)
    }
    if (left.length === 0) return
    let ended: number[] = []
    try {
      await database.transient(async (t) => {
        // Somebody may have begun to read while we waited. A reader that begins after this check finds no lease in
        // `#written`, and writes a new one after this transaction.
        ended = left.filter((id) => !this.#leases.has(id))
        for (const id of ended) this.#written.delete(id)
        const sql = `DELETE FROM leases WHERE version_id IN (${ended.join(', ')}) AND process = ?`
        await t.run(sql, this.#id)
      })
    } catch (error) {
      for (const id of ended) this.#written.add(id)
      throw error
    }
  }

  async #lease(
    datasetId: number,
    find: (versions: Versions) => Promise<Version | undefined>,
  ): Promise<Lease | undefined> {
    const { storage, versions, events } = this.#context
    let entered: Lease | undefined
    try {
      const lease = await storage.database.transient(async (t) => {
        // The lock keeps others from making another version current, and so from removing this one, before the lease
        // is written.
        await t.lock('datasets', datasetId)
        const version = await find(versions.in(t))
        if (!version) return undefined
        // Counted as a reader from now on, so that `#settle` does not remove the lease before the caller has it.
        entered = this.#leases.take(datasetId, version)
        await writeLease(t, version.id, this.#id)
        return entered
      })
      if (lease) this.#written.add(lease.version.id)
      return lease
    } catch (error) {
      entered?.[Symbol.dispose]()
      // Reading must work even while nothing can be written. It is safe without a lease in the database: removing
      // versions needs writing, too.
      if (!isUnwritable(error)) throw error
      if (this.#unwritten.size === 0) {
        const message =
          'Recording which versions are being read failed; nothing is removed until it succeeds.'
        events.tell('lease_unwritten', message, { cause: error })
      }
      const version = await find(versions)
      if (!version) return undefined
      this.#unwritten.add(version.id)
      return this.#leases.take(datasetId, version)
    }
  }
}

async function writeLease(on: Handle, versionId: number, process: string): Promise<void> {
  const sql = 'INSERT INTO leases VALUES (?, ?) ON CONFLICT (version_id, process) DO NOTHING'
  await on.run(sql, versionId, process)
}
