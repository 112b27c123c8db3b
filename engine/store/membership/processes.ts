import { isUnwritable } from '../../catalog/failures.ts'
import type { Version } from '../../catalog/records.ts'
import type { NumberedVersion, RemovedPart, Versions } from '../../catalog/versions.ts'
import type { StoreContext } from '../context.ts'
import { removeDeadMarks } from './mark.ts'
import { type Job, type Lease, Leases, type Membership } from './membership.ts'

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
    return (await this.#lease(datasetId, (inside) => inside.current(datasetId)))!
  }

  takeNumbered(datasetId: number, wanted: NumberedVersion): Promise<Lease | undefined> {
    return this.#lease(datasetId, (inside) => inside.numbered(datasetId, wanted))
  }

  /** Does the work itself: if another process on the directory does the same, only time is lost. */
  assign(job: Job): Promise<void> {
    return this.#work(job)
  }

  forgetDead(): Promise<number> {
    const { storage, versions } = this.#context
    return removeDeadMarks(storage.layout, versions)
  }

  async reclaim(remove: (part: RemovedPart) => Promise<boolean>, datasetId: number): Promise<void> {
    await this.#settle()
    for (const part of await this.#context.versions.reclaim(datasetId)) await remove(part)
  }

  end(): void {
    this.#ended = true
  }

  leave(): Promise<void> {
    return this.#context.versions.forgetProcess(this.#id)
  }

  /**
   * Writes the leases that could not be written before, and removes those of versions that nobody reads and that are no
   * longer current.
   */
  async #settle(): Promise<void> {
    const { versions } = this.#context
    for (const id of this.#unwritten) {
      if (this.#leases.has(id)) {
        await versions.lease(id, this.#id)
        this.#written.add(id)
      }
      this.#unwritten.delete(id)
    }
    for (const id of this.#written) {
      if (this.#leases.has(id) || (await versions.isCurrent(id))) continue
      // Somebody may have begun to read while we waited. A reader that begins after this check finds no lease in
      // `#written`, and writes a new one after this one is removed.
      if (this.#leases.has(id)) continue
      this.#written.delete(id)
      try {
        await versions.release(id, this.#id)
      } catch (error) {
        this.#written.add(id)
        throw error
      }
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
        const inside = versions.in(t)
        const version = await find(inside)
        if (!version) return undefined
        // Counted as a reader from now on, so that `#settle` does not remove the lease before the caller has it.
        entered = this.#leases.take(datasetId, version)
        await inside.lease(version.id, this.#id)
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
