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
 * Versions that this process reads. A lease in the database tells other processes; it is taken with the first reader
 * and kept while the version is current, so that reading the same dataset again writes nothing.
 */
export class Leases {
  readonly #database: Database
  readonly #versions: Versions
  readonly #process: string
  readonly #readers = new Map<number, number>()
  /** Versions read without a lease, for want of room to write one down. */
  readonly #unwritten = new Set<number>()
  readonly #onIdle: () => void
  readonly #onUnwritten: (cause: unknown) => void
  #ended = false

  constructor(
    database: Database,
    versions: Versions,
    process: string,
    on: {
      /** The last reader of a version that is no longer current has left. */
      readonly idle: () => void
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
  take(datasetId: number): Lease {
    let version = this.#versions.current(datasetId)
    if (!this.#readers.has(version.id)) {
      version = this.#leaseCurrent(datasetId)
    }
    const id = version.id
    this.#readers.set(id, (this.#readers.get(id) ?? 0) + 1)
    let released = false
    return {
      version,
      release: () => {
        if (released) return
        released = true
        const left = this.#readers.get(id)! - 1
        this.#readers.set(id, left)
        if (left === 0 && !this.#ended && !this.#isCurrent(id)) this.#onIdle()
      },
    }
  }

  /**
   * Writes down the leases that could not be, and gives back those that nobody uses and that a dataset has moved on
   * from. Call it before versions are reclaimed.
   */
  settle(): void {
    for (const id of this.#unwritten) {
      if (this.#readers.has(id)) this.#versions.lease(id, this.#process)
      this.#unwritten.delete(id)
    }
    for (const [id, readers] of this.#readers) {
      if (readers > 0 || this.#isCurrent(id)) continue
      this.#versions.release(id, this.#process)
      this.#readers.delete(id)
    }
  }

  /** Before the database is closed. What is released later, by a query that lives longer, changes nothing. */
  end(): void {
    this.#ended = true
  }

  get readers(): number {
    let total = 0
    for (const readers of this.#readers.values()) total += readers
    return total
  }

  #leaseCurrent(datasetId: number): Version {
    try {
      return this.#database.transient(() => {
        const version = this.#versions.current(datasetId)
        this.#versions.lease(version.id, this.#process)
        return version
      })
    } catch (error) {
      // Reading goes on while nothing can be written. Until it can, nothing is reclaimed either.
      if (!isUnwritable(error)) throw error
      if (this.#unwritten.size === 0) this.#onUnwritten(error)
      const version = this.#versions.current(datasetId)
      this.#unwritten.add(version.id)
      return version
    }
  }

  #isCurrent(versionId: number): boolean {
    return this.#database.get('SELECT 1 FROM datasets WHERE version_id = ?', versionId) !== undefined
  }
}
