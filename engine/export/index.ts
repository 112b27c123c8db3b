import { mkdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { RecordBatch, Schema } from 'apache-arrow'
import { Arena } from '../duckdb/batch.ts'
import { cancelled } from '../duckdb/errors.ts'
import { openLightSource } from '../duckdb/light-source.ts'
import type { OpenSourceOptions } from '../duckdb/open-source.ts'
import type { Source, StartOptions } from '../duckdb/source.ts'
import type { Copies } from '../plan/copies.ts'
import type { TrinoSourceOptions, TrinoStats } from '../trino/source.ts'
import type { Format, Statement } from '../types/index.ts'
import { exportCopied } from './copied.ts'
import { type ByteStream, exportBytes } from './deliver.ts'
import { WorkerPool } from './dispatch.ts'
import { exportFew, isFew } from './few.ts'
import type { EncodeOptions } from './formats/encoder.ts'
import type { EncodedFormat } from './formats/index.ts'
import { shapeOf } from './formats/text/cells.ts'
import { type Page, type Surroundings, WaitingPages } from './pages.ts'
import { exportParquet } from './parquet.ts'
import { rowValues } from './row-values.ts'

export type { ByteStream } from './deliver.ts'
export type { Page } from './pages.ts'

export interface ExecutorOptions extends OpenSourceOptions {
  /** Threads that encode; by default as many as there are cores. */
  readonly workers?: number
  /** A Trino that is asked first for statements that have a form for it. */
  readonly trino?: TrinoSourceOptions | undefined
}

export interface RunOptions {
  /** Aborting interrupts the query, which then rejects: with the signal's reason if that is an EngineError. */
  readonly signal?: AbortSignal
  /** Average bytes of a row; the sizes of buffers depend on it. */
  readonly rowBytes?: number
  /** Whether rows come straight from the scan, without a filter or a sort. */
  readonly steady?: boolean
  /** The most rows that the statement can give, if that is known. */
  readonly rowsHint?: number
}

/** Arrow record batches in memory that JavaScript owns. */
export interface BatchStream extends AsyncIterable<RecordBatch> {
  /** Known before the first batch. */
  readonly schema: Promise<Schema>
}

export interface ExecutorStats {
  readonly source: Source['kind']
  /** Byte streams that are neither read to their end nor disposed. */
  readonly exports: number
  /** Statements that hold a connection of the engine. */
  readonly statements: number
  readonly workers: number
  /** Pieces that workers are encoding or have yet to encode. */
  readonly encoding: number
  /** Undefined if there is no Trino. */
  readonly trino?: TrinoStats | undefined
}

/**
 * Runs statements in a DuckDB instance of its own. Errors about values (a cast, an overflow) are DuckDB's own errors;
 * all others are EngineErrors.
 */
export interface Executor {
  /** Whether statements can name files by addresses below that of `http`. */
  readonly readsHttp: boolean
  /** Small results: counts, plans, statistics. */
  rows(statement: Statement, options?: RunOptions): Promise<readonly (readonly unknown[])[]>
  /** The same rows as `rows` gives, some at a time. Read each group of rows before you ask for the next. */
  values(statement: Statement, options?: RunOptions): AsyncIterable<Iterable<readonly unknown[]>>
  batches(statement: Statement, options?: RunOptions): BatchStream
  /**
   * The rows in a format. Resolves when the first rows are there. The caller must read the stream to its end or
   * dispose it.
   */
  bytes(
    statement: Statement,
    format: Format,
    options?: RunOptions & EncodeOptions & { readonly page?: Page | undefined },
  ): Promise<ByteStream>
  /**
   * Rows of several Parquet files as one file, into which their compressed pages are copied; undefined where that is
   * not possible and all rows have to be written anew.
   */
  copied(copies: Copies, options?: RunOptions): Promise<ByteStream | undefined>
  /** The first `most` of the rows of a statement that gives few, and how many it gave. */
  firstRows(
    statement: Statement,
    format: EncodedFormat,
    options: RunOptions & EncodeOptions & { readonly most: number },
  ): Promise<{ stream: ByteStream; found: number }>
  /** Starts the threads that large exports need, so that the first large export doesn't wait for them. */
  startWorkers(): void
  stats(): ExecutorStats
  /** Bytes that DuckDB has in use. */
  engineMemory(): Promise<number>
  /** Ends everything under way and frees it. */
  close(): Promise<void>
}

export async function openExecutor(options: ExecutorOptions): Promise<Executor> {
  mkdirSync(options.tempDirectory, { recursive: true })
  const duck = await openLightSource(options)
  const distributed = options.trino && (await import('../trino/source.ts')).withTrino(duck, options.trino)
  const source = distributed ?? duck
  const pool = new WorkerPool(options.workers ?? availableParallelism())
  const around: Surroundings = { source, pool, waiting: new WaitingPages(), running: new Set() }
  let closing: Promise<void> | undefined

  async function* values(statement: Statement, startOptions: StartOptions) {
    const shape = shapeOf(statement.columns.map((column) => column.type))
    for await (const batch of decoded(source, statement, startOptions, new Arena('reused')))
      yield rowValues(batch, shape)
  }

  /** Opens a stream, unless `close` is called: it may have ended the others before this one was known. */
  async function opened<Stream extends ByteStream | undefined>(open: () => Promise<Stream>): Promise<Stream> {
    if (closing) throw cancelled(undefined)
    const stream = await open()
    if (!closing) return stream
    await stream?.[Symbol.asyncDispose]()
    throw cancelled(undefined)
  }

  const executor: Executor = {
    readsHttp: duck.readsHttp,

    async rows(statement, runOptions = {}) {
      const rows: (readonly unknown[])[] = []
      for await (const some of values(statement, { ...runOptions, whole: true })) rows.push(...some)
      return rows
    },

    values: (statement, runOptions = {}) =>
      values(statement, { ...runOptions, whole: isFew(runOptions.rowsHint, runOptions.rowBytes) }),

    batches(statement, runOptions = {}) {
      const { columns } = statement
      // Loading apache-arrow takes a while, and most statements don't end as record batches.
      const arrow = import('./formats/record-batch.ts')
      return {
        schema: arrow.then(({ arrowSchema }) => arrowSchema(columns)),
        async *[Symbol.asyncIterator]() {
          const { arrowSchema, recordBatch } = await arrow
          const schema = arrowSchema(columns)
          for await (const batch of decoded(source, statement, runOptions, new Arena('kept'))) {
            yield recordBatch(schema, columns, batch)
          }
        },
      }
    },

    bytes: (statement, format, runOptions = {}) =>
      opened(async () => {
        if (format === 'parquet') return exportParquet(around, statement, options.tempDirectory, runOptions)
        if (!isFew(runOptions.rowsHint, runOptions.rowBytes))
          return exportBytes(around, statement, format, runOptions)
        return (await exportFew(around, statement, format, runOptions)).stream
      }),

    copied: (copies, runOptions = {}) =>
      opened(() => exportCopied(around, copies, options.tempDirectory, runOptions)),

    firstRows: (statement, format, runOptions) => exportFew(around, statement, format, runOptions),

    startWorkers: () => pool.start(),

    stats: () => ({
      source: source.kind,
      exports: around.running.size,
      statements: source.open,
      workers: pool.size,
      encoding: pool.busy,
      trino: distributed?.trino,
    }),

    async engineMemory() {
      const [row] = await executor.rows({
        sql: 'SELECT CAST(sum(memory_usage_bytes) AS BIGINT) FROM duckdb_memory()',
        parameters: [],
        columns: [{ name: 'bytes', type: 'integer' }],
      })
      return Number(row![0])
    },

    close() {
      closing ??= (async () => {
        await Promise.all([...around.running].map((stream) => stream[Symbol.asyncDispose]()))
        await around.waiting.close()
        await source.close()
        await pool.close()
      })()
      return closing
    },
  }
  return executor
}

async function* decoded(source: Source, statement: Statement, options: StartOptions, arena: Arena) {
  const { signal } = options
  const cursor = await source.start(statement, options)
  const stop = () => cursor.interrupt()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    if (signal?.aborted) throw cancelled(signal)
    for (let chunk = await cursor.fetch(); chunk; chunk = await cursor.fetch())
      yield cursor.decode(chunk, arena)
  } catch (error) {
    throw signal?.aborted ? cancelled(signal) : error
  } finally {
    signal?.removeEventListener('abort', stop)
    await cursor.close()
  }
}
