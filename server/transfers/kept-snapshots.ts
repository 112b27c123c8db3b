import { LRUCache } from 'lru-cache'
import type { Dataset, Snapshot } from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'

/** How long a version is kept after it was asked for, and how many are kept at once. */
const KEPT_MS = 10 * 60_000
const MOST_KEPT = 256

/**
 * Versions that clients still read with one request after another: pages of a feed, ranges of files. Without it, a
 * version that is no longer current would be gone between two requests.
 */
export class KeptSnapshots {
  readonly #kept = new LRUCache<string, Snapshot>({
    max: MOST_KEPT,
    ttl: KEPT_MS,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (snapshot) => snapshot[Symbol.dispose](),
  })

  /** Keeps the current version for the requests that follow, if it still is that one. */
  async keep(dataset: Dataset, version: number): Promise<void> {
    const key = keyOf(dataset, version)
    if (this.#kept.get(key)) return
    const snapshot = await dataset.snapshot()
    // Another request may have kept it meanwhile, and read from that one.
    if (snapshot.version === version && !this.#kept.has(key)) this.#kept.set(key, snapshot)
    else snapshot[Symbol.dispose]()
  }

  /**
   * A version that is kept or current, kept from now on for the requests that follow. Don't dispose it.
   * @throws ServerError `version_gone`
   */
  async get(dataset: Dataset, version: number): Promise<Snapshot> {
    await this.keep(dataset, version)
    const kept = this.#kept.get(keyOf(dataset, version))
    if (kept) return kept
    throw new ServerError(
      'version_gone',
      `Version ${version} of dataset ${dataset.id} is no longer kept. Begin again with the current one.`,
    )
  }

  clear(): void {
    this.#kept.clear()
  }
}

function keyOf(dataset: Dataset, version: number): string {
  return `${dataset.id}.${version}`
}
