import type { Database } from '../catalog/database.ts'
import { isUnwritable } from '../catalog/failures.ts'
import type { Version } from '../catalog/records.ts'
import type { Versions } from '../catalog/versions.ts'

/** A version that stays on disk until it is released. Releasing twice is harmless. */
export interface Lease {
  readonly version: Version
  release(): void
}

/**
 * Keeps the versions that this process reads. A lease in the database tells other processes about it. The first reader
 * writes the lease, and it stays while the version is current, so that reading the same dataset again writes nothing.
 */
export class Leases {
  readonly #database: Database
  readonly #versions: Versions
  readonly #process: string
  /** How many readers each version has. */
  readonly #readers = new Map<number, number>()
  /** Versions whose lease is in the database. */
  readonly #written = new Set<number>()
  /**
   * Versions that are read without a lease in the database, because nothing could be written, for example on a full
   * disk.
   */
  readonly #unwritten = new Set<number>()
  readonly #onIdle: (datasetId: number, versionId: number) => void
  readonly #onUnwritten: (cause: unknown) => void
  #ended = false

  constructor(
    database: Database,
    versions: Versions,
    process: string,
    on: {
      /** The last reader of a version has left. */
      readonly idle: (datasetId: number, versionId: number) => void
      /** A lease could not be written down. */
      readonly unwritten: (cause: unknown) => void
    },
  ) {
    this.#database = database
    this.#versions = versions
    this.#process = process
    this.#onIdle = on.idle
    this.#onUnwritten = on.unwritten
  }

  /** @throws EngineError `not_found` */
  async take(datasetId: number): Promise<Lease> {
    const version = await this.#versions.current(datasetId)
    if (this.#written.has(version.id) || this.#unwritten.has(version.id)) {
      return this.#enter(datasetId, version)
    }
    return this.#leaseCurrent(datasetId)
  }

  /**
   * Writes the leases that could not be written before, and removes those of versions that nobody reads and that are no
   * longer current. Call it before versions are reclaimed.
   */
  async settle(): Promise<void> {
    for (const id of this.#unwritten) {
      if (this.#readers.has(id)) {
        await this.#versions.lease(id, this.#process)
        this.#written.add(id)
      }
      this.#unwritten.delete(id)
    }
    for (const id of this.#written) {
      if (this.#readers.has(id) || (await this.#versions.isCurrent(id))) continue
      // Somebody may have begun to read while we waited. A reader that begins after this check finds no lease in
      // `#written`, and writes a new one after this one is removed.
      if (this.#readers.has(id)) continue
      this.#written.delete(id)
      try {
        await this.#versions.release(id, this.#process)
      } catch (error) {
        this.#written.add(id)
        throw error
      }
    }
  }

  /** Call it before the database is closed. A query that ends later may still release its lease; that does nothing. */
  end(): void {
    this.#ended = true
  }

  get readers(): number {
    let total = 0
    for (const readers of this.#readers.values()) total += readers
    return total
  }

  #enter(datasetId: number, version: Version): Lease {
    const { id } = version
    this.#readers.set(id, (this.#readers.get(id) ?? 0) + 1)
    let released = false
    return {
      version,
      release: () => {
        if (released) return
        released = true
        const left = this.#readers.get(id)! - 1
        if (left > 0) this.#readers.set(id, left)
        else this.#readers.delete(id)
        if (left === 0 && !this.#ended) this.#onIdle(datasetId, id)
      },
    }
  }

  async #leaseCurrent(datasetId: number): Promise<Lease> {
    let entered: Lease | undefined
    try {
      const lease = await this.#database.transient(async (t) => {
        // The lock keeps others from making another version current, and so from removing this one, before the lease
        // is written.
        await t.lock('datasets', datasetId)
        const versions = this.#versions.in(t)
        const version = await versions.current(datasetId)
        // Counted as a reader from now on, so that `settle` does not remove the lease before the caller has it.
        entered = this.#enter(datasetId, version)
        await versions.lease(version.id, this.#process)
        return entered
      })
      this.#written.add(lease.version.id)
      return lease
    } catch (error) {
      entered?.release()
      // Reading must work even while nothing can be written. It is safe without a lease in the database: removing
      // versions needs writing, too.
      if (!isUnwritable(error)) throw error
      if (this.#unwritten.size === 0) this.#onUnwritten(error)
      const version = await this.#versions.current(datasetId)
      this.#unwritten.add(version.id)
      return this.#enter(datasetId, version)
    }
  }
}
