import { realpath, rm, stat } from 'node:fs/promises'
import type { RunOptions } from '../duckdb/duck.ts'
import { EngineError } from '../errors.ts'
import type { Column } from '../types/index.ts'
import type { PartStatistics } from '../types/statistics.ts'
import type { Cut } from './cut.ts'
import { EarlyReading } from './early.ts'
import type { Input, JobHooks, JobName, Result, ScanInput } from './process/jobs.ts'
import { type ReaderState, Readers, type ReadersOptions } from './process/readers.ts'
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

/** A reader is kept by each for as long as its client takes. */
const MOST_EARLY = 2

/** What reading an upload may take: a file of a megabyte may hold a gigabyte, one of a kilobyte may not. */
const CPU_SECONDS = 60
const CPU_SECONDS_A_MEGABYTE = 4

/**
 * Turns uploads into Parquet parts. Order of rows is order of upload, always. All of it happens in child processes, one
 * upload at a time in each: no byte of a stranger reaches native code of this process.
 */
export class Ingestor {
  readonly #readers: Readers
  #early = 0

  /** Close it. */
  constructor(options: ReadersOptions) {
    this.#readers = new Readers(options)
  }

  /** Starts a reader, so that it is there when an upload has arrived. */
  warm(): void {
    this.#readers.warm()
  }

  /** The processes that read. */
  get readers(): ReaderState[] {
    return this.#readers.states
  }

  /** Ends what is under way. */
  close(): Promise<void> {
    return this.#readers.close()
  }

  /**
   * Reads an upload and writes it as one part. `early` is a scan of the file that began before it was whole. Nothing stays behind if it fails, neither at `target` nor in the
   * temporary directory.
   * @throws EngineError `invalid_upload`, `column_conflict`, `upload_too_large`, `storage_full`, `cancelled` …
   */
  async ingest(
    { signal, onProgress, ...request }: IngestRequest,
    early?: EarlyReading,
  ): Promise<Described<IngestResult>> {
    // DuckDB looks at where a link leads.
    const file = await realpath(request.file)
    const { size } = await stat(file)
    using lent = early?.process.alive ? undefined : this.#readers.lend([file, request.target])
    const process = lent?.process ?? early!.process
    process.allowCpu(CPU_SECONDS + (CPU_SECONDS_A_MEGABYTE * size) / 2 ** 20)
    const input = { ...request, file, tempDirectory: process.directory, early: lent ? undefined : early?.job }
    try {
      return await process.run('ingest', input, { signal, onProgress })
    } catch (error) {
      // A reader that died has left what it had written.
      if (!process.alive) await rm(request.target, { force: true })
      throw error
    }
  }

  /**
   * Begins to scan a csv upload that still arrives, if not too many others do.
   * @throws EngineError what is wrong already with its beginning
   */
  async scanEarly(input: ScanInput, hooks: JobHooks): Promise<EarlyReading | undefined> {
    if (this.#early === MOST_EARLY) return undefined
    this.#early += 1
    const reading = new EarlyReading(this.#readers.lend([input.file]), input, hooks, () => {
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

  /** Writes the rows of parts with the same columns into one, in order. */
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

  /** Writes the rows of a part as several, in order. */
  cut(
    part: string,
    cuts: readonly Cut[],
    columns: readonly Column[],
    rawBytes: number,
    options: RunOptions = {},
  ): Promise<Described<PartSize>[]> {
    // Of an upload, its signal alone: the rest of it is no business of a reader's.
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

  /** Between what the values of a part lie; only its footer is read. */
  statistics(part: string, columns: readonly Column[], options: RunOptions = {}): Promise<PartStatistics> {
    return this.#ofOurs('statistics', [part], { part, columns }, options)
  }

  /** Runs a job over parts. If it kills its reader, it is a part that is damaged, not an upload. */
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
