import { realpath, rm, stat } from 'node:fs/promises'
import type { RunOptions } from '../duckdb/duck.ts'
import { EngineError } from '../errors.ts'
import type { Column } from '../types/index.ts'
import type { PartStatistics } from '../types/statistics.ts'
import type { Cut } from './cut.ts'
import { EarlyReading } from './early.ts'
import type { Input, JobHooks, JobName, Result, ScanInput } from './process/jobs.ts'
import { type ReaderState, Readers, type ReadersOptions } from './process/reader-processes.ts'
import type { Described, IngestRequest, IngestResult, PartSize } from './request.ts'

export type {
  DeclaredColumn,
  Described,
  IngestRequest,
  IngestResult,
  PartSize,
  UploadFormat,
  UploadOptions,
} from './request.ts'
export { spool, uploadFormatOf } from './spool.ts'

/** The most uploads scanned while they still arrive: each keeps a reader for as long as its client takes to send it. */
const MOST_EARLY = 2

/**
 * How much CPU time reading an upload may take. It grows with the size of the file, since a file of a megabyte may
 * unpack to a gigabyte, but one of a kilobyte may not.
 */
const CPU_SECONDS = 60
const CPU_SECONDS_A_MEGABYTE = 4

/**
 * Turns uploads into Parquet parts. The rows always keep the order of the upload. All of this happens in child
 * processes, one upload at a time in each, so that no byte of an upload reaches native code of this process.
 */
export class Ingestor {
  readonly #readers: Readers
  #early = 0

  /** Call `close` when it is no longer needed. */
  constructor(options: ReadersOptions) {
    this.#readers = new Readers(options)
  }

  /** Starts a reader, so that it is there when an upload has arrived. */
  warm(): void {
    this.#readers.warm()
  }

  /** The states of the processes that read. */
  get readers(): ReaderState[] {
    return this.#readers.states
  }

  /** Ends all readers, and with them the jobs that are under way. */
  close(): Promise<void> {
    return this.#readers.close()
  }

  /**
   * Reads an upload and writes it as one part. `early` is a scan of the file that began before all of the file had
   * arrived. If the upload fails, nothing is left behind, neither at `target` nor in the temporary directory.
   * @throws EngineError `invalid_upload`, `column_conflict`, `upload_too_large`, `storage_full`, `cancelled` …
   */
  async ingest(
    { signal, onProgress, ...request }: IngestRequest,
    early?: EarlyReading,
  ): Promise<Described<IngestResult>> {
    // DuckDB follows links before it decides whether it may open a file, so the file has to be named without links.
    const file = await realpath(request.file)
    const { size } = await stat(file)
    using lent = early?.process.alive ? undefined : this.#readers.lend([file, request.target])
    const process = lent?.process ?? early!.process
    process.allowCpu(CPU_SECONDS + (CPU_SECONDS_A_MEGABYTE * size) / 2 ** 20)
    const input = { ...request, file, tempDirectory: process.directory, early: lent ? undefined : early?.job }
    try {
      return await process.run('ingest', input, { signal, onProgress })
    } catch (error) {
      // A reader that died could not remove the file that it was writing.
      if (!process.alive) await rm(request.target, { force: true })
      throw error
    }
  }

  /**
   * Begins to scan a csv upload that still arrives, unless too many others are already being scanned this way.
   * @throws EngineError if the beginning of the file is already wrong
   */
  async scanEarly(input: ScanInput, hooks: JobHooks): Promise<EarlyReading | undefined> {
    if (this.#early === MOST_EARLY) return undefined
    const lent = this.#readers.lend([input.file])
    this.#early += 1
    const reading = new EarlyReading(lent, input, hooks, () => {
      this.#early -= 1
    })
    try {
      await reading.begun
      return reading
    } catch (error) {
      reading[Symbol.dispose]()
      throw error
    }
  }

  /** Writes the rows of parts with the same columns into one part, in order. */
  merge(
    parts: readonly string[],
    target: string,
    columns: readonly Column[],
    options: RunOptions = {},
  ): Promise<Described<PartSize>> {
    return this.rewrite(parts, target, columns, columns, options)
  }

  /**
   * Writes the rows of parts under a changed manifest: columns may be added as nulls, reordered, and widened.
   * @throws EngineError `column_conflict` where a type can't become the other without loss
   */
  async rewrite(
    parts: readonly string[],
    target: string,
    from: readonly Column[],
    to: readonly Column[],
    options: RunOptions = {},
  ): Promise<Described<PartSize>> {
    try {
      return await this.#ofOurs('rewrite', [...parts, target], { parts, target, from, to }, options)
    } catch (error) {
      await rm(target, { force: true })
      throw error
    }
  }

  /** Writes the rows of a part as several parts, in order. */
  cut(
    part: string,
    cuts: readonly Cut[],
    columns: readonly Column[],
    rawBytes: number,
    options: RunOptions = {},
  ): Promise<Described<PartSize>[]> {
    // Callers may pass the options of a whole upload. This job needs only the signal of those.
    const { signal } = options
    return this.#ofOurs(
      'cut',
      [part, ...cuts.map(({ target }) => target)],
      { part, cuts: cuts.map(({ from, to, target }) => ({ from, to, target })), columns, rawBytes },
      { signal },
    )
  }

  /** Decodes every page of a part. @throws if it can't be read to its end */
  verify(part: string, options: RunOptions = {}): Promise<{ rows: number; columns: string[] }> {
    return this.#ofOurs('verify', [part], { part }, options)
  }

  /** The bounds of the values of a part; only its footer is read. */
  statistics(part: string, columns: readonly Column[], options: RunOptions = {}): Promise<PartStatistics> {
    return this.#ofOurs('statistics', [part], { part, columns }, options)
  }

  /** Runs a job over our own parts. If its reader crashes, the error blames a damaged part, not an upload. */
  async #ofOurs<Name extends JobName>(
    name: Name,
    files: readonly string[],
    input: Input<Name>,
    options: RunOptions,
  ): Promise<Result<Name>> {
    using lent = this.#readers.lend(files)
    try {
      return await lent.process.run(name, input, options)
    } catch (error) {
      const damaged = !lent.process.alive && error instanceof EngineError && error.code === 'invalid_upload'
      if (!damaged) throw error
      throw new EngineError('internal', 'A part makes its reader crash: it is damaged.', { cause: error })
    }
  }
}
