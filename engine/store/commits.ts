import { rmSync } from 'node:fs'
import type { Handle } from '../catalog/database.ts'
import type { Parts } from '../catalog/parts.ts'
import type { Part, Version } from '../catalog/records.ts'
import type { Versions } from '../catalog/versions.ts'
import type { RunOptions } from '../duckdb/duck.ts'
import { EngineError } from '../errors.ts'
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
import { type PartSizes, type Piece, piecesOf } from './part-size.ts'
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
  readonly parts: Parts
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
    const { hold, parts: registry } = this.#place
    const ingestor = await this.#place.ingestor()
    using _ = await this.#ingests.enter()
    const ids: number[] = []
    const begin = async () => {
      const id = await registry.register(hold.mark.id)
      ids.push(id)
      return { id, target: partFile(hold.layout, id) }
    }
    try {
      const whole = await begin()
      const { columns, ...written } = await write(ingestor, whole.target)
      const pieces = piecesOf(written, this.#place.sizes)
      if (pieces.length <= 1) return { columns, parts: [await this.#finish(whole.id, written)] }
      const targets: (Piece & { id: number; target: string })[] = []
      for (const piece of pieces) targets.push({ ...piece, ...(await begin()) })
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
    const { hold, parts } = this.#place
    const target = partFile(hold.layout, id)
    await sync(target)
    await sync(hold.layout.parts)
    const { rows, bytes, rawBytes, statistics } = written
    // Its pages are still in memory.
    const part = { id, rows, bytes, rawBytes, hash: await hashFile(target), statistics }
    await parts.describe(part)
    return part
  }

  /**
   * Shows a new version, unless `content` finds that the current one is no longer what the work was based on. Parts
   * that did not get into it are removed.
   */
  async commit(
    datasetId: number,
    parts: readonly Part[],
    content: (current: Version, t: Handle) => Content | undefined | Promise<Content | undefined>,
    number: (current: Version) => number = (current) => current.number + 1,
  ): Promise<boolean> {
    const { hold, versions } = this.#place
    let shown: Content | undefined
    try {
      shown = await hold.database.transaction(async (t) => {
        await t.lock('datasets', datasetId)
        const current = await versions.in(t).current(datasetId)
        const next = await content(current, t)
        if (next) await versions.in(t).commit(datasetId, { ...next, number: number(current) })
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
  async tidy(): Promise<void> {
    const { hold, versions, parts, leases, manifests } = this.#place
    if (hold.database.inDoubt) return
    for (const id of this.#discarded) {
      await parts.drop(id)
      this.#discarded.delete(id)
    }
    await leases.settle()
    for (const id of await versions.reclaim()) this.#remove(id)
    manifests.remove(await versions.gone(manifests.versions()))
  }

  tidyLater(): void {
    this.#later(() => this.tidy())
  }

  /** Tidies where a version that nobody reads any more is no longer what its dataset shows. */
  tidyBehind(datasetId: number, versionId: number): void {
    this.#later(async () => {
      if (!(await this.#isCurrent(datasetId, versionId))) await this.tidy()
    })
  }

  async #isCurrent(datasetId: number, versionId: number): Promise<boolean> {
    try {
      return (await this.#place.versions.current(datasetId)).id === versionId
    } catch (error) {
      if (error instanceof EngineError && error.code === 'not_found') return false
      throw error
    }
  }

  #later(work: () => Promise<void>): void {
    const { background, events } = this.#place
    background.later(work, (cause) =>
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
