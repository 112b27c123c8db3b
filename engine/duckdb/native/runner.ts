import { entryOf, type Statement, vectorBytes } from '../../types/index.ts'
import { Semaphore } from '../../util/semaphore.ts'
import { POOL_THREADS } from '../../util/threads.ts'
import type { Arena, Batch } from '../batch.ts'
import { type Chunk, type Cursor, SequenceCursor, type StartOptions } from '../cursor.ts'
import { cancelled, engineError, isBroken, keepInterrupting, saysInterrupted } from '../errors.ts'
import { type DuckDb, loadDuckDb, type Result } from './ffi.ts'
import { type Instance, Instances, lightOptions, type RunnerOptions } from './instances.ts'
import { NativeReader } from './native-reader.ts'

/**
 * How much of a result DuckDB keeps ready by default (1 MB): enough that readers don't wait, and little enough for a
 * hundred results at once.
 */
const READY_KIB = 976
/** Assumed for a result whose row size is not known; its texts may be long. */
const UNKNOWN_ROW_BYTES = 256

/**
 * Shared by all statements of the process. Each call of DuckDB off the main thread blocks a thread of libuv's pool.
 */
const places = new Semaphore(Math.max(1, POOL_THREADS - 2))

/** What a cursor tells of itself. */
interface CursorHooks {
  readonly closed: () => void
  /** DuckDB has failed so that it will refuse every further statement. */
  readonly broken: (error: unknown) => void
}

/** A statement that DuckDB runs on a connection of its own: one call at a time, and all of them interruptible. */
class NativeCursor implements Cursor {
  readonly #duckdb: DuckDb
  readonly #statement: Statement
  readonly #hooks: CursorHooks
  readonly #connection: bigint
  address: bigint | undefined
  #reader: NativeReader | undefined
  #running: Promise<unknown> = Promise.resolve()
  #interrupted = false
  #prepared: bigint | undefined
  #result: Result | undefined
  #connected = true
  #whole = false
  #ended = false
  #closed: Promise<void> | undefined

  constructor(duckdb: DuckDb, database: bigint, statement: Statement, hooks: CursorHooks) {
    this.#duckdb = duckdb
    this.#statement = statement
    this.#hooks = hooks
    this.#connection = duckdb.connect(database)
  }

  /** Runs the statement until its first rows are there. If that fails, the cursor closes itself. */
  async start(options: StartOptions): Promise<void> {
    const { signal } = options
    const stop = () => this.interrupt()
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
    try {
      await this.#run(options)
    } catch (error) {
      const cause = await this.trueError(error)
      await this.close()
      throw signal?.aborted ? cancelled(signal) : cause
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  }

  async #run(options: StartOptions): Promise<void> {
    const { rowBytes, whole = false } = options
    const { sql, parameters } = this.#statement
    this.#whole = whole
    const setting = whole ? undefined : bufferSetting(this.#statement, rowBytes)
    if (setting !== undefined) {
      await this.#call(
        () => this.#duckdb.run(this.#connection, setting),
        () => {},
      )
    }
    // Without parameters, DuckDB plans a prepared statement twice.
    if (whole && parameters.length === 0) {
      return this.#executed(() => this.#duckdb.query(this.#connection, sql), options)
    }
    const prepared = await this.#call(
      () => this.#duckdb.prepare(this.#connection, sql),
      (statement) => {
        this.#prepared = statement
        this.#duckdb.bind(statement, parameters)
        return statement
      },
    )
    await this.#executed(() => this.#duckdb.execute(prepared, whole), options)
  }

  async #executed(run: () => Promise<Result>, { steady, whole }: StartOptions): Promise<void> {
    await this.#call(run, (result) => {
      this.#result = result
      if (steady && !whole) this.address = result.inner
      checkTypes(this.#statement, this.#duckdb.columnTypes(result))
      return result
    })
  }

  /**
   * Runs a call. `keep` receives its result and stores it; it has run before the call counts as settled.
   * @throws EngineError `cancelled` once interrupted, else what the call throws
   */
  async #call<T>(call: () => Promise<T>, keep: (value: T) => T): Promise<T> {
    using _place = await places.enter()
    try {
      if (this.#interrupted) throw cancelled(undefined)
      const running = call().then(keep)
      this.#running = running
      return await running
    } catch (error) {
      throw this.#interrupted ? cancelled(undefined) : engineError(error, 'query')
    }
  }

  async fetch(): Promise<Chunk | undefined> {
    const result = this.#result
    if (!result) throw cancelled(undefined)
    if (this.#whole && this.#interrupted) throw cancelled(undefined)
    const address = this.#whole ? this.#duckdb.fetchHere(result.inner) : await this.#next(result)
    if (address === undefined) {
      this.#ended = true
      return undefined
    }
    const rows = this.#duckdb.chunkRows(address)
    return { kind: 'native', rows, address }
  }

  cut(chunk: Chunk, rows: number): Chunk {
    if (chunk.kind !== 'native') throw new TypeError('The chunk is of another cursor')
    const address = this.#duckdb.cut(chunk.address, rows)
    return { ...chunk, rows: chunk.rows - rows, address }
  }

  #next(result: Result): Promise<bigint | undefined> {
    return this.#call(
      () => this.#duckdb.fetch(result),
      (chunk) => {
        if (!this.#interrupted || chunk === undefined) return chunk
        this.#duckdb.destroyChunk(chunk)
        throw cancelled(undefined)
      },
    ).catch(async (error) => {
      throw await this.trueError(error)
    })
  }

  /** DuckDB sometimes reports an interrupt although there was none; then the query is run again for its real error. */
  async trueError(error: unknown): Promise<unknown> {
    if (isBroken(error)) this.#hooks.broken(error)
    if (this.#interrupted || !saysInterrupted(error)) return error
    try {
      await this.#runAgain()
      return error
    } catch (cause) {
      return cause
    }
  }

  async #runAgain(): Promise<void> {
    const { sql, parameters } = this.#statement
    await this.#call(
      async () => {
        const prepared = await this.#duckdb.prepare(this.#connection, `EXPLAIN ANALYZE ${sql}`)
        try {
          this.#duckdb.bind(prepared, parameters)
          await this.#duckdb.destroyResult(await this.#duckdb.execute(prepared, false))
        } finally {
          await this.#duckdb.destroyStatement(prepared)
        }
      },
      () => {},
    )
  }

  decode(chunk: Chunk, arena: Arena): Batch {
    if (chunk.kind === 'batch') return chunk.batch
    this.#reader ??= new NativeReader(
      this.#duckdb,
      this.#statement.columns.map((column) => column.type),
    )
    return this.#reader.read(chunk.address, arena)
  }

  discard(chunk: Chunk): void {
    if (chunk.kind === 'native') this.#duckdb.destroyChunk(chunk.address)
  }

  /** Makes the running call, and all that follow, fail. */
  interrupt(): void {
    if (this.#interrupted) return
    this.#interrupted = true
    const timer = keepInterrupting(() => {
      // Somebody may still want to interrupt the statement when its connection is no more.
      if (this.#connected) this.#duckdb.interrupt(this.#connection)
    })
    this.#running.catch(() => {}).finally(() => clearInterval(timer))
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    // After the last row, nothing runs that could be interrupted.
    if (!this.#ended) {
      this.interrupt()
      await this.#running.catch(() => {})
    }
    const result = this.#result
    const prepared = this.#prepared
    this.#result = undefined
    this.#prepared = undefined
    this.#connected = false
    if (this.#ended) this.#duckdb.endHere(result, prepared, this.#connection)
    else {
      if (result) await this.#duckdb.destroyResult(result)
      if (prepared !== undefined) await this.#duckdb.destroyStatement(prepared)
      await this.#duckdb.disconnect(this.#connection)
    }
    this.#hooks.closed()
  }
}

/**
 * A setting that makes DuckDB keep about a megabyte of a result ready; undefined if the default does so. DuckDB counts
 * 16 bytes for a text, however long it is, so the size is converted to the bytes that DuckDB counts.
 */
function bufferSetting(statement: Statement, rowBytes: number = UNKNOWN_ROW_BYTES): string | undefined {
  const counted = statement.columns.reduce((sum, { type }) => sum + vectorBytes(type), 0)
  const size = Math.round((READY_KIB * counted) / Math.max(rowBytes, 1))
  return size < READY_KIB ? `SET SESSION streaming_buffer_size = '${Math.max(1, size)}KiB'` : undefined
}

/**
 * Compares the columns that a statement declares with the `duckdb_type` numbers of its result, because reading memory
 * as a wrong type gives no error, only nonsense.
 */
function checkTypes(statement: Statement, types: readonly number[]): void {
  const { columns } = statement
  if (types.length !== columns.length) {
    throw new TypeError(`The statement returns ${types.length} columns where ${columns.length} are declared`)
  }
  for (const [index, { name, type }] of columns.entries()) {
    if (types[index] !== entryOf(type).duckdb) {
      throw new TypeError(
        `Column ${index + 1} '${name}' is declared ${type}; DuckDB returns its type ${types[index]}`,
      )
    }
  }
}

/**
 * A DuckDB for all statements that no delegate answers, and behind it a second one with a single thread for light ones
 * whose rows are wanted at once; it is opened with the first of them. DuckDB has one number of threads for all
 * statements, and if it divides little work among threads, it needs more time for them than it saves.
 */
export class Runner {
  /** Whether statements can name files by addresses below that of `http`. */
  readonly readsHttp: boolean
  readonly #duckdb: DuckDb
  readonly #main: Instances
  readonly #light: Instances | undefined
  readonly #onReplaced: RunnerOptions['onReplaced']
  readonly #cursors = new Set<NativeCursor>()
  #started = 0
  #closed = false

  private constructor(duckdb: DuckDb, main: Instances, { readsHttp }: Instance, options: RunnerOptions) {
    this.#duckdb = duckdb
    this.#main = main
    this.readsHttp = readsHttp
    this.#light = options.threads === 1 ? undefined : new Instances(duckdb, lightOptions(options))
    this.#onReplaced = options.onReplaced
  }

  /** @throws EngineError `internal` if the library can't be loaded */
  static async open(options: RunnerOptions): Promise<Runner> {
    const duckdb = loadDuckDb()
    const main = new Instances(duckdb, options)
    return new Runner(duckdb, main, await main.get(), options)
  }

  /** Statements that have been started and not closed. */
  get open(): number {
    return this.#cursors.size
  }

  /** How many were started at all. */
  get started(): number {
    return this.#started
  }

  /** Runs a statement until its first rows are there. The caller closes the cursor. */
  async start(statement: Statement, options: StartOptions): Promise<Cursor> {
    const cursor = await this.#start(statement, options)
    const { following = [] } = options
    return following.length === 0
      ? cursor
      : new SequenceCursor(cursor, following, (next) => this.#start(next, options))
  }

  async #start(statement: Statement, options: StartOptions): Promise<Cursor> {
    const { delegate, whole, signal } = options
    const answered = await delegate?.(statement.columns, signal)
    if (answered) return answered
    const instances = (statement.light && whole && this.#light) || this.#main
    try {
      return await this.#run(instances, statement, options)
    } catch (error) {
      // The cause may be another statement, or one of DuckDB's rare races, and no rows have been given yet.
      if (!this.#onReplaced || !isBroken(error)) throw error
      return await this.#run(instances, statement, options)
    }
  }

  async #run(instances: Instances, statement: Statement, options: StartOptions): Promise<Cursor> {
    if (this.#closed) throw cancelled(undefined)
    const instance = await instances.get()
    if (this.#closed) throw cancelled(undefined)
    const leave = instance.users.enter()
    const cursor = new NativeCursor(this.#duckdb, instance.database, statement, {
      closed: () => {
        this.#cursors.delete(cursor)
        leave()
      },
      broken: (error) => {
        if (this.#onReplaced && !this.#closed && instances.replace(instance)) this.#onReplaced(error)
      },
    })
    this.#cursors.add(cursor)
    this.#started++
    await cursor.start(options)
    return cursor
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await Promise.all([...this.#cursors].map((cursor) => cursor.close()))
    await this.#main.close()
    await this.#light?.close()
  }
}
