import { mkdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Arena, type Batch, isNull, type Vector } from '../duckdb/batch.ts'
import type { StartOptions } from '../duckdb/cursor.ts'
import { cancelled } from '../duckdb/errors.ts'
import type { RunnerOptions } from '../duckdb/native/instances.ts'
import { Runner } from '../duckdb/native/runner.ts'
import type { Copies } from '../plan/statements.ts'
import type { Format, Statement } from '../types/index.ts'
import type { ByteStream } from './byte-stream.ts'
import { type DeliverOptions, exportBuffered, exportBytes } from './deliver.ts'
import { type ExecutorParts, WorkerPool } from './dispatch.ts'
import { PieceMemory } from './encode.ts'
import { type EncodeOptions, Output } from './formats/encoder.ts'
import { fixedCell, KIND, type Shape, shapeOf } from './formats/text/cells.ts'
import { endStatement, waitingPages } from './pages.ts'
import { exportCopied, exportJoined, exportParquet, type ParquetOptions } from './parquet.ts'

export interface ExecutorOptions extends RunnerOptions {
  /** Threads that encode; by default as many as there are cores. */
  readonly workers?: number
}

export interface StreamOptions extends DeliverOptions, Pick<ParquetOptions, 'signedZeros'> {
  /** Stored pages with the rows of the statement. Where they can't be joined to one file, DuckDB writes it. */
  readonly copies?: Copies | undefined
}

export interface ExecutorStats {
  /** Byte streams that are neither read to their end nor disposed. */
  readonly exports: number
  /** Statements that hold a connection of the engine. */
  readonly statements: number
  /** Statements that were started since the engine was opened. */
  readonly started: number
  readonly workers: number
  /** Pieces that workers are encoding or have yet to encode. */
  readonly encoding: number
}

export async function openExecutor(options: ExecutorOptions): Promise<Executor> {
  mkdirSync(options.tempDirectory, { recursive: true })
  return new Executor(await Runner.open(options), options)
}

/**
 * Runs statements in a DuckDB instance of its own. Errors about values (a cast, an overflow) are DuckDB's own errors;
 * all others are EngineErrors. Aborting a signal interrupts the statement, which then rejects: with the signal's reason
 * if that is an EngineError. Whoever gets a stream must read it to its end or dispose it.
 */
export class Executor {
  /** Whether statements can name files by addresses below that of `http`. */
  readonly readsHttp: boolean
  readonly #parts: ExecutorParts
  #closing: Promise<void> | undefined

  /** Use `openExecutor`. */
  constructor(runner: Runner, { workers = availableParallelism(), tempDirectory }: ExecutorOptions) {
    this.readsHttp = runner.readsHttp
    this.#parts = {
      runner,
      pool: new WorkerPool(workers),
      memory: new PieceMemory(),
      waiting: waitingPages(),
      running: new Set(),
      directory: tempDirectory,
    }
  }

  /** Small results: counts, plans, statistics. */
  async rows(statement: Statement, options: StartOptions = {}): Promise<readonly (readonly unknown[])[]> {
    const rows: (readonly unknown[])[] = []
    for await (const some of this.values(statement, { ...options, whole: true })) rows.push(...some)
    return rows
  }

  /** The same rows as `rows` gives, some at a time. */
  async *values(
    statement: Statement,
    options: StartOptions = {},
  ): AsyncGenerator<readonly (readonly unknown[])[], void, undefined> {
    const { signal } = options
    const shape = shapeOf(statement.columns.map((column) => column.type))
    const arena = new Arena('reused')
    const cursor = await this.#parts.runner.start(statement, options)
    const stop = () => cursor.interrupt()
    signal?.addEventListener('abort', stop, { once: true })
    try {
      if (signal?.aborted) throw cancelled(signal)
      for (let chunk = await cursor.fetch(); chunk; chunk = await cursor.fetch()) {
        yield rowValues(cursor.decode(chunk, arena), shape)
      }
    } catch (error) {
      throw signal?.aborted ? cancelled(signal) : error
    } finally {
      signal?.removeEventListener('abort', stop)
      await cursor.close()
    }
  }

  /** The rows in a format. Resolves when the first of them are there; if they are few (`whole`), when all are. */
  async bytes(
    statement: Statement,
    format: Format,
    options: StreamOptions = {},
    encoding: EncodeOptions = {},
  ): Promise<ByteStream> {
    const parts = this.#parts
    const stream =
      format === 'parquet'
        ? await this.#parquet(statement, options, encoding)
        : options.whole
          ? await exportBuffered(parts, statement, format, options, encoding)
          : await exportBytes(parts, statement, format, options, encoding)
    if (!this.#closing) return stream
    // `close` may have ended the others before this one was known.
    await stream[Symbol.asyncDispose]()
    throw cancelled(undefined)
  }

  async #parquet(
    statement: Statement,
    { copies, following = [], ...options }: StreamOptions,
    { encoding, metadata }: EncodeOptions,
  ): Promise<ByteStream> {
    const writing = { ...options, encoding, metadata }
    const copied = copies && (await exportCopied(this.#parts, copies, writing))
    if (copied) return copied
    return following.length === 0
      ? exportParquet(this.#parts, statement, writing)
      : exportJoined(this.#parts, [statement, ...following], writing)
  }

  /** Starts the threads that large exports need, so that the first large export doesn't wait for them. */
  startWorkers(): void {
    this.#parts.pool.start()
  }

  stats(): ExecutorStats {
    const { running, runner, pool } = this.#parts
    return {
      exports: running.size,
      statements: runner.open,
      started: runner.started,
      workers: pool.size,
      encoding: pool.busy,
    }
  }

  /** Bytes that DuckDB has in use. */
  async engineMemory(): Promise<number> {
    const [row] = await this.rows({
      sql: 'SELECT CAST(sum(memory_usage_bytes) AS BIGINT) FROM duckdb_memory()',
      parameters: [],
      columns: [{ name: 'bytes', type: 'integer' }],
    })
    return Number(row![0])
  }

  /** Ends everything under way and frees it. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const { running, waiting, runner, pool } = this.#parts
    await Promise.all([...running].map((stream) => stream[Symbol.asyncDispose]()))
    await Promise.all([...waiting.values()].map(endStatement))
    waiting.clear()
    await runner.close()
    await pool.close()
  }
}

/** What a query needs of an executor. */
export type QueryExecutor = Pick<Executor, 'rows' | 'values' | 'bytes'>

/**
 * Rows as JavaScript values: booleans, numbers for doubles and for integers up to 2^53 (BigInts beyond), Uint8Array
 * for binary, and for all other types the text that csv has.
 */
export function rowValues({ rows, vectors }: Batch, { kinds, scales }: Shape): unknown[][] {
  const out = new Output(128)
  return Array.from({ length: rows }, (_, row) =>
    vectors.map((vector, column) =>
      isNull(vector, row) ? null : value(vector, row, kinds[column]!, scales[column]!, out),
    ),
  )
}

function value(vector: Vector, row: number, kind: number, scale: number, out: Output): unknown {
  switch (kind) {
    case KIND.boolean:
      return ((vector.bytes[row >> 3]! >> (row & 7)) & 1) === 1
    case KIND.integer: {
      const high = vector.words[2 * row + 1]!
      const low = vector.words[2 * row]! >>> 0
      const near = high * 4_294_967_296 + low
      return Number.isSafeInteger(near) ? near : (BigInt(high) << 32n) | BigInt(low)
    }
    case KIND.double:
      return vector.doubles[row]
    case KIND.binary:
      return vector.bytes.slice(vector.offsets[row], vector.offsets[row + 1])
    case KIND.uuid:
    case KIND.string:
    case KIND.json:
      return Buffer.from(vector.bytes.buffer, vector.bytes.byteOffset).toString(
        'utf8',
        vector.offsets[row],
        vector.offsets[row + 1],
      )
    default:
      return Buffer.from(out.bytes.buffer, 0, fixedCell(out.view, 0, vector, row, kind, scale)).toString(
        'latin1',
      )
  }
}

/** Makes objects of rows whose values stand in the order of the names. */
export function objectMaker(names: readonly string[]): (row: readonly unknown[]) => Record<string, unknown> {
  // An assignment to this name would replace the object's prototype.
  if (names.includes('__proto__')) {
    return (row) => Object.fromEntries(names.map((name, index) => [name, row[index]]))
  }
  return (row) => {
    const object: Record<string, unknown> = {}
    for (let index = 0; index < names.length; index++) object[names[index]!] = row[index]
    return object
  }
}
