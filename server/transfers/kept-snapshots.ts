import { LRUCache } from 'lru-cache'
import { type Dataset, EngineError, type Snapshot } from '../../engine/index.ts'

/** How long a version is kept after its last use, and how many are kept at once. */
const KEPT_MS = 10 * 60_000
const MOST_KEPT = 256

/**
 * Keeps versions that clients read with several requests, such as pages of a feed or ranges of files. Without it, a
 * version that is no longer current could be removed between two requests. A version that one node keeps can be read on
 * every other one.
 */
export class KeptSnapshots {
  readonly #snapshots = new LRUCache<string, Snapshot>({
    max: MOST_KEPT,
    ttl: KEPT_MS,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (snapshot) => snapshot[Symbol.dispose](),
  })

  /**
   * Keeps a version for later requests, and disposes it then. Another request may have kept the same one and may be
   * reading from it; then that is given.
   */
  keep(dataset: Dataset, snapshot: Snapshot): Snapshot {
    return this.#keep(nameOf(dataset, snapshot.version), snapshot)
  }

  /**
   * Gives a version that somebody keeps or that is current, and keeps it for later requests. Don't dispose it.
   * @param version undefined for the current one
   * @param options `file` is the number of a file that it should have: a merge gives the same version other files
   * @throws EngineError `version_gone`
   */
  async get(
    dataset: Dataset,
    version: number | undefined,
    options: Parameters<Dataset['snapshotOf']>[1] = {},
  ): Promise<Snapshot> {
    const { file, ...reading } = options
    if (version === undefined) return this.keep(dataset, await dataset.snapshot(undefined, reading))
    const name = nameOf(dataset, version)
    const found = await this.#find(name, () => dataset.snapshotOf(version, reading))
    const isOther = file !== undefined && !found?.hasFile(file)
    const other = isOther && (await this.#find(`${name}.${file}`, () => dataset.snapshotOf(version, options)))
    const held = other || found
    if (held) return held
    throw new EngineError(
      'version_gone',
      `Version ${version} of dataset ${dataset.id} is no longer kept. Start again with the current one.`,
    )
  }

  clear(): void {
    this.#snapshots.clear()
  }

  async #find(name: string, find: () => Promise<Snapshot | undefined>): Promise<Snapshot | undefined> {
    const held = this.#snapshots.get(name)
    if (held) return held
    const found = await find()
    return found && this.#keep(name, found)
  }

  #keep(name: string, snapshot: Snapshot): Snapshot {
    const other = this.#snapshots.get(name)
    if (other) snapshot[Symbol.dispose]()
    else this.#snapshots.set(name, snapshot)
    return other ?? snapshot
  }
}

function nameOf(dataset: Dataset, version: number): string {
  return `${dataset.id}.${version}`
}
