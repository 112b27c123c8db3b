import { entryOf, type Statement } from '../../types/index.ts'
import type { Arena, Batch } from '../batch.ts'
import { Calls } from '../calls.ts'
import { cancelled, saysInterrupted } from '../errors.ts'
import { lockDown, openSettings } from '../instance.ts'
import type { Chunk, Cursor, DuckRunner, Handle, RunnerOptions, StartOptions } from '../runner.ts'
import { type DuckDb, loadDuckDb, type Result } from './ffi.ts'
import { NativeReader } from './native-reader.ts'

/**
 * How much of a result DuckDB keeps ready by default (1 MB): enough that readers don't wait, and little enough for a
 * hundred results at once.
 */
const READY_KIB = 976
/** Assumed for a result whose row size is not known; its texts may be long. */
const UNKNOWN_ROW_BYTES = 256

/** A statement that DuckDB runs on a connection of its own. */
class NativeCursor implements Cursor {
  readonly #duckdb: DuckDb
  readonly #statement: Statement
  readonly #onClose: (self: NativeCursor) => void
  readonly #connection: bigint
  readonly #calls: Calls
  readonly #readers = new Map<Arena, NativeReader>()
  #handle: Handle | undefined
  #prepared: bigint | undefined
  #result: Result | undefined
  #connected = true
  #whole = false
  #ended = false
  #closed: Promise<void> | undefined

  constructor(duckdb: DuckDb, database: bigint, statement: Statement, onClose: (self: NativeCursor) => void) {
    const connection = duckdb.connect(database)
    // Somebody may still want to interrupt the statement when its connection is no more.
    this.#calls = new Calls(() => {
      if (this.#connected) duckdb.interrupt(connection)
    })
    this.#duckdb = duckdb
    this.#statement = statement
    this.#onClose = onClose
    this.#connection = connection
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

  async #run({ rowBytes, steady, whole = false }: StartOptions): Promise<void> {
    const { sql, parameters } = this.#statement
    this.#whole = whole
    const setting = whole ? undefined : bufferSetting(this.#statement, rowBytes)
    if (setting !== undefined) {
      await this.#calls.call(
        () => this.#duckdb.run(this.#connection, setting),
        () => {},
      )
    }
    const prepared = await this.#calls.call(
      () => this.#duckdb.prepare(this.#connection, sql),
      (statement) => {
        this.#prepared = statement
        this.#duckdb.bind(statement, parameters)
        return statement
      },
    )
    await this.#calls.call(
      () => (whole ? this.#duckdb.executeWhole(prepared) : this.#duckdb.execute(prepared)),
      (result) => {
        this.#result = result
        if (steady && !whole) this.#handle = { result: result.inner }
        checkTypes(this.#statement, this.#duckdb.columnTypes(result))
        return result
      },
    )
  }

  async fetch(): Promise<Chunk | undefined> {
    const result = this.#result
    if (!result) throw cancelled(undefined)
    const address = this.#whole ? this.#nextHere(result) : await this.#next(result)
    if (address === undefined) {
      this.#ended = true
      return undefined
    }
    const rows = this.#duckdb.chunkRows(address)
    return { kind: 'native', rows, address }
  }

  handle(): Handle | undefined {
    return this.#handle
  }

  cut(chunk: Chunk, rows: number): Chunk {
    if (chunk.kind !== 'native') throw new TypeError('The chunk is of another cursor')
    const address = this.#duckdb.cut(chunk.address, rows)
    return { ...chunk, rows: chunk.rows - rows, address }
  }

  #nextHere(result: Result): bigint | undefined {
    if (this.#calls.interrupted) throw cancelled(undefined)
    return this.#duckdb.fetchHere(result.inner)
  }

  #next(result: Result): Promise<bigint | undefined> {
    return this.#calls
      .call(
        () => this.#duckdb.fetch(result),
        (chunk) => {
          if (!this.#calls.interrupted || chunk === undefined) return chunk
          this.#duckdb.destroyChunk(chunk)
          throw cancelled(undefined)
        },
      )
      .catch(async (error) => {
        throw await this.trueError(error)
      })
  }

  /** DuckDB sometimes reports an interrupt although there was none; then the query is run again for its real error. */
  async trueError(error: unknown): Promise<unknown> {
    if (this.#calls.interrupted || !saysInterrupted(error)) return error
    try {
      await this.#runAgain()
      return error
    } catch (cause) {
      return cause
    }
  }

  async #runAgain(): Promise<void> {
    const { sql, parameters } = this.#statement
    await this.#calls.call(
      async () => {
        const prepared = await this.#duckdb.prepare(this.#connection, `EXPLAIN ANALYZE ${sql}`)
        try {
          this.#duckdb.bind(prepared, parameters)
          await this.#duckdb.destroyResult(await this.#duckdb.execute(prepared))
        } finally {
          await this.#duckdb.destroyStatement(prepared)
        }
      },
      () => {},
    )
  }

  decode(chunk: Chunk, arena: Arena): Batch {
    if (chunk.kind === 'batch') return chunk.batch
    let reader = this.#readers.get(arena)
    if (!reader) {
      const types = this.#statement.columns.map((column) => column.type)
      reader = new NativeReader(this.#duckdb, types, arena)
      this.#readers.set(arena, reader)
    }
    return reader.read(chunk.address)
  }

  discard(chunk: Chunk): void {
    if (chunk.kind === 'native') this.#duckdb.destroyChunk(chunk.address)
  }

  interrupt(): void {
    this.#calls.interrupt()
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    // After the last row, nothing runs that could be interrupted.
    if (!this.#ended) {
      this.interrupt()
      await this.#calls.settled()
    }
    await this.#free()
  }

  async #free(): Promise<void> {
    const result = this.#result
    const prepared = this.#prepared
    this.#result = undefined
    this.#prepared = undefined
    this.#connected = false
    if (this.#ended) {
      this.#duckdb.endHere(result, prepared, this.#connection)
    } else {
      if (result) await this.#duckdb.destroyResult(result)
      if (prepared !== undefined) await this.#duckdb.destroyStatement(prepared)
      await this.#duckdb.disconnect(this.#connection)
    }
    this.#onClose(this)
  }
}

/**
 * A setting that makes DuckDB keep about a megabyte of a result ready; undefined if the default does so. DuckDB counts
 * 16 bytes for a text, however long it is, so the size is converted to the bytes that DuckDB counts.
 */
function bufferSetting(statement: Statement, rowBytes: number = UNKNOWN_ROW_BYTES): string | undefined {
  const counted = statement.columns.reduce((sum, { type }) => sum + entryOf(type).bytes, 0)
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

/** Opens a DuckDB through its C API. @throws EngineError `internal` if the library can't be loaded */
export async function openNativeRunner(options: RunnerOptions): Promise<DuckRunner> {
  const duckdb = loadDuckDb()
  const database = duckdb.open(openSettings(options))
  let readsHttp: boolean
  try {
    const connection = duckdb.connect(database)
    try {
      readsHttp = await lockDown(options, (sql) => duckdb.run(connection, sql))
    } finally {
      await duckdb.disconnect(connection)
    }
  } catch (error) {
    duckdb.close(database)
    throw error
  }
  const cursors = new Set<NativeCursor>()
  let closed = false
  let started = 0
  return {
    readsHttp,
    get started() {
      return started
    },
    get open() {
      return cursors.size
    },
    async start(statement, startOptions) {
      if (closed) throw cancelled(undefined)
      const cursor = new NativeCursor(duckdb, database, statement, (self) => cursors.delete(self))
      cursors.add(cursor)
      started++
      await cursor.start(startOptions)
      return cursor
    },
    async close() {
      if (closed) return
      closed = true
      await Promise.all([...cursors].map((cursor) => cursor.close()))
      duckdb.close(database)
    },
  }
}
