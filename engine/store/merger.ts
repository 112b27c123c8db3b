import { EngineError, type ErrorCode } from '../errors.ts'
import type { Events } from '../events.ts'
import { sameColumns } from '../types/columns.ts'
import type { Commits } from './commits.ts'
import type { Integrity } from './integrity/integrity.ts'
import type { Membership } from './membership/membership.ts'
import { partsToMerge } from './merge.ts'
import type { PartSizes } from './part-size.ts'

/** Errors that may end a merge although nothing is wrong. */
const ENDINGS: readonly ErrorCode[] = ['not_found', 'cancelled', 'writes_stopped']

/** Merges small parts at the end of datasets. The rows stay the same. */
export class Merger {
  readonly #integrity: Integrity
  readonly #members: Membership
  readonly #commits: Commits
  readonly #events: Events
  readonly #sizes: PartSizes
  readonly #merging = new Set<number>()
  readonly #giveUp = new AbortController()

  constructor(integrity: Integrity, members: Membership, commits: Commits, events: Events, sizes: PartSizes) {
    this.#sizes = sizes
    this.#events = events
    this.#integrity = integrity
    this.#members = members
    this.#commits = commits
  }

  /** Merges until there is no run of parts left that is worth merging. */
  async merge(datasetId: number): Promise<void> {
    if (this.#giveUp.signal.aborted || this.#merging.has(datasetId)) return
    this.#merging.add(datasetId)
    try {
      while (await this.#mergeOnce(datasetId));
    } catch (error) {
      // Nothing is lost without the merge. The codes in ENDINGS mean that the dataset was deleted or the merger
      // stopped.
      if (error instanceof EngineError && ENDINGS.includes(error.code)) return
      const message = `Parts of dataset ${datasetId} could not be merged.`
      this.#events.tell('merge_failed', message, { dataset: datasetId, cause: error })
    } finally {
      this.#merging.delete(datasetId)
    }
  }

  /** Aborts merges under way and starts no new ones. */
  giveUp(): void {
    this.#giveUp.abort()
  }

  /** Merges one run of parts. Gives whether there may be more to merge. */
  async #mergeOnce(datasetId: number): Promise<boolean> {
    const { signal } = this.#giveUp
    using lease = await this.#members.take(datasetId)
    const { columns, parts } = lease.version
    const run = partsToMerge(parts, columns.length, this.#sizes)
    if (run.length === 0) return false
    const made = await this.#commits.rewriteParts(this.#integrity, run, columns, columns, signal)
    const ids = run.map((part) => part.id)
    return await this.#commits.commit(datasetId, made.parts, (current) => {
      const at = current.parts.findIndex((part) => part.id === ids[0])
      const still = at >= 0 && ids.every((id, index) => current.parts[at + index]?.id === id)
      if (!still || !sameColumns(current.columns, columns)) return undefined
      return { columns, parts: current.parts.toSpliced(at, ids.length, ...made.parts) }
    })
  }
}
