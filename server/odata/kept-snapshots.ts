import { LRUCache } from 'lru-cache'
import type { Dataset, Snapshot } from '../../engine/index.ts'
import { ODataError } from './errors.ts'

/** How long a version is kept after a page of it was asked for, and how many are kept at once. */
const KEPT_MS = 10 * 60_000
const MOST_KEPT = 256

/**
 * Versions whose pages clients still walk through. Without it, a version that is no longer current would be gone
 * between two pages.
 */
export class KeptSnapshots {
  readonly #kept = new LRUCache<string, Snapshot>({
    max: MOST_KEPT,
    ttl: KEPT_MS,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (snapshot) => snapshot[Symbol.dispose](),
  })

  /** Keeps the current version for the pages that follow, if it still is that one. */
  keep(dataset: Dataset, version: number): void {
    if (this.#kept.get(`${dataset.id}.${version}`)) return
    const snapshot = dataset.snapshot()
    if (snapshot.version === version) this.#kept.set(`${dataset.id}.${version}`, snapshot)
    else snapshot[Symbol.dispose]()
  }

  /**
   * Does something with a version that is kept or current.
   * @throws ODataError `gone`
   */
  use<T>(dataset: Dataset, version: number, work: (snapshot: Snapshot) => T): T {
    const kept = this.#kept.get(`${dataset.id}.${version}`)
    if (kept) return work(kept)
    using current = dataset.snapshot()
    if (current.version === version) return work(current)
    throw new ODataError(
      'gone',
      'The version of the dataset that this page belongs to is no longer kept. Begin again from the first page.',
    )
  }

  clear(): void {
    this.#kept.clear()
  }
}
