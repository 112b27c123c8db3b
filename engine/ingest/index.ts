import { stat } from 'node:fs/promises'
import { Duck, type DuckOptions, type RunOptions } from '../duckdb/duck.ts'
import type { Column } from '../types/index.ts'
import { TemporaryFile } from '../util/temporary.ts'
import { ingestCsv, scanArriving } from './csv/ingest.ts'
import type { EarlyScan } from './early.ts'
import { gunzip } from './gunzip.ts'
import { ingestParquet } from './parquet/ingest.ts'
import { rewriteParts, verifyPart } from './parts.ts'
import type { IngestRequest, IngestResult, PartSize } from './request.ts'
import { knownColumns } from './targets.ts'
import { ingestRewritten } from './text/rewritten.ts'
import type { Arrival } from './threads/arrival.ts'
import { Workers } from './threads/workers.ts'
import type { Tools } from './tools.ts'

export type { DeclaredColumn, IngestRequest, IngestResult, PartSize, UploadFormat } from './request.ts'
export { spool, uploadFormatOf } from './spool.ts'

/** A thread is kept by each for as long as its client takes. */
const MOST_EARLY = 2

/** Turns uploads into Parquet parts. Order of rows is order of upload, always. */
export class Ingestor {
  readonly #duck: Duck
  readonly #workers = new Workers()
  readonly #tools: Tools
  #early = 0

  private constructor(duck: Duck) {
    this.#duck = duck
    this.#tools = { duck, workers: this.#workers }
  }

  static async open(options: DuckOptions): Promise<Ingestor> {
    return new Ingestor(await Duck.open(options))
  }

  async close(): Promise<void> {
    await this.#workers.close()
    await this.#duck.close()
  }

  /**
   * Reads an upload and writes it as one part. Nothing stays behind if it fails, neither at `target` nor in the
   * temporary directory.
   * @throws EngineError `invalid_upload`, `column_conflict`, `upload_too_large`, `storage_full`, `cancelled` …
   */
  async ingest(request: IngestRequest): Promise<IngestResult> {
    if (!request.gzip) return this.#read(request)
    await using unpacked = new TemporaryFile(request.tempDirectory)
    await gunzip(request.file, unpacked.path, request)
    // What is left to be read is not part of the upload as it came.
    const { size } = await stat(request.file)
    const onProgress = ({ rows }: { rows?: number }) => request.onProgress?.({ bytes: size, rows })
    return await this.#read({ ...request, file: unpacked.path, onProgress })
  }

  /**
   * Begins to scan a csv upload that still arrives, if not too many others do.
   * @throws EngineError what is wrong already with its beginning
   */
  async scanEarly(
    request: Pick<IngestRequest, 'file' | 'format' | 'existing' | 'declared' | 'signal' | 'onProgress'>,
    arrival: Arrival,
  ): Promise<EarlyScan | undefined> {
    if (this.#early === MOST_EARLY) return undefined
    this.#early += 1
    const leave = () => {
      this.#early -= 1
    }
    try {
      const known = knownColumns(request.existing, request.declared)
      const early = await scanArriving(this.#workers, known, request, arrival)
      early.findings.then(leave, leave)
      return early
    } catch (error) {
      leave()
      throw error
    }
  }

  /** Writes the rows of parts with the same columns into one, in order. */
  merge(
    parts: readonly string[],
    target: string,
    columns: readonly Column[],
    options: RunOptions = {},
  ): Promise<PartSize> {
    return rewriteParts(this.#duck, parts, target, columns, columns, options)
  }

  /**
   * Writes the rows of parts under a changed manifest: columns may be added as nulls, reordered, and widened.
   * @throws EngineError `column_conflict` where a type can't become the other without loss
   */
  rewrite(
    parts: readonly string[],
    target: string,
    from: readonly Column[],
    to: readonly Column[],
    options: RunOptions = {},
  ): Promise<PartSize> {
    return rewriteParts(this.#duck, parts, target, from, to, options)
  }

  /** Decodes every page of a part. @throws if it can't be read to its end */
  verify(part: string): Promise<{ rows: number; columns: string[] }> {
    return verifyPart(this.#duck, part)
  }

  #read(request: IngestRequest): Promise<IngestResult> {
    const known = knownColumns(request.existing, request.declared)
    switch (request.format) {
      case 'csv':
      case 'tsv':
        return ingestCsv(this.#tools, known, request)
      case 'parquet':
        return ingestParquet(this.#duck, known, request)
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
