import type { Handle } from '../catalog/database.ts'
import { recordNamed } from '../catalog/datasets.ts'
import type { Change } from '../catalog/history.ts'
import type { RemovedPart } from '../catalog/parts.ts'
import type { Origin, Part, Version } from '../catalog/records.ts'
import { versionOf } from '../catalog/versions.ts'
import type { RunOptions } from '../duckdb/duck.ts'
import type { PartSizes } from '../engine-options.ts'
import { EngineError, storageError } from '../errors.ts'
import { versionOfManifest } from '../iceberg/tables.ts'
import type { JobName, Jobs } from '../ingest/jobs.ts'
import type { Hooks, IngestResult, SizedPart } from '../ingest/request.ts'
import { mostRawBytes } from '../parquet/row-groups.ts'
import type { Column } from '../types/index.ts'
import { Semaphore } from '../util/semaphore.ts'
import type { StoreContext } from './context.ts'
import { BlockSums } from './integrity/hashes.ts'
import type { Integrity } from './integrity/integrity.ts'

/**
 * How many ingests run at once, in all and of one account; all without an account count as one. Each may use all cores,
 * so more of them would only share the cores. The third place is for accounts that have none: a row of one must not wait
 * for the large uploads of another.
 */
const INGESTS_AT_ONCE = 3
const INGESTS_OF_ONE = 2

export interface MakingOptions extends RunOptions {
  /** On whose behalf, as the engine's caller names accounts. */
  readonly by?: string | undefined
  /** What the rows are made of, if they become one part. */
  readonly origin?: Origin | undefined
}

/** What those need of a store that read parts and commit others. */
export interface WorkContext extends StoreContext {
  readonly commits: Commits
  readonly integrity: Integrity
}

/** What was found while rows were written, with their parts. */
export interface MadeParts
  extends Pick<IngestResult, 'columns' | 'reasons' | 'options' | 'format' | 'metadata' | 'unnamed'> {
  /** In the order of the rows. */
  readonly parts: readonly Part[]
}

/** A part that is being written. Its hash is null until all of it has been written. */
interface Begun {
  readonly id: number
  readonly target: string
  hash: string | null
}

/** The content of a new version. */
export interface Content {
  readonly columns: readonly Column[]
  /** Left out where it stays as it is. */
  readonly key?: readonly string[]
  readonly parts: readonly Part[]
  /** Left out by a merge: it keeps the rows, and with them the number of the version. */
  readonly change?: Change
}

type Decided = Content | 'again' | undefined

/** One after the other, files that a busy server no longer needs were removed more slowly than new ones were written. */
const REMOVED_AT_ONCE = 32

/**
 * Makes rows visible: a part is registered, written and kept, then a commit names it. Parts that no version names any
 * more are removed in the background after a commit.
 */
export class Commits {
  readonly #context: StoreContext
  readonly #ingests = new Semaphore(INGESTS_AT_ONCE, { perHolder: INGESTS_OF_ONE, reserved: 1 })
  /**
   * Parts that did not get into a version, or of which that is unknown here; the catalog knows. Those that it does not
   * have in a version are still to be removed.
   */
  readonly #discarded = new Set<RemovedPart>()

  /** The datasets that may have versions that nobody needs; 0 stands for all. */
  readonly #behind = new Set<number>()
  readonly #tidy = async () => {
    const behind = this.#behind.has(0) ? [0] : [...this.#behind]
    this.#behind.clear()
    await this.tidy(behind)
  }
  readonly #onTidyFailed = (cause: unknown) =>
    this.#context.events.tell(
      'tidy_failed',
      'Versions that nobody needs could not be removed; tried again later.',
      { cause },
    )

  constructor(context: StoreContext) {
    this.#context = context
  }

  /**
   * Writes rows as parts of bounded size and stores them safely, so that a commit may name them. If it fails, nothing
   * is left behind.
   */
  async makeParts(
    write: (jobs: Jobs, target: string) => Promise<IngestResult>,
    options: MakingOptions,
  ): Promise<MadeParts> {
    const { storage, parts: registry } = this.#context
    const begun: Begun[] = []
    const begin = async (): Promise<Begun> => {
      const id = await registry.register(storage.mark.id)
      const part: Begun = { id, target: storage.files.target(id), hash: null }
      begun.push(part)
      return part
    }
    let keeping = Promise.resolve()
    try {
      const { found, files } = await this.#write(begin, write, options)
      const parts: Part[] = []
      for (const [file, size] of files) {
        const part = await this.#describe(file, size, files.length === 1 ? options.origin : undefined)
        // While one part is stored, the next is hashed.
        await keeping
        keeping = storage.files.keep(part)
        keeping.catch(() => {})
        parts.push(part)
      }
      await keeping
      return { ...found, parts }
    } catch (error) {
      await keeping.catch(() => {})
      for (const part of begun) await this.#discard(part)
      throw storageError(error)
    }
  }

  /** Writes the rows of parts under a changed manifest. @throws EngineError `column_conflict`, as `makeParts` does */
  async rewriteParts(
    integrity: Integrity,
    parts: readonly Part[],
    from: readonly Column[],
    to: readonly Column[],
    options: MakingOptions,
  ): Promise<MadeParts> {
    const { signal } = options
    using pinned = await integrity.pinWhole(parts, signal)
    const { files } = pinned
    return await this.makeParts(
      async ({ rewrite }, target) => ({
        ...(await rewrite({ parts: files, target, from, to }, { signal })),
        columns: to,
      }),
      options,
    )
  }

  /**
   * Writes rows as files of bounded size, in the order of the rows. The slot among the ingests, which the first job takes,
   * is free again when the files are written, before they are sent to a store of objects, because sending needs few of
   * this machine's cores.
   */
  async #write(
    begin: () => Promise<Begun>,
    write: (jobs: Jobs, target: string) => Promise<IngestResult>,
    options: MakingOptions,
  ): Promise<{ found: IngestResult; files: (readonly [Begun, SizedPart])[] }> {
    const { jobs } = await this.#context.ingestor()
    let slot: Disposable | undefined
    using _ = { [Symbol.dispose]: () => slot?.[Symbol.dispose]() }
    // What is written without a job, because it is little, waits for nobody.
    const inTurn = new Proxy(jobs, {
      get: (_, name: JobName) => async (input: never, hooks?: Hooks) => {
        slot ??= await this.#ingests.enter(options.by ?? '')
        return jobs[name](input, hooks)
      },
    })
    const whole = await begin()
    const found = await write(inTurn, whole.target)
    const { columns, rawBytes } = found
    const pieces = piecesOf(found, columns.length, this.#context.sizes)
    if (pieces.length <= 1) return { found, files: [[whole, found]] }
    const targets: (Piece & Begun)[] = []
    for (const piece of pieces) targets.push(Object.assign(await begin(), piece))
    const input = { part: whole.target, cuts: targets, columns, rawBytes }
    const cut = await jobs.cut(input, { signal: options.signal })
    await this.#discard(whole)
    return { found, files: targets.map((part, index) => [part, cut[index]!] as const) }
  }

  /**
   * Records the size, the hashes and the statistics of a written part in the catalog. The hash is a part of its name in a
   * store of objects. Written down before the part is stored there, it lets whoever takes up what this process leaves
   * find it.
   */
  async #describe(begun: Begun, written: SizedPart, origin: Origin | undefined): Promise<Part> {
    const { storage, parts } = this.#context
    const { rows, bytes, rawBytes, statistics } = written
    // Reading the file again costs little now, because its pages are still in the system's memory.
    const blocks = storage.files.objects && new BlockSums()
    begun.hash = await storage.hashes.read(begun.target, { blocks })
    const part = { id: begun.id, rows, bytes, rawBytes, hash: begun.hash, statistics }
    await parts.describe(part, origin, blocks?.text())
    return part
  }

  /**
   * Makes a new version current, unless `content` gives undefined because the current version is no longer the one on
   * which the work was based. Parts that did not get into the new version are removed. Gives whether there is a new
   * one; `again` if `content` gives that: then the parts are kept for another try.
   * @param more whether `content` changes more in the catalog than this version
   */
  async commit(
    datasetId: number,
    parts: readonly Part[],
    content: (current: Version, t: Handle) => Decided | Promise<Decided>,
    { more = false } = {},
  ): Promise<boolean | 'again'> {
    const { storage, versions } = this.#context
    let unneeded = parts
    const made = new Set(parts.map(({ id }) => id))
    try {
      const shown = await storage.database.transaction(
        async (t) => {
          await t.lock('datasets', datasetId)
          const current = await versions.in(t).current(datasetId)
          const next = await content(current, t)
          if (next === 'again') return next
          if (next) {
            const number = next.change ? current.number + 1 : current.number
            await versions.in(t).commit(datasetId, current, { key: current.key, ...next, number, made })
          }
          return next
        },
        {
          ...(!more && { changes: [versionOf(datasetId), recordNamed(datasetId)] }),
          turn: `dataset ${datasetId}`,
        },
      )
      if (shown === 'again') {
        unneeded = []
        return shown
      }
      // An upload without rows makes a new version, but its empty part is not needed.
      const stored = new Set(shown?.parts.map(({ id }) => id))
      unneeded = parts.filter(({ id }) => !stored.has(id))
      return shown !== undefined
    } catch (error) {
      if (error instanceof EngineError && error.code === 'outcome_unknown') {
        for (const part of unneeded) this.#discarded.add(part)
        unneeded = []
      }
      throw error
    } finally {
      await this.discard(unneeded)
      this.tidyLater(datasetId)
    }
  }

  /** Removes parts that will be in no version. */
  async discard(parts: readonly Part[]): Promise<void> {
    for (const part of parts) await this.#discard(part)
  }

  /**
   * Removes versions and parts that nothing needs any more. Does nothing if the outcome of a commit is unknown, because
   * then it is also unknown which parts are needed.
   * @param datasetIds whose versions are looked at; 0 stands for all
   */
  async tidy(datasetIds: readonly number[] = [0]): Promise<void> {
    const { storage, parts, members } = this.#context
    if (storage.database.inDoubt) return
    for (const part of [...this.#discarded]) {
      // Several callers at once share the work.
      if (!this.#discarded.delete(part)) continue
      try {
        if (await parts.drop(part.id)) await this.#remove(part)
      } catch (error) {
        this.#discarded.add(part)
        throw error
      }
    }
    for (const subject of datasetIds) await members.assign({ kind: 'gc', subject })
    await this.tidyManifests(false)
  }

  /**
   * Removes manifests of versions that are gone.
   * @param all also those that this process does not know yet, and files that are no manifests: an Iceberg client that
   *   tries to write may leave some before it is refused
   */
  async tidyManifests(all: boolean): Promise<void> {
    const { versions, manifests } = this.#context
    const byVersion = Map.groupBy(await (all ? manifests.all() : manifests.known()), versionOfManifest)
    const ids = [...byVersion.keys()].filter((version) => version !== undefined)
    for (const version of [...(await versions.gone(ids)), ...(all ? [undefined] : [])]) {
      for (const name of byVersion.get(version) ?? []) await manifests.remove(name)
    }
  }

  /** Removes versions of a dataset, or of all of them, and parts that no process needs any more. */
  async reclaim(datasetId = 0): Promise<void> {
    const { storage, members } = this.#context
    // Nothing is removed from the catalog either whose bytes could not be.
    await storage.files.objects?.answers(0)
    await members.reclaim((parts) => this.#removeAll(parts), datasetId)
  }

  /**
   * Tidies soon; after many commits in a row it is done once.
   * @param datasetId whose versions are looked at; 0 stands for all, and none for parts alone
   */
  tidyLater(datasetId?: number): void {
    if (datasetId !== undefined) this.#behind.add(datasetId)
    this.#context.background.laterOnce(this.#tidy, this.#onTidyFailed)
  }

  /** Tidies if a version that nobody reads any more is no longer shown. */
  tidyBehind(datasetId: number, versionId: number): void {
    const { storage, background } = this.#context
    const shown = 'SELECT 1 FROM datasets WHERE version_id = ?'
    background.later(async () => {
      if (!(await storage.database.get(shown, versionId))) this.tidyLater(datasetId)
    }, this.#onTidyFailed)
  }

  /**
   * Has an unneeded part removed. Not if the outcome of a commit is unknown: the next start may find that the commit
   * succeeded and that it names the part.
   */
  async #discard(part: RemovedPart): Promise<void> {
    const { storage } = this.#context
    if (storage.database.inDoubt) return
    // The file is removed at once to free room on this disk; the catalog entry is removed later.
    await storage.files.giveUp(part.id).catch((cause) => this.#leave(part, cause))
    this.#discarded.add(part)
    this.tidyLater()
  }

  /** A file that can't be removed is reported, but is no reason to fail: it only takes room. Gives whether it could. */
  #remove(part: RemovedPart): Promise<boolean> {
    return this.#context.storage.files.remove(part).then(
      () => true,
      (cause) => {
        this.#leave(part, cause)
        return false
      },
    )
  }

  /** Removes files of parts; gives those of which it could. */
  async #removeAll(parts: readonly RemovedPart[]): Promise<RemovedPart[]> {
    const removed: RemovedPart[] = []
    for (let at = 0; at < parts.length; at += REMOVED_AT_ONCE) {
      const some = parts.slice(at, at + REMOVED_AT_ONCE)
      const could = await Promise.all(some.map((part) => this.#remove(part)))
      removed.push(...some.filter((_, index) => could[index]))
    }
    return removed
  }

  #leave({ id: part }: RemovedPart, cause: unknown): void {
    const message = `The file of part ${part} could not be removed; gc or the next start removes it.`
    this.#context.events.tell('file_left', message, { part, cause })
  }
}

export const PART_SIZES: PartSizes = { rows: 491_520, bytes: 128 * 2 ** 20 }

/** A part, or the last piece of one, is cut only if it is larger than the limit by this factor, so that no piece is tiny. */
const TOLERANCE = 1.25

/** Rows `from` (inclusive) to `to` (exclusive) of a part. */
interface Piece {
  readonly from: number
  readonly to: number
}

/** The pieces into which a part with so many columns is to be cut; a single piece if the part is small enough. */
export function piecesOf(
  part: Pick<Part, 'rows' | 'bytes' | 'rawBytes'>,
  columns: number,
  sizes: PartSizes,
): Piece[] {
  const { rows, bytes, rawBytes } = part
  const mostRaw = mostRawBytes(part, columns)
  const fits = rows <= sizes.rows * TOLERANCE && bytes <= sizes.bytes * TOLERANCE
  if (fits && rawBytes <= mostRaw * TOLERANCE) return [{ from: 0, to: rows }]
  // If rows are wide, the limits of bytes make the pieces shorter.
  const most = Math.min(Math.ceil((rows * sizes.bytes) / bytes), Math.ceil((rows * mostRaw) / rawBytes))
  const step = Math.max(1, Math.min(sizes.rows, most))
  const count = Math.ceil(rows / step - (TOLERANCE - 1))
  return Array.from({ length: count }, (_, index) => ({
    from: index * step,
    to: index === count - 1 ? rows : (index + 1) * step,
  }))
}
