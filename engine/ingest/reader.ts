import { availableParallelism } from 'node:os'
import { Duck, type DuckOptions, type RunOptions } from '../duckdb/duck.ts'
import { EngineError } from '../errors.ts'
import type { Column } from '../types/index.ts'
import type { PartStatistics } from '../types/statistics.ts'
import { ingestDialect, scanArriving } from './csv/ingest.ts'
import type { EarlyScan } from './csv/tasks.ts'
import { cutPart } from './cut.ts'
import { refuseLongTexts } from './long-texts.ts'
import { readPacked } from './packed.ts'
import { ingestParquet } from './parquet/ingest.ts'
import { rewriteParts, verifyPart } from './parts.ts'
import type { CutInput, IngestInput, JobHooks, JobId, ScanInput } from './process/jobs.ts'
import type { ReaderOptions } from './process/start.ts'
import type { Described, IngestResult, PartSize, ReadRequest } from './request.ts'
import { partStatistics } from './statistics.ts'
import { knownColumns } from './targets.ts'
import { ingestRewritten } from './text/rewritten.ts'
import type { Arrival } from './threads/arrival.ts'
import { Workers } from './threads/workers.ts'
import type { Tools } from './tools.ts'

/** Memory that Node, its threads and their buffers need, and that DuckDB therefore does not get. */
const NODE_MEMORY = 384 * 2 ** 20
const LEAST_DUCK_MEMORY = 128 * 2 ** 20

/** Reads uploads and parts and writes parts, in a process of its own (`process/main.ts`). */
export class Reader {
  readonly #tools: Tools
  readonly #early = new Map<JobId, EarlyScan>()

  private constructor(duck: Duck, threads: number) {
    this.#tools = { duck, workers: new Workers(threads) }
  }

  static async open({ threads, memory, directory, folders }: ReaderOptions): Promise<Reader> {
    const duck: DuckOptions = {
      threads,
      memoryLimit: `${Math.floor(Math.max(memory - NODE_MEMORY, LEAST_DUCK_MEMORY) / 2 ** 20)}MiB`,
      tempDirectory: directory,
      allowedDirectories: folders,
    }
    return new Reader(await Duck.open(duck), threads ?? availableParallelism())
  }

  /** As `Ingestor.ingest`. */
  async ingest(input: IngestInput, hooks: JobHooks): Promise<Described<IngestResult>> {
    const result = await this.#ingest(input, hooks)
    await refuseLongTexts(this.#tools.duck, input.target, result, hooks)
    return { ...result, statistics: await partStatistics(input.target, result.columns) }
  }

  async #ingest(input: IngestInput, hooks: JobHooks): Promise<IngestResult> {
    const early = input.early === undefined ? undefined : this.#early.get(input.early)
    const request = { ...input, ...hooks, early }
    try {
      if (!input.gzip) return await this.#read(request)
      return await readPacked(this.#tools, request, (unpacked) => this.#read(unpacked))
    } catch (error) {
      // Here DuckDB's memory limit is for this upload alone, so another attempt later would not get more.
      if (!(error instanceof EngineError && error.code === 'overloaded')) throw error
      throw new EngineError('upload_too_large', 'The upload needs more memory than one upload may take.', {
        cause: error,
      })
    }
  }

  /** Begins to scan a csv file that still arrives, and keeps the scan for the job `ingest` until it is aborted. */
  async scanEarly(job: JobId, input: ScanInput, hooks: JobHooks, arrival: Arrival): Promise<void> {
    const known = knownColumns(input.existing, input.declared)
    this.#early.set(job, await scanArriving(this.#tools.workers, known, { ...input, ...hooks }, arrival))
    hooks.signal?.addEventListener('abort', () => this.#early.delete(job))
  }

  /** As `Ingestor.rewrite`. */
  async rewrite(
    parts: readonly string[],
    target: string,
    from: readonly Column[],
    to: readonly Column[],
    options: RunOptions = {},
  ): Promise<Described<PartSize>> {
    const size = await rewriteParts(this.#tools.duck, parts, target, from, to, options)
    return { ...size, statistics: await partStatistics(target, to) }
  }

  /** As `Ingestor.statistics`. */
  statistics(part: string, columns: readonly Column[]): Promise<PartStatistics> {
    return partStatistics(part, columns)
  }

  /** As `Ingestor.cut`. */
  cut({ part, cuts, columns, rawBytes }: CutInput, options: RunOptions): Promise<Described<PartSize>[]> {
    return cutPart(this.#tools.duck, part, cuts, columns, rawBytes, options)
  }

  /** As `Ingestor.verify`. */
  verify(part: string, options: RunOptions): Promise<{ rows: number; columns: string[] }> {
    return verifyPart(this.#tools.duck, part, options)
  }

  #read(request: ReadRequest): Promise<IngestResult> {
    const known = knownColumns(request.existing, request.declared)
    switch (request.format) {
      case 'csv':
      case 'tsv':
        return ingestDialect(this.#tools, known, request)
      case 'parquet':
        return ingestParquet(this.#tools.duck, known, request)
      case 'json':
      case 'ndjson':
      case 'arrow':
      case 'xlsx':
        return ingestRewritten(this.#tools, request)
      default:
        return request.format satisfies never
    }
  }
}
