import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/**
 * DuckDB's C API, as far as results need it. The only file that knows koffi, and the one to change with DuckDB's API.
 *
 * Handles are addresses as BigInts: they may be passed between threads of this process, and nothing checks them.
 * Whatever a function opens must be closed by its counterpart, once.
 */
export interface DuckDb {
  /** Opens an in-memory database. */
  open(config: Readonly<Record<string, string>>): bigint
  close(database: bigint): void
  connect(database: bigint): bigint
  /** Off the main thread, because it waits until the connection has finished what it is doing. */
  disconnect(connection: bigint): Promise<void>
  /** Makes the connection's running query fail. Harmless when none runs, without effect on one that starts later. */
  interrupt(connection: bigint): void
  /** Off the main thread; for statements that return nothing of interest. */
  run(connection: bigint, sql: string): Promise<void>
  /** Off the main thread. The caller must destroy the statement, unless this rejects. */
  prepare(connection: bigint, sql: string): Promise<bigint>
  bind(statement: bigint, parameters: readonly string[]): void
  /** Off the main thread, for the same reason as `disconnect`. */
  destroyStatement(statement: bigint): Promise<void>
  /** Off the main thread; resolves when the first rows are there or the query has failed. */
  execute(statement: bigint): Promise<Result>
  /** Like `execute`, but resolves when all rows are in memory, so that no later call takes long. */
  executeWhole(statement: bigint): Promise<Result>
  /** Off the main thread. The next chunk, which the caller must destroy; undefined after the last. */
  fetch(result: Result): Promise<bigint | undefined>
  /**
   * Like `fetch`, but blocks the calling thread. Any thread may call it, one at a time. `inner` belongs to a result
   * that must not be destroyed meanwhile.
   */
  fetchHere(inner: bigint): bigint | undefined
  /** `duckdb_type` numbers of the result's columns. */
  columnTypes(result: Result): number[]
  /** Off the main thread, for the same reason as `disconnect`. */
  destroyResult(result: Result): Promise<void>
  /** Ends all three on this thread. This takes microseconds if the result was read to its end. */
  endHere(result: Result | undefined, statement: bigint | undefined, connection: bigint): void
  chunkRows(chunk: bigint): number
  destroyChunk(chunk: bigint): void
  /** Leaves a chunk its first `rows` rows, and gives a new chunk with the others, which the caller must destroy. */
  cut(chunk: bigint, rows: number): bigint
  /** The vector of a column. Like its memory, it belongs to the chunk. */
  vector(chunk: bigint, column: number): Address
  /** Where a vector's values are, in the form that `duckdb_vector_get_data` describes. */
  vectorData(vector: Address): Address
  /** Where a vector's bits are, one for each row, least significant first, set where there is a value; 0 if all are. */
  validity(vector: Address): Address
  /** Copies `bytes` bytes from an address into memory that JavaScript owns. */
  copy(target: NodeJS.ArrayBufferView, from: Address, bytes: number): void
  /** Lets another thread run that waits for this core; without effect if none does. */
  yieldCore(): void
}

/** A `duckdb_result`, and its value for those calls that take it by value. */
export interface Result {
  readonly memory: BigUint64Array
  readonly value: object
  /** The `internal_data` of the `duckdb_result`, an address; its other fields are deprecated. */
  readonly inner: bigint
}

/** An address as koffi gives it: a number, unless it is too large for one. */
export type Address = number | bigint

class DuckDbError extends Error {
  override readonly name = 'DuckDbError'
}

/** Words outside V8's heap, whose address stays the same while another thread writes to it. */
export function words(count: number): BigUint64Array {
  return new BigUint64Array(new ArrayBuffer(count * 8))
}

let loaded: DuckDb | undefined

/** Loads the library once per thread; throws if koffi or the library can't be loaded. */
export function loadDuckDb(): DuckDb {
  loaded ??= load()
  return loaded
}

function libraryPath(): string {
  const api = createRequire(import.meta.url).resolve('@duckdb/node-api')
  const bindings = createRequire(api).resolve('@duckdb/node-bindings')
  const platform = `@duckdb/node-bindings-${process.platform}-${process.arch}/package.json`
  const file =
    { darwin: 'libduckdb.dylib', win32: 'duckdb.dll' }[process.platform as string] ?? 'libduckdb.so'
  return join(dirname(createRequire(bindings).resolve(platform)), file)
}

/** Koffi runs C code on stacks of its own. Its default for asynchronous calls, 128 KiB, is little for a planner. */
const STACK_BYTES = 8 << 20

function load(): DuckDb {
  // Not imported at the top, because the caller may want to be told when native code begins (see `NativeSection`).
  const koffi: typeof import('koffi') = createRequire(import.meta.url)('koffi')
  const config = koffi.config()
  if (config.async_stack_size !== STACK_BYTES) {
    koffi.config({
      sync_stack_size: STACK_BYTES,
      async_stack_size: STACK_BYTES,
      resident_async_pools: 32,
      max_async_calls: 1024,
    })
  }
  // Its functions are looked up when they are first called; all at once take half of the time of loading.
  const library = koffi.load(libraryPath(), { lazy: true })
  const standard = koffi.load(process.platform === 'win32' ? 'ucrtbase.dll' : libraryPath())
  const result = koffi.struct({
    a: 'uint64',
    b: 'uint64',
    c: 'uint64',
    d: 'uint64',
    e: 'uint64',
    inner: 'uint64',
  })
  const handle = 'uint64'
  const out = 'void *'
  const define = (name: string, returns: string, ...takes: (string | typeof result)[]) =>
    library.func(`duckdb_${name}`, returns, takes)

  const open = define('open_ext', 'int', 'str', out, handle, out)
  const close = define('close', 'void', out)
  const createConfig = define('create_config', 'int', out)
  const setConfig = define('set_config', 'int', handle, 'str', 'str')
  const destroyConfig = define('destroy_config', 'void', out)
  const free = define('free', 'void', handle)
  const connect = define('connect', 'int', handle, out)
  const disconnect = define('disconnect', 'void', out)
  const interrupt = define('interrupt', 'void', handle)
  const query = define('query', 'int', handle, 'str', out)
  const prepare = define('prepare', 'int', handle, 'str', out)
  const prepareError = define('prepare_error', 'str', handle)
  const bindVarchar = define('bind_varchar_length', 'int', handle, 'uint64', out, 'uint64')
  const destroyPrepare = define('destroy_prepare', 'void', out)
  const execute = define('execute_prepared_streaming', 'int', handle, out)
  const executeWhole = define('execute_prepared', 'int', handle, out)
  const resultError = define('result_error', 'str', out)
  const fetchChunk = define('fetch_chunk', handle, result)
  const columnCount = define('column_count', 'uint64', out)
  const columnType = define('column_type', 'int', out, 'uint64')
  const destroyResult = define('destroy_result', 'void', out)
  const chunkSize = define('data_chunk_get_size', 'uint64', handle)
  const destroyChunk = define('destroy_data_chunk', 'void', out)
  const createChunk = define('create_data_chunk', handle, out, 'uint64')
  const setChunkSize = define('data_chunk_set_size', 'void', handle, 'uint64')
  const chunkColumns = define('data_chunk_get_column_count', 'uint64', handle)
  const chunkVector = define('data_chunk_get_vector', handle, handle, 'uint64')
  const vectorType = define('vector_get_column_type', handle, handle)
  const vectorData = define('vector_get_data', handle, handle)
  const vectorValidity = define('vector_get_validity', handle, handle)
  const destroyType = define('destroy_logical_type', 'void', out)
  const createSelection = define('create_selection_vector', handle, 'uint64')
  const selectionData = define('selection_vector_get_data_ptr', handle, handle)
  const destroySelection = define('destroy_selection_vector', 'void', handle)
  const copySelected = define('vector_copy_sel', 'void', handle, handle, handle, 'uint64', 'uint64', 'uint64')
  const memcpy = standard.func('memcpy', 'void *', [out, handle, 'size_t'])
  const memcpyTo = standard.func('memcpy', 'void *', [handle, out, 'size_t'])
  const yieldCore = process.platform === 'win32' ? () => {} : standard.func('sched_yield', 'int', [])

  /** A place for a handle: destructors take the handle's address and set it to zero. */
  const holding = (address: bigint): BigUint64Array => {
    const holder = words(1)
    holder[0] = address
    return holder
  }
  // Using `kept` in the callback keeps it from being garbage-collected while the other thread writes to its memory.
  const off = <T>(
    call: { async: (...args: unknown[]) => void },
    args: unknown[],
    kept: BigUint64Array,
  ): Promise<T> =>
    new Promise((resolve, reject) => {
      call.async(...args, (error: unknown, value: T) => {
        if (error || kept.length === 0) reject(error)
        else resolve(value)
      })
    })
  const failed = (message: string | null, what: string): never => {
    throw new DuckDbError(message ?? `${what} failed without a message`)
  }

  const resultOf = (inner: bigint): object => ({ a: 0, b: 0, c: 0, d: 0, e: 0, inner })
  /** Called when there was no chunk, which means the end of the result or an error. */
  const ended = (memory: BigUint64Array): undefined => {
    const message = resultError(memory)
    return message ? failed(message, 'duckdb_fetch_chunk') : undefined
  }

  const executed = async (call: Parameters<typeof off>[0], statement: bigint): Promise<Result> => {
    const memory = words(6)
    const state = await off<number>(call, [statement, memory], memory)
    if (state !== 0) {
      const message = resultError(memory)
      destroyResult(memory)
      failed(message, 'duckdb_execute_prepared')
    }
    const inner = memory[5]!
    return { memory, value: resultOf(inner), inner }
  }

  return {
    open(config) {
      const options = words(1)
      const database = words(1)
      const message = words(1)
      if (createConfig(options) !== 0) failed(null, 'duckdb_create_config')
      try {
        for (const [name, value] of Object.entries(config)) {
          if (setConfig(options[0], name, value) !== 0)
            failed(`'${value}' is not a value of ${name}`, 'duckdb_set_config')
        }
        if (open(':memory:', database, options[0], message) !== 0) {
          const text = message[0] ? koffi.decode.string(message[0]) : null
          if (message[0]) free(message[0])
          failed(text, 'duckdb_open_ext')
        }
      } finally {
        destroyConfig(options)
      }
      return database[0]!
    },
    close: (database) => close(holding(database)),
    connect(database) {
      const connection = words(1)
      if (connect(database, connection) !== 0) failed(null, 'duckdb_connect')
      return connection[0]!
    },
    async disconnect(connection) {
      const holder = holding(connection)
      await off(disconnect, [holder], holder)
    },
    interrupt: (connection) => interrupt(connection),
    async run(connection, sql) {
      const memory = words(6)
      const state = await off<number>(query, [connection, sql, memory], memory)
      const message = state === 0 ? undefined : (resultError(memory) ?? '')
      destroyResult(memory)
      if (message !== undefined) failed(message, sql)
    },
    async prepare(connection, sql) {
      const statement = words(1)
      const state = await off<number>(prepare, [connection, sql, statement], statement)
      if (state === 0) return statement[0]!
      const message = statement[0] ? prepareError(statement[0]) : null
      destroyPrepare(statement)
      return failed(message, 'duckdb_prepare')
    },
    bind(statement, parameters) {
      for (const [index, text] of parameters.entries()) {
        const bytes = Buffer.from(text)
        if (bindVarchar(statement, index + 1, bytes, bytes.length) !== 0) {
          failed(prepareError(statement), `duckdb_bind_varchar of parameter ${index + 1}`)
        }
      }
    },
    async destroyStatement(statement) {
      const holder = holding(statement)
      await off(destroyPrepare, [holder], holder)
    },
    execute: (statement) => executed(execute, statement),
    executeWhole: (statement) => executed(executeWhole, statement),
    async fetch({ memory, value }) {
      const chunk = await off<number | bigint>(fetchChunk, [value], memory)
      return chunk ? BigInt(chunk) : ended(memory)
    },
    fetchHere(inner) {
      const chunk: number | bigint = fetchChunk(resultOf(inner))
      if (chunk) return BigInt(chunk)
      const memory = words(6)
      memory[5] = inner
      return ended(memory)
    },
    columnTypes({ memory }) {
      return Array.from({ length: Number(columnCount(memory)) }, (_, column) => columnType(memory, column))
    },
    async destroyResult({ memory }) {
      await off(destroyResult, [memory], memory)
    },
    endHere(result, statement, connection) {
      if (result) destroyResult(result.memory)
      if (statement !== undefined) destroyPrepare(holding(statement))
      disconnect(holding(connection))
    },
    chunkRows: (chunk) => Number(chunkSize(chunk)),
    destroyChunk: (chunk) => destroyChunk(holding(chunk)),
    cut(chunk, rows) {
      const all = Number(chunkSize(chunk))
      const columns = Number(chunkColumns(chunk))
      const vectorsOf = (of: bigint) =>
        Array.from({ length: columns }, (_, column) => BigInt(chunkVector(of, column)))
      const vectors = vectorsOf(chunk)
      const types = words(columns)
      for (const [column, vector] of vectors.entries()) types[column] = BigInt(vectorType(vector))
      const rest = BigInt(createChunk(types, columns))
      for (let column = 0; column < columns; column++) destroyType(types.subarray(column, column + 1))
      const selection = BigInt(createSelection(all - rows))
      const numbers = Uint32Array.from({ length: all - rows }, (_, row) => rows + row)
      memcpyTo(selectionData(selection), numbers, numbers.byteLength)
      for (const [column, vector] of vectorsOf(rest).entries())
        copySelected(vectors[column], vector, selection, all - rows, 0, 0)
      destroySelection(selection)
      setChunkSize(rest, all - rows)
      setChunkSize(chunk, rows)
      return rest
    },
    vector: (chunk, column) => chunkVector(chunk, column),
    vectorData: (vector) => vectorData(vector),
    validity: (vector) => vectorValidity(vector),
    copy: (target, from, bytes) => memcpy(target, from, bytes),
    yieldCore: () => void yieldCore(),
  }
}
