import { basename } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Part, PartBytes } from '../../catalog/records.ts'
import type { CheckOptions } from '../../engine-options.ts'
import { EngineError, machineError } from '../../errors.ts'
import { Semaphore } from '../../util/semaphore.ts'
import { SingleFlight } from '../../util/shared.ts'
import type { StoreContext } from '../context.ts'
import { storeUnavailable } from '../objects/failures.ts'
import { type Problem, quickCheck } from '../objects/folder.ts'
import { DamagedPart, OTHER_FOOTER, type PartStore } from '../objects/part-store.ts'
import type { RangedParts } from '../objects/ranges/ranges.ts'
import { changeOf, fileChanged } from './attached.ts'
import { type HashOptions, hashFile, hashFooter } from './hashes.ts'

const OTHER_BYTES = 'its bytes are not those that were written'
/** How many parts are compared at once. Hashing takes the time of the thread that also answers requests. */
const AT_ONCE = 2

export const CHECKS: CheckOptions = { bytesPerSecond: 8 * 2 ** 20, everyDays: 7 }
/** How long to wait after all due parts were checked, before looking for due parts again. */
const PAUSE_MS = 30_000
const DAY_MS = 86_400_000

/** The files of parts that are pinned, in the order of the parts. */
interface PinnedFiles extends Disposable {
  readonly files: readonly string[]
}

/**
 * Checks whether parts are still as they were written. Before a part is first read, its size, its beginning and its end
 * are checked. While a process reads it for the first time, and after its file has changed, all its bytes are compared
 * with the hash in the catalog; no answer is complete before that. `verify`, backups and the checks in the background
 * compare them again. A part that was found damaged gives an error instead of rows, in every process, until a check
 * finds it repaired.
 */
export class Integrity {
  readonly #context: StoreContext
  readonly #files: PartStore
  readonly #comparing = new SingleFlight<string>()
  readonly #turns = new Semaphore(AT_ONCE)
  /** Parts whose size and ends were checked since the start. */
  readonly #seen = new Set<number>()
  #damaged: ReadonlyMap<number, string> = new Map()

  constructor(context: StoreContext) {
    this.#context = context
    this.#files = context.storage.files
  }

  /** How many parts are known to be damaged. */
  get damaged(): number {
    return this.#damaged.size
  }

  /** Reads from the catalog which parts are damaged, as found by earlier and by other processes. */
  async refresh(): Promise<void> {
    this.#damaged = await this.#context.parts.damaged()
  }

  /** The file of a part that is about to be read. @throws EngineError `storage_damaged`, `file_changed` */
  file(part: Part): string {
    const file = this.#files.file(part)
    if (part.attached) {
      const change = changeOf(file, part, this.#files.attachable)
      if (change !== undefined) throw fileChanged(part, change)
      return file
    }
    if (this.#damaged.has(part.id)) throw damaged(part.id)
    // A cache checks what it fetches.
    if (this.#files.isCached(part) || this.#seen.has(part.id)) return file
    let problem: Problem
    try {
      problem = quickCheck(file, part.bytes)
    } catch (cause) {
      throw unreadableNow(part.id, cause)
    }
    if (problem !== undefined) throw this.#found(part, problem)
    this.#seen.add(part.id)
    return file
  }

  /**
   * Makes parts readable under `file`, undefined if they already are. Dispose the result when they have been read.
   * @throws EngineError `storage_damaged`, `storage_unavailable`, `storage_full`
   */
  pin(parts: readonly Part[], signal?: AbortSignal): Promise<Disposable> | undefined {
    return this.#files.pin(parts, signal)?.catch((error: unknown) => {
      throw this.#knownDamage(error, parts)
    })
  }

  /** Turns the error that one of these parts is damaged into the one for readers; gives others unchanged. */
  #knownDamage(error: unknown, parts: readonly Part[]): unknown {
    const part = error instanceof DamagedPart && parts.find(({ id }) => id === error.part)
    if (!part) return error
    return part.attached ? fileChanged(part, error.problem, error) : this.#found(part, error.problem)
  }

  /**
   * Begins to read those of the parts by ranges that can be, block by block compared with their sums; undefined if there
   * are none.
   * @throws as `pin` does
   */
  async readByRanges(parts: readonly Part[], signal?: AbortSignal): Promise<RangedParts | undefined> {
    for (const part of parts) this.file(part)
    const sumsOf = async ({ id }: PartBytes) => (await this.#context.parts.find(id))?.blockSums ?? null
    return this.#files.ranges?.begin(parts, sumsOf, signal)
  }

  /**
   * Compares parts with their hashes, unless this process has done so and their files have not changed since.
   * Undefined if there is nothing to compare.
   * @throws EngineError `storage_damaged`
   */
  whole(parts: readonly Part[], signal?: AbortSignal): Promise<void> | undefined {
    const open = parts.filter(
      (part) =>
        // A cache compares what it fetches, and what it finds when it starts.
        !this.#files.isCached(part) &&
        part.hash !== null &&
        this.#context.storage.hashes.known(this.#files.file(part), part.attached !== undefined) !== part.hash,
    )
    return open.length === 0 ? undefined : this.#compare(open, signal)
  }

  /**
   * Makes parts readable and compares them, before something is made of them that stays. Dispose the result when their
   * files have been read.
   * @throws as `pin` does
   */
  async pinWhole(parts: readonly Part[], signal?: AbortSignal): Promise<PinnedFiles> {
    const pinned = await this.pin(parts, signal)
    try {
      const files = parts.map((part) => this.file(part))
      await this.whole(parts, signal)
      return { files, [Symbol.dispose]: () => pinned?.[Symbol.dispose]() }
    } catch (error) {
      pinned?.[Symbol.dispose]()
      throw error
    }
  }

  async #compare(parts: readonly Part[], signal: AbortSignal | undefined): Promise<void> {
    await Promise.all(
      parts.map(async (part) => {
        const hash = await this.#comparing.run(String(part.id), (signal) => this.#hash(part, signal), signal)
        if (hash === part.hash) return
        throw part.attached ? fileChanged(part, OTHER_FOOTER) : this.#found(part, OTHER_BYTES)
      }),
    )
  }

  async #hash(part: Part, signal: AbortSignal): Promise<string> {
    using _ = await this.#turns.enter()
    try {
      const isOthers = part.attached !== undefined
      const how = isOthers ? hashFooter : hashFile
      return await this.#context.storage.hashes.read(this.#files.file(part), { signal }, how, isOthers)
    } catch (cause) {
      if (signal.aborted) throw cause
      throw part.attached ? fileChanged(part, OTHER_FOOTER, cause) : unreadableNow(part.id, cause)
    }
  }

  /** Reads bytes of a part without fetching all of it. @throws as `pin` does */
  async *read(part: Part, from: number, to: number): AsyncGenerator<Uint8Array, void, undefined> {
    this.file(part)
    await this.whole([part])
    try {
      yield* this.#files.read(part, from, to)
    } catch (error) {
      throw this.#knownDamage(error, [part])
    }
  }

  /**
   * Reads a part's whole file and compares it with the catalog; adds the hash of a part that has none.
   * @throws the system's error if the file can't be read now; that is not recorded as damage
   */
  async check(part: Part, options: HashOptions = {}): Promise<Problem> {
    if (part.attached) return this.#checkAttached(part)
    // Another check may have added the hash since the part was looked up.
    let hash = part.hash ?? (await this.#context.parts.find(part.id))?.hash ?? null
    let problem: Problem
    try {
      const found = await this.#files.hash({ ...part, hash }, options)
      if (hash !== null && found !== hash) problem = OTHER_BYTES
      hash ??= found
    } catch (error) {
      if (!(error instanceof DamagedPart)) throw error
      problem = error.problem
    }
    this.#note(part, problem)
    await this.#context.parts.noteCheck(part.id, { hash, damage: problem })
    return problem
  }

  /** Nothing is recorded: whoever reads the file compares it. */
  async #checkAttached(part: Part): Promise<Problem> {
    try {
      this.file(part)
      if (this.#files.isCached(part)) await this.#files.hash(part)
      else await this.whole([part])
      return undefined
    } catch (cause) {
      const error = this.#knownDamage(cause, [part])
      if (error instanceof EngineError && error.code === 'file_changed') return error.message
      throw error
    }
  }

  /**
   * Checks parts in the background, one after the other, and begins with those that were never checked. Gives what ends
   * it, which resolves when nothing is read any more.
   */
  startChecks(options: CheckOptions): () => Promise<void> {
    const stop = new AbortController()
    const running = this.#checkAgain(options, stop.signal)
    return () => {
      stop.abort()
      return running
    }
  }

  async #checkAgain(options: CheckOptions, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#checkDue(options, signal)
      } catch (cause) {
        if (signal.aborted) return
        const message = 'Stored rows could not be checked; tried again later.'
        this.#context.events.tell('check_failed', message, { cause })
      }
      await wait(PAUSE_MS, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  /** Checks the parts that are due. */
  async #checkDue({ bytesPerSecond, everyDays }: CheckOptions, signal: AbortSignal): Promise<void> {
    const { parts } = this.#context
    const before = new Date(Date.now() - everyDays * DAY_MS).toISOString()
    let last: number | undefined
    for (;;) {
      const part = await parts.toCheck(before)
      // The same part again means that its check could not be recorded, for example on a full disk. Try again later.
      if (!part || part.id === last) return
      last = part.id
      try {
        await this.check(part, { signal, bytesPerSecond })
      } catch (error) {
        // The part was removed meanwhile, because no version needs it any more.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !(await parts.find(part.id))) continue
        if (error instanceof EngineError) throw error
        throw new Error(`part ${part.id} could not be read`, { cause: error })
      }
    }
  }

  /**
   * Turns an error of DuckDB while it read parts into an `EngineError` if it is a fault of the machine, or only a
   * damaged part can explain it; then it searches for that part in the background. Gives undefined for other errors.
   * @param ranged what was read by ranges; it knows better than DuckDB why bytes were missing
   */
  unreadable(
    parts: readonly Part[],
    error: unknown,
    ranged: readonly RangedParts[] = [],
  ): EngineError | undefined {
    if (saysHttp(error)) {
      const failure = ranged.map((reading) => reading.failure()).find((one) => one !== undefined)
      const known = this.#knownDamage(failure, parts)
      return known instanceof EngineError ? known : storeUnavailable(known ?? error)
    }
    const ofOthers = parts[0]?.attached && this.#changed(parts, error)
    if (ofOthers) return ofOthers
    // What could not be read is not damaged.
    const fault = machineError(error)
    if (fault) return fault
    const known = unreadable(error)
    if (known) {
      this.#files.distrust(parts)
      this.#context.background.later(
        async () => {
          for (const part of parts) await this.check(part)
        },
        this.#context.events.failure(
          'check_failed',
          'Checking the rows that could not be read failed as well.',
        ),
      )
    }
    return known
  }

  /** The error that one of these attached files was changed while it was read, or that it never could be read. */
  #changed(parts: readonly Part[], cause: unknown): EngineError | undefined {
    for (const part of parts) {
      const change = changeOf(this.#files.file(part), part, this.#files.attachable)
      if (change !== undefined) return fileChanged(part, change, cause)
    }
    const isNamed = (part: Part) => String(cause).includes(this.#nameOf(part))
    const said = unreadable(cause) && parts.find(isNamed)
    if (said) this.#files.distrust([said])
    return said && fileChanged(said, 'has values that are not as its schema says', cause)
  }

  /** By which DuckDB names a file; one of the cache may be linked from elsewhere. */
  #nameOf(part: Part): string {
    const file = this.#files.file(part)
    return this.#files.isCached(part) ? basename(file) : file
  }

  /** Records damage that was found while reading, and gives the error for the reader. */
  #found(part: Part, problem: string): EngineError {
    const { id, hash } = part
    this.#note(part, problem)
    // Written to the catalog in the background, so that readers don't wait for it.
    this.#context.background.later(
      () => this.#context.parts.noteCheck(id, { hash, damage: problem }),
      this.#context.events.failure('check_failed', `Recording that part ${id} is damaged failed.`, {
        part: id,
      }),
    )
    return damaged(id)
  }

  #note(part: Part, problem: Problem): void {
    const before = this.#damaged.get(part.id)
    if (problem !== undefined && before === undefined) {
      this.#context.events.tell(
        'part_damaged',
        `Part ${part.id} is damaged: ${problem}. Restore its file from a backup.`,
        { part: part.id },
      )
    }
    if (problem === undefined && before !== undefined) {
      this.#context.events.tell('part_repaired', `Part ${part.id} is whole again.`, { part: part.id })
    }
    const known = new Map(this.#damaged)
    if (problem === undefined) known.delete(part.id)
    else known.set(part.id, problem)
    this.#damaged = known
    this.#seen.delete(part.id)
  }
}

/** The error where the file could not be read, which says nothing about its content. */
function unreadableNow(part: number, cause: unknown): EngineError {
  return new EngineError(
    machineError(cause)?.code ?? 'storage_failed',
    `Part ${part} of the stored rows can't be read at the moment, so the dataset can't be read either. Try again later.`,
    { cause, details: { part } },
  )
}

function damaged(part: number): EngineError {
  return new EngineError(
    'storage_damaged',
    `Part ${part} of the stored rows is damaged, so the dataset can't be read. The operator can restore it from a ` +
      'backup.',
    { details: { part } },
  )
}

/** Matches DuckDB's messages about a Parquet file that it can't read or a page that it can't decompress. */
const ABOUT_A_FILE =
  /^(IO|Invalid Input|Invalid|Serialization|Corruption|Out of Range) Error|TProtocolException|TTransportException/

/**
 * Turns an error of DuckDB while it read parts into ours, if only a damaged file can explain it; undefined otherwise.
 */
function unreadable(error: unknown): EngineError | undefined {
  if (!(error instanceof Error) || !ABOUT_A_FILE.test(error.message)) return undefined
  return new EngineError(
    'storage_damaged',
    "The stored rows are damaged, so the dataset can't be read. The operator can restore them from a backup.",
    { cause: error },
  )
}

/** Whether an error of DuckDB is about a part that it read by ranges, over HTTP: a refused request or a connection. */
function saysHttp(error: unknown): boolean {
  return error instanceof Error && /^HTTP Error|^IO Error: [^\n]* HTTP /.test(error.message)
}
