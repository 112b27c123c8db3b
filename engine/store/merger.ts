import { isAttached, type Part, type Version } from '../catalog/records.ts'
import type { PartSizes } from '../engine-options.ts'
import { EngineError, type ErrorCode } from '../errors.ts'
import { isWide, mostWideBytes } from '../parquet/row-groups.ts'
import { sameColumns } from '../types/columns.ts'
import { PART_SIZES, piecesOf, type WorkContext } from './commits.ts'

/** Errors that may end a merge although nothing is wrong. */
const ENDINGS: readonly ErrorCode[] = ['not_found', 'cancelled', 'writes_stopped']

/** Merges small parts at the end of datasets. The rows stay the same. */
export class Merger {
  readonly #context: WorkContext
  readonly #merging = new Set<number>()
  readonly #resting = new Map<number, NodeJS.Timeout>()
  readonly #giveUp = new AbortController()
  #isEnding = false

  constructor(context: WorkContext) {
    this.#context = context
  }

  /** Merges until there is no run of parts left that is worth merging; once nothing was written for a while, what is left. */
  async merge(datasetId: number, isResting = false): Promise<void> {
    if (this.#giveUp.signal.aborted || this.#merging.has(datasetId)) return
    this.#merging.add(datasetId)
    clearTimeout(this.#resting.get(datasetId))
    try {
      let merges = 0
      while (await this.#mergeOnce(datasetId, isResting)) merges += 1
      if (!isResting || merges > 0) this.#mergeAtRest(datasetId)
    } catch (error) {
      // Nothing is lost without the merge. The codes in ENDINGS mean that the dataset was deleted or the merger
      // stopped.
      if (error instanceof EngineError && ENDINGS.includes(error.code)) return
      const message = `Parts of dataset ${datasetId} could not be merged.`
      this.#context.events.tell('merge_failed', message, { dataset: datasetId, cause: error })
    } finally {
      this.#merging.delete(datasetId)
    }
  }

  /** Starts no merge at rest any more, also not behind those that are under way. */
  end(): void {
    this.#isEnding = true
    for (const timer of this.#resting.values()) clearTimeout(timer)
    this.#resting.clear()
  }

  /** Aborts merges under way and starts no new ones. */
  giveUp(): void {
    this.#giveUp.abort()
    this.end()
  }

  #mergeAtRest(datasetId: number): void {
    if (this.#isEnding) return
    const { background, events } = this.#context
    const timer = setTimeout(() => {
      this.#resting.delete(datasetId)
      background.later(
        () => this.merge(datasetId, true),
        events.failure('merge_failed', 'Parts could not be merged.', { dataset: datasetId }),
      )
    }, REST_MS)
    this.#resting.set(datasetId, timer.unref())
  }

  /** Merges one run of parts. Gives whether there may be more to merge. */
  async #mergeOnce(datasetId: number, isResting: boolean): Promise<boolean> {
    const { members, versions, sizes, integrity, commits } = this.#context
    const { signal } = this.#giveUp
    const runOf = ({ columns, parts }: Version) => {
      if (isAttached(parts)) return []
      const run = partsToMerge(parts, columns.length, sizes)
      return run.length > 0 || !isResting ? run : partsAtRest(parts, columns.length, sizes)
    }
    // Most commits leave nothing to merge, and a lease is written down.
    if (runOf(await versions.current(datasetId)).length === 0) return false
    using lease = await members.take(datasetId)
    const { columns } = lease.version
    const run = runOf(lease.version)
    if (run.length === 0) return false
    const made = await commits.rewriteParts(integrity, run, columns, columns, { signal })
    const ids = run.map((part) => part.id)
    const done = await commits.commit(datasetId, made.parts, (current) => {
      const at = current.parts.findIndex((part) => part.id === ids[0])
      const still = at >= 0 && ids.every((id, index) => current.parts[at + index]?.id === id)
      if (!still || !sameColumns(current.columns, columns)) return undefined
      return { columns, parts: current.parts.toSpliced(at, ids.length, ...made.parts) }
    })
    return done === true
  }
}

/** Parts fall into tiers by weight; the limit of each tier is this many times that of the tier before. */
const FAN = 8
/** The least weight of a part, however small it is, because opening a file costs as much as scanning some bytes. */
const SMALLEST = 4_096
/** Parts of this weight are not merged: it would gain nothing. */
const LARGE = 128 * 1024 * 1024
/** The most weight of a merged part; its file has a quarter of that, or less. */
const LARGEST = 4 * LARGE

/**
 * Chooses the parts at the end of a version that are worth merging into one; mostly there are none. A run of parts is
 * merged when the result belongs to a higher tier, so each row is rewritten once per tier, and n appends leave about
 * FAN · log n files. No run is larger than a part may be. A part of an older program that is too large is chosen alone,
 * because rewriting it cuts it into smaller ones.
 */
export function partsToMerge(
  parts: readonly Part[],
  columns: number,
  sizes: PartSizes = PART_SIZES,
): readonly Part[] {
  const oversize = parts.find((part) => piecesOf(part, columns, sizes).length > 1)
  if (oversize) return [oversize]
  const weights = parts.map((part) => weightOf(part, columns))
  for (let limit = SMALLEST * FAN; limit <= LARGE; limit *= FAN) {
    let first = parts.length
    let total = 0
    // Two parts of half the rows always fit into one.
    while (first > 0 && weights[first - 1]! < limit && parts[first - 1]!.rows <= sizes.rows / 2) {
      first -= 1
      total += weights[first]!
    }
    if (parts.length - first >= FAN && total >= limit) return fitting(parts.slice(first), columns, sizes)
  }
  return []
}

/** How long a dataset rests before the few parts that appends left are merged. */
const REST_MS = 5_000
/** The most weight of what is merged at rest: above it, reading the rows costs more than opening their files. */
const LARGEST_AT_REST = 8 * 1024 * 1024

/**
 * Chooses the parts at the end of a version to merge when nothing was written for a while, whatever tiers they are in.
 * The first weighs at most FAN times as much as the rest, so that rows that arrive seldom don't rewrite all others.
 */
export function partsAtRest(
  parts: readonly Part[],
  columns: number,
  sizes: PartSizes = PART_SIZES,
): readonly Part[] {
  let first = parts.length
  let rest = 0
  let rows = 0
  for (const [at, part] of [...parts.entries()].reverse()) {
    const weight = weightOf(part, columns)
    rows += part.rows
    if (rest + weight > LARGEST_AT_REST || rows > sizes.rows) break
    if (parts.length - at >= FAN && weight <= FAN * rest) first = at
    rest += weight
  }
  return parts.slice(first)
}

/** The first parts of a run, as many as fit into one part. */
function fitting(run: readonly Part[], columns: number, sizes: PartSizes): readonly Part[] {
  let rows = 0
  let weight = 0
  const end = run.findIndex((part) => {
    rows += part.rows
    weight += weightOf(part, columns)
    return rows > sizes.rows || weight > LARGEST
  })
  return end < 0 ? run : run.slice(0, end)
}

/** The bytes of a part's uncompressed values; those of wide rows count so that `LARGEST` is what such a part may have. */
function weightOf(part: Part, columns: number): number {
  const factor = isWide(part, columns) ? LARGEST / mostWideBytes(columns) : 1
  return Math.max(factor * part.rawBytes, SMALLEST)
}
