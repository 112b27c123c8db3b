import { rmSync } from 'node:fs'
import type { Part, Version } from '../catalog/records.ts'
import type { Versions } from '../catalog/versions.ts'
import type { Events } from '../events.ts'
import type { Described, Ingestor, IngestResult } from '../ingest/index.ts'
import type { Column } from '../types/index.ts'
import type { Background } from '../util/background.ts'
import { Semaphore } from '../util/semaphore.ts'
import { storageFull } from '../util/storage-full.ts'
import type { Hold } from './hold.ts'
import { hashFile } from './integrity/hash.ts'
import { partFile } from './layout.ts'
import type { Leases } from './leases.ts'
import { sync } from './sync.ts'

/** Ingests at once; each may use all cores, so more would only share them. */
const INGESTS_AT_ONCE = 2

interface MadePart {
  readonly part: Part
  readonly columns: readonly Column[]
}

/** What a version is to hold. */
export interface Content {
  readonly columns: readonly Column[]
  readonly parts: readonly Part[]
}

interface CommitsPlace {
  readonly events: Events
  readonly hold: Hold
  readonly versions: Versions
  readonly leases: Leases
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

  /** Writes a part and syncs it, so that a commit may name it. Leaves nothing behind when it fails. */
  async makePart(
    write: (ingestor: Ingestor, target: string) => Promise<Described<IngestResult>>,
  ): Promise<MadePart> {
    const { hold, versions } = this.#place
    const ingestor = await this.#place.ingestor()
    using _ = await this.#ingests.enter()
    const id = versions.newPart(hold.mark.id)
    const target = partFile(hold.layout, id)
    try {
      const { columns, rows, bytes, rawBytes, statistics } = await write(ingestor, target)
      await sync(target)
      await sync(hold.layout.parts)
      // Its pages are still in memory.
      const part = { id, rows, bytes, rawBytes, hash: await hashFile(target), statistics }
      versions.describePart(part)
      return { part, columns }
    } catch (error) {
      this.#discard(id)
      throw storageFull(error)
    }
  }

  /**
   * Shows a new version, unless `content` finds that the current one is no longer what the work was based on. A part
   * that did not get into it is removed.
   */
  commit(
    datasetId: number,
    part: Part | undefined,
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
      // Where the commit's outcome is unknown, the next start may find that it named the part.
      if (part && !shown?.parts.some(({ id }) => id === part.id)) this.#discard(part.id)
      this.tidyLater()
    }
  }

  /** Removes versions and parts that nothing needs any more; nothing where it is unknown which those are. */
  tidy(): void {
    const { hold, versions, leases } = this.#place
    if (hold.database.inDoubt) return
    for (const id of this.#discarded) versions.dropPart(id)
    this.#discarded.clear()
    leases.settle()
    for (const id of versions.reclaim()) this.#remove(id)
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
