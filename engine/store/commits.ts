import type { Handle } from '../catalog/database.ts'
import { recordNamed } from '../catalog/datasets.ts'
import type { Parts } from '../catalog/parts.ts'
import type { Part, Version } from '../catalog/records.ts'
import { type RemovedPart, type Versions, versionOf } from '../catalog/versions.ts'
import type { RunOptions } from '../duckdb/duck.ts'
import { EngineError } from '../errors.ts'
import type { Events } from '../events.ts'
import type { Described, Ingestor, IngestResult, PartSize } from '../ingest/index.ts'
import type { Column } from '../types/index.ts'
import type { Background } from '../util/background.ts'
import { Semaphore } from '../util/semaphore.ts'
import { storageError } from '../util/storage-errors.ts'
import type { Hold } from './hold.ts'
import { SummedBlocks } from './integrity/block-sums.ts'
import type { Manifests } from './manifests.ts'
import type { Membership } from './membership/membership.ts'
import { type PartSizes, type Piece, piecesOf } from './part-size.ts'

/** How many ingests run at once. Each may use all cores, so more of them would only share the cores. */
const INGESTS_AT_ONCE = 2

interface MadeParts {
  /** In the order of the rows. */
  readonly parts: readonly Part[]
  readonly columns: readonly Column[]
}

/** A part that is being written. Its hash is null until all of it has been written. */
interface Begun {
  readonly id: number
  readonly target: string
  hash: string | null
}

interface Written {
  readonly columns: readonly Column[]
  /** In the order of the rows. */
  readonly written: readonly (readonly [Begun, Described<PartSize>])[]
}

/** The content of a new version. */
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
  readonly members: Membership
  readonly manifests: Manifests
  readonly background: Background
  readonly ingestor: () => Promise<Ingestor>
}

/**
 * Makes rows visible: a part is registered, written and kept, then a commit names it. Parts that no version names any
 * more are removed in the background after a commit.
 */
export class Commits {
  readonly #place: CommitsPlace
  readonly #ingests = new Semaphore(INGESTS_AT_ONCE)
  /** Parts that did not get into a version, whose bytes and catalog entries are still to be removed. */
  readonly #discarded = new Set<RemovedPart>()
  /** Parts of commits whose outcome is unknown here. The database knows if they are in a version. */
  readonly #undecided = new Set<RemovedPart>()

  constructor(place: CommitsPlace) {
    this.#place = place
  }

  /**
   * Writes rows as parts of bounded size and stores them safely, so that a commit may name them. If it fails, nothing
   * is left behind.
   */
  async makeParts(
    write: (ingestor: Ingestor, target: string) => Promise<Described<IngestResult>>,
    options: RunOptions,
  ): Promise<MadeParts> {
    const { hold, parts: registry } = this.#place
    const begun: Begun[] = []
    const begin = async (): Promise<Begun> => {
      const id = await registry.register(hold.mark.id)
      const part: Begun = { id, target: hold.files.target(id), hash: null }
      begun.push(part)
      return part
    }
    let keeping = Promise.resolve()
    try {
      const { columns, written } = await this.#write(begin, write, options)
      const parts: Part[] = []
      for (const [file, size] of written) {
        const part = await this.#describe(file, size)
        // While one part is stored, the next is hashed.
        await keeping
        keeping = hold.files.keep(part)
        keeping.catch(() => {})
        parts.push(part)
      }
      await keeping
      return { columns, parts }
    } catch (error) {
      await keeping.catch(() => {})
      for (const part of begun) await this.#discard(part)
      throw storageError(error)
    }
  }

  /**
   * Writes rows as files of bounded size. Its place among the ingests is free again when the files are written, before
   * they are sent to a store of objects, because sending needs few of this machine's cores.
   */
  async #write(
    begin: () => Promise<Begun>,
    write: (ingestor: Ingestor, target: string) => Promise<Described<IngestResult>>,
    options: RunOptions,
  ): Promise<Written> {
    const ingestor = await this.#place.ingestor()
    using _ = await this.#ingests.enter()
    const whole = await begin()
    const { columns, ...size } = await write(ingestor, whole.target)
    const pieces = piecesOf(size, columns.length, this.#place.sizes)
    if (pieces.length <= 1) return { columns, written: [[whole, size]] }
    const targets: (Piece & Begun)[] = []
    for (const piece of pieces) targets.push(Object.assign(await begin(), piece))
    const cut = await ingestor.cut(whole.target, targets, columns, size.rawBytes, options)
    await this.#discard(whole)
    return { columns, written: targets.map((part, index) => [part, cut[index]!]) }
  }

  /**
   * Records the size, the hashes and the statistics of a written part in the catalog. The hash is a part of its name in a
   * store of objects. Written down before the part is stored there, it lets whoever takes up what this process leaves
   * find it.
   */
  async #describe(begun: Begun, written: Described<PartSize>): Promise<Part> {
    const { hold, parts } = this.#place
    const { rows, bytes, rawBytes, statistics } = written
    // Reading the file again costs little now, because its pages are still in the system's memory.
    const blocks = hold.files.objects && new SummedBlocks()
    begun.hash = await hold.hashes.read(begun.target, { alsoTo: blocks })
    const part = { id: begun.id, rows, bytes, rawBytes, hash: begun.hash, statistics }
    await parts.describe(part, blocks?.sums())
    return part
  }

  /**
   * Makes a new version current, unless `content` gives undefined because the current version is no longer the one on
   * which the work was based. Parts that did not get into the new version are removed. Gives whether there is a new
   * one.
   */
  async commit(
    datasetId: number,
    parts: readonly Part[],
    content: (current: Version, t: Handle) => Content | undefined | Promise<Content | undefined>,
    number: (current: Version) => number = (current) => current.number + 1,
  ): Promise<boolean> {
    const { hold, versions } = this.#place
    let unneeded = parts
    const made = new Set(parts.map(({ id }) => id))
    try {
      const shown = await hold.database.transaction(
        async (t) => {
          await t.lock('datasets', datasetId)
          const current = await versions.in(t).current(datasetId)
          const next = await content(current, t)
          if (next)
            await versions.in(t).commit(datasetId, current, { ...next, number: number(current), made })
          return next
        },
        { changes: [versionOf(datasetId), recordNamed(datasetId)] },
      )
      // An upload without rows makes a new version, but its empty part is not needed.
      const kept = new Set(shown?.parts.map(({ id }) => id))
      unneeded = parts.filter(({ id }) => !kept.has(id))
      return shown !== undefined
    } catch (error) {
      if (error instanceof EngineError && error.code === 'outcome_unknown') {
        for (const part of unneeded) this.#undecided.add(part)
        unneeded = []
      }
      throw error
    } finally {
      for (const part of unneeded) await this.#discard(part)
      this.tidyLater()
    }
  }

  /**
   * Removes versions and parts that nothing needs any more. Does nothing if the outcome of a commit is unknown, because
   * then it is also unknown which parts are needed.
   */
  async tidy(): Promise<void> {
    const { hold, versions, parts, members, manifests } = this.#place
    if (hold.database.inDoubt) return
    for (const part of this.#discarded) {
      await this.#remove(part)
      await parts.drop(part.id)
      this.#discarded.delete(part)
    }
    for (const part of this.#undecided) {
      if (await parts.drop(part.id)) await this.#remove(part)
      this.#undecided.delete(part)
    }
    await members.assign({ kind: 'gc', subject: 0 })
    await manifests.remove(await versions.gone(manifests.versions()))
  }

  /** Removes versions and parts that no process needs any more. */
  reclaim(): Promise<void> {
    return this.#place.members.reclaim((part) => this.#remove(part))
  }

  tidyLater(): void {
    this.#later(() => this.tidy())
  }

  /** Tidies if a version that nobody reads any more is no longer its dataset's current one. */
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

  /**
   * Has an unneeded part removed. Not if the outcome of a commit is unknown: the next start may find that the commit
   * succeeded and that it names the part.
   */
  async #discard(part: RemovedPart): Promise<void> {
    const { hold } = this.#place
    if (hold.database.inDoubt) return
    // The file is removed at once to free room on this disk; the catalog entry is removed later.
    await hold.files.giveUp(part.id).catch((cause) => this.#leave(part, cause))
    this.#discarded.add(part)
    this.tidyLater()
  }

  /** A file that can't be removed is reported, but is no reason to fail: it only takes room. Gives whether it could. */
  #remove(part: RemovedPart): Promise<boolean> {
    return this.#place.hold.files.remove(part).then(
      () => true,
      (cause) => {
        this.#leave(part, cause)
        return false
      },
    )
  }

  #leave({ id: part }: RemovedPart, cause: unknown): void {
    const message = `The file of part ${part} could not be removed; gc or the next start removes it.`
    this.#place.events.tell('file_left', message, { part, cause })
  }
}
