import { LRUCache } from 'lru-cache'
import type { Dataset, Snapshot } from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'

/** How long a version is kept after its last use, and how many are kept at once. */
const KEPT_MS = 10 * 60_000
const MOST_KEPT = 256

/**
 * Keeps versions that clients read with several requests, such as pages of a feed or ranges of files. Without it, a
 * version that is no longer current could be removed between two requests.
 */
export class KeptSnapshots {
  readonly #kept = new LRUCache<string, Snapshot>({
    max: MOST_KEPT,
    ttl: KEPT_MS,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (snapshot) => snapshot[Symbol.dispose](),
  })

  /** Keeps the given version for later requests, if it is still the current one. */
  async keep(dataset: Dataset, version: number): Promise<void> {
    const key = keyOf(dataset, version)
    if (this.#kept.get(key)) return
    const snapshot = await dataset.snapshot()
    // Another request may have kept the same version meanwhile and may be reading from that snapshot, so it stays.
    if (snapshot.version === version && !this.#kept.has(key)) this.#kept.set(key, snapshot)
    else snapshot[Symbol.dispose]()
  }

  /**
   * Gives a version that is kept or current, and keeps it for later requests. Don't dispose it.
   * @throws ServerError `version_gone`
   */
  async get(dataset: Dataset, version: number): Promise<Snapshot> {
    await this.keep(dataset, version)
    const kept = this.#kept.get(keyOf(dataset, version))
    if (kept) return kept
    throw new ServerError(
      'version_gone',
      `Version ${version} of dataset ${dataset.id} is no longer kept. Start again with the current one.`,
    )
  }

  clear(): void {
    this.#kept.clear()
  }
}

function keyOf(dataset: Dataset, version: number): string {
  return `${dataset.id}.${version}`
}
