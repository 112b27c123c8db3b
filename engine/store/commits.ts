import { rmSync } from 'node:fs'
import type { Part, Version } from '../catalog/records.ts'
import type { Versions } from '../catalog/versions.ts'
import type { RunOptions } from '../duckdb/duck.ts'
import type { Events } from '../events.ts'
import type { Described, Ingestor, IngestResult, PartSize } from '../ingest/index.ts'
import type { Column } from '../types/index.ts'
import type { Background } from '../util/background.ts'
import { Semaphore } from '../util/semaphore.ts'
import { storageFull } from '../util/storage-full.ts'
import type { Hold } from './hold.ts'
import { hashFile } from './integrity/hash.ts'
import { partFile } from './layout.ts'
import type { Leases } from './leases.ts'
import type { FolderManifests } from './manifests.ts'
import { type PartSizes, piecesOf } from './part-size.ts'
import { sync } from './sync.ts'

/** Ingests at once; each may use all cores, so more would only share them. */
const INGESTS_AT_ONCE = 2

interface MadeParts {
  /** In the order of the rows. */
  readonly parts: readonly Part[]
  readonly columns: readonly Column[]
}

/** What a version is to hold. */
export interface Content {
  readonly columns: readonly Column[]
  readonly parts: readonly Part[]
}

interface CommitsPlace {
  readonly sizes: PartSizes
  readonly events: Events
  readonly hold: Hold
  readonly versions: Versions
  readonly leases: Leases
  readonly manifests: FolderManifests
  readonly background: Background
  readonly ingestor: () => Promise<Ingestor>
}

/**
 * How rows become visible: a part is registered, written and synced, then a commit names it. What no version names any
 * more is removed behind the commits.
 */
export class Commits {
  readonly #place: CommitsPlace
  readonly #ingests = new Semaphore(INGESTS_AT_ONCE)
  /** Parts whose files are gone and whose entries in the catalog are to go. */
  readonly #discarded = new Set<number>()

  constructor(place: CommitsPlace) {
    this.#place = place
  }

  /**
   * Writes rows as parts of bounded size and syncs them, so that a commit may name them. Leaves nothing behind when it
   * fails.
   */
  async makeParts(
    write: (ingestor: Ingestor, target: string) => Promise<Described<IngestResult>>,
    options: RunOptions,
  ): Promise<MadeParts> {
    const { hold, versions } = this.#place
    const ingestor = await this.#place.ingestor()
    using _ = await this.#ingests.enter()
    const ids: number[] = []
    const begin = () => {
      const id = versions.newPart(hold.mark.id)
      ids.push(id)
      return { id, target: partFile(hold.layout, id) }
    }
    try {
      const whole = begin()
      const { columns, ...written } = await write(ingestor, whole.target)
      const pieces = piecesOf(written, this.#place.sizes)
      if (pieces.length <= 1) return { columns, parts: [await this.#finish(whole.id, written)] }
      const targets = pieces.map((piece) => ({ ...piece, ...begin() }))
      const cut = await ingestor.cut(whole.target, targets, columns, written.rawBytes, options)
      this.#discard(whole.id)
      const parts: Part[] = []
      for (const [index, { id }] of targets.entries()) parts.push(await this.#finish(id, cut[index]!))
      return { columns, parts }
    } catch (error) {
      for (const id of ids) this.#discard(id)
      throw storageFull(error)
    }
  }

  /** Syncs a part that has been written, and writes down what it is. */
  async #finish(id: number, written: Described<PartSize>): Promise<Part> {
    const { hold, versions } = this.#place
    const target = partFile(hold.layout, id)
    await sync(target)
    await sync(hold.layout.parts)
    const { rows, bytes, rawBytes, statistics } = written
    // Its pages are still in memory.
    const part = { id, rows, bytes, rawBytes, hash: await hashFile(target), statistics }
    versions.describePart(part)
    return part
  }

  /**
   * Shows a new version, unless `content` finds that the current one is no longer what the work was based on. Parts
   * that did not get into it are removed.
   */
  commit(
    datasetId: number,
    parts: readonly Part[],
    content: (current: Version) => Content | undefined,
    number: (current: Version) => number = (current) => current.number + 1,
  ): boolean {
    const { hold, versions } = this.#place
    let shown: Content | undefined
    try {
      shown = hold.database.transaction(() => {
        const current = versions.current(datasetId)
        const next = content(current)
        if (next) versions.commit(datasetId, { ...next, number: number(current) })
        return next
      })
      return shown !== undefined
    } finally {
      // An upload without rows makes a version of its own but needs no part.
      const kept = new Set(shown?.parts.map(({ id }) => id))
      for (const { id } of parts) if (!kept.has(id)) this.#discard(id)
      this.tidyLater()
    }
  }

  /** Removes versions and parts that nothing needs any more; nothing where it is unknown which those are. */
  tidy(): void {
    const { hold, versions, leases, manifests } = this.#place
    if (hold.database.inDoubt) return
    for (const id of this.#discarded) versions.dropPart(id)
    this.#discarded.clear()
    leases.settle()
    for (const id of versions.reclaim()) this.#remove(id)
    manifests.remove(versions.gone(manifests.versions()))
  }

  tidyLater(): void {
    const { background, events } = this.#place
    background.later(
      () => this.tidy(),
      (cause) =>
        events.tell('tidy_failed', 'Versions that nobody needs could not be removed; tried again later.', {
          cause,
        }),
    )
  }

  /** Where the outcome of a commit is unknown, the next start may find that it named the part. */
  #discard(part: number): void {
    if (this.#place.hold.database.inDoubt) return
    this.#remove(part)
    this.#discarded.add(part)
    this.tidyLater()
  }

  /** A file that can't be removed only takes room: the write that left it is done, or has failed for another reason. */
  #remove(part: number): void {
    const { hold, events } = this.#place
    try {
      rmSync(partFile(hold.layout, part), { force: true })
    } catch (cause) {
      events.tell(
        'file_left',
        `The file of part ${part} could not be removed; gc or the next start removes it.`,
        {
          part,
          cause,
        },
      )
    }
  }
}
