import type { Version } from '../../catalog/records.ts'

/** A version that stays on disk until the lease is disposed. Disposing it twice is harmless. */
export interface Lease extends Disposable {
  readonly version: Version
}

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
    let released = false
    return {
      version,
      [Symbol.dispose]: () => {
        if (released) return
        released = true
        const left = this.#counts.get(id)! - 1
        if (left > 0) this.#counts.set(id, left)
        else this.#counts.delete(id)
        if (left === 0) this.#onIdle(datasetId, id)
      },
    }
  }
}
