import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { EngineError } from '../../errors.ts'
import { type KoffiFunction, loadKoffi } from '../../util/koffi.ts'

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

/** Loads the library once per thread. @throws EngineError `internal` if koffi or the library can't be loaded */
export function loadDuckDb(): DuckDb {
  try {
    loaded ??= new DuckDb()
    return loaded
  } catch (cause) {
    const [reason] = String((cause as Error).message).split('\n')
    throw new EngineError(
      'internal',
      `DuckDB can't be loaded on this machine (${process.platform}-${process.arch}): ${reason}. Install the packages ` +
        "again here, with koffi's install script allowed.",
      { cause },
    )
  }
}

function libraryPath(): string {
  const api = createRequire(import.meta.url).resolve('@duckdb/node-api')
  const bindings = createRequire(api).resolve('@duckdb/node-bindings')
  const platform = `@duckdb/node-bindings-${process.platform}-${process.arch}/package.json`
  const file =
    { darwin: 'libduckdb.dylib', win32: 'duckdb.dll' }[process.platform as string] ?? 'libduckdb.so'
  return join(dirname(createRequire(bindings).resolve(platform)), file)
}

const HANDLE = 'uint64'
const OUT = 'void *'
const RESULT = 'a duckdb_result'

/** The functions of DuckDB's C API, without `duckdb_`: what each returns, and what it takes. */
const FUNCTIONS = {
  open_ext: ['int', 'str', OUT, HANDLE, OUT],
  close: ['void', OUT],
  create_config: ['int', OUT],
  set_config: ['int', HANDLE, 'str', 'str'],
  destroy_config: ['void', OUT],
  free: ['void', HANDLE],
  connect: ['int', HANDLE, OUT],
  disconnect: ['void', OUT],
  interrupt: ['void', HANDLE],
  query: ['int', HANDLE, 'str', OUT],
  prepare: ['int', HANDLE, 'str', OUT],
  prepare_error: ['str', HANDLE],
  bind_varchar_length: ['int', HANDLE, 'uint64', OUT, 'uint64'],
  destroy_prepare: ['void', OUT],
  execute_prepared_streaming: ['int', HANDLE, OUT],
  execute_prepared: ['int', HANDLE, OUT],
  result_error: ['str', OUT],
  fetch_chunk: [HANDLE, RESULT],
  column_count: ['uint64', OUT],
  column_type: ['int', OUT, 'uint64'],
  destroy_result: ['void', OUT],
  data_chunk_get_size: ['uint64', HANDLE],
  destroy_data_chunk: ['void', OUT],
  create_data_chunk: [HANDLE, OUT, 'uint64'],
  data_chunk_set_size: ['void', HANDLE, 'uint64'],
  data_chunk_get_column_count: ['uint64', HANDLE],
  data_chunk_get_vector: [HANDLE, HANDLE, 'uint64'],
  vector_get_column_type: [HANDLE, HANDLE],
  vector_get_data: [HANDLE, HANDLE],
  vector_get_validity: [HANDLE, HANDLE],
  destroy_logical_type: ['void', OUT],
  create_selection_vector: [HANDLE, 'uint64'],
  selection_vector_get_data_ptr: [HANDLE, HANDLE],
  destroy_selection_vector: ['void', HANDLE],
  vector_copy_sel: ['void', HANDLE, HANDLE, HANDLE, 'uint64', 'uint64', 'uint64'],
} as const satisfies Record<string, readonly string[]>

type Functions = Readonly<Record<keyof typeof FUNCTIONS, KoffiFunction>>

/**
 * DuckDB's C API, as far as results need it. The file to change with DuckDB's API.
 *
 * Handles are addresses as BigInts: they may be passed between threads of this process, and nothing checks them.
 * Whatever a function opens must be closed by its counterpart, once. What is asynchronous runs off the main thread.
 */
export class DuckDb {
  readonly #c: Functions
  readonly #koffi: typeof import('koffi')
  readonly #memcpy: KoffiFunction
  readonly #memcpyTo: KoffiFunction
  readonly #yield: () => unknown

  /** Use `loadDuckDb`. */
  constructor() {
    // Not imported at the top, because the caller may want to be told when native code begins (see `NativeSection`).
    const koffi = loadKoffi()
    // Its functions are looked up when they are first called; all at once take half of the time of loading.
    const library = koffi.load(libraryPath(), { lazy: true })
    const standard = koffi.load(process.platform === 'win32' ? 'ucrtbase.dll' : libraryPath())
    const fields = Object.fromEntries([...'abcde', 'inner'].map((name) => [name, 'uint64']))
    const result = koffi.struct(fields)
    const defined = Object.entries(FUNCTIONS).map(([name, [returns, ...takes]]) => {
      const types = takes.map((type) => (type === RESULT ? result : type))
      return [name, library.func(`duckdb_${name}`, returns, types)]
    })
    this.#c = Object.fromEntries(defined) as Functions
    this.#koffi = koffi
    this.#memcpy = standard.func('memcpy', OUT, [OUT, HANDLE, 'size_t'])
    this.#memcpyTo = standard.func('memcpy', OUT, [HANDLE, OUT, 'size_t'])
    this.#yield = process.platform === 'win32' ? () => {} : standard.func('sched_yield', 'int', [])
  }

  /** Opens an in-memory database. */
  open(config: Readonly<Record<string, string>>): bigint {
    const c = this.#c
    const [options, database, message] = [words(1), words(1), words(1)]
    if (c.create_config(options) !== 0) failed(null, 'duckdb_create_config')
    try {
      for (const [name, value] of Object.entries(config)) {
        if (c.set_config(options[0], name, value) !== 0)
          failed(`'${value}' is not a value of ${name}`, 'duckdb_set_config')
      }
      if (c.open_ext(':memory:', database, options[0], message) !== 0) {
        const text = message[0] ? this.#koffi.decode.string(message[0]) : null
        if (message[0]) c.free(message[0])
        failed(text, 'duckdb_open_ext')
      }
    } finally {
      c.destroy_config(options)
    }
    return database[0]!
  }

  close(database: bigint): void {
    this.#c.close(holding(database))
  }

  connect(database: bigint): bigint {
    const connection = words(1)
    if (this.#c.connect(database, connection) !== 0) failed(null, 'duckdb_connect')
    return connection[0]!
  }

  /** Waits until the connection has finished what it is doing. */
  disconnect(connection: bigint): Promise<void> {
    const holder = holding(connection)
    return off(this.#c.disconnect, [holder], holder)
  }

  /** Makes the connection's running query fail. Harmless when none runs, without effect on one that starts later. */
  interrupt(connection: bigint): void {
    this.#c.interrupt(connection)
  }

  /** For statements that return nothing of interest. */
  async run(connection: bigint, sql: string): Promise<void> {
    const memory = words(6)
    const state = await off<number>(this.#c.query, [connection, sql, memory], memory)
    const message = state === 0 ? undefined : (this.#c.result_error(memory) ?? '')
    this.#c.destroy_result(memory)
    if (message !== undefined) failed(message, sql)
  }

  /** The caller must destroy the statement, unless this rejects. */
  async prepare(connection: bigint, sql: string): Promise<bigint> {
    const statement = words(1)
    const state = await off<number>(this.#c.prepare, [connection, sql, statement], statement)
    if (state === 0) return statement[0]!
    const message = statement[0] ? this.#c.prepare_error(statement[0]) : null
    this.#c.destroy_prepare(statement)
    return failed(message, 'duckdb_prepare')
  }

  bind(statement: bigint, parameters: readonly string[]): void {
    for (const [index, text] of parameters.entries()) {
      const bytes = Buffer.from(text)
      if (this.#c.bind_varchar_length(statement, index + 1, bytes, bytes.length) !== 0) {
        failed(this.#c.prepare_error(statement), `duckdb_bind_varchar of parameter ${index + 1}`)
      }
    }
  }

  /** Waits as `disconnect` does. */
  destroyStatement(statement: bigint): Promise<void> {
    const holder = holding(statement)
    return off(this.#c.destroy_prepare, [holder], holder)
  }

  /**
   * Resolves when the first rows are there or the query has failed.
   * @param whole whether to wait until all rows are in memory, so that no later call takes long
   */
  async execute(statement: bigint, whole: boolean): Promise<Result> {
    const call = whole ? this.#c.execute_prepared : this.#c.execute_prepared_streaming
    return this.#result(call, [statement], 'duckdb_execute_prepared')
  }

  /** Resolves when all rows are in memory. It plans a statement once, where `prepare` and `execute` plan it twice. */
  query(connection: bigint, sql: string): Promise<Result> {
    return this.#result(this.#c.query, [connection, sql], 'duckdb_query')
  }

  async #result(call: KoffiFunction, given: readonly unknown[], name: string): Promise<Result> {
    const memory = words(6)
    const state = await off<number>(call, [...given, memory], memory)
    if (state !== 0) {
      const message = this.#c.result_error(memory)
      this.#c.destroy_result(memory)
      failed(message, name)
    }
    const inner = memory[5]!
    return { memory, value: resultOf(inner), inner }
  }

  /** The next chunk, which the caller must destroy; undefined after the last. */
  async fetch({ memory, value }: Result): Promise<bigint | undefined> {
    const chunk = await off<number | bigint>(this.#c.fetch_chunk, [value], memory)
    return chunk ? BigInt(chunk) : this.#ended(memory)
  }

  /**
   * Like `fetch`, but blocks the calling thread. Any thread may call it, one at a time. `inner` belongs to a result
   * that must not be destroyed meanwhile.
   */
  fetchHere(inner: bigint): bigint | undefined {
    const chunk: number | bigint = this.#c.fetch_chunk(resultOf(inner))
    if (chunk) return BigInt(chunk)
    const memory = words(6)
    memory[5] = inner
    return this.#ended(memory)
  }

  /** Called when there was no chunk, which means the end of the result or an error. */
  #ended(memory: BigUint64Array): undefined {
    const message = this.#c.result_error(memory)
    if (message) failed(message, 'duckdb_fetch_chunk')
  }

  /** `duckdb_type` numbers of the result's columns. */
  columnTypes({ memory }: Result): number[] {
    const length = Number(this.#c.column_count(memory))
    return Array.from({ length }, (_, column) => this.#c.column_type(memory, column))
  }

  /** Waits as `disconnect` does. */
  destroyResult({ memory }: Result): Promise<void> {
    return off(this.#c.destroy_result, [memory], memory)
  }

  /** Ends all three on this thread. This takes microseconds if the result was read to its end. */
  endHere(result: Result | undefined, statement: bigint | undefined, connection: bigint): void {
    if (result) this.#c.destroy_result(result.memory)
    if (statement !== undefined) this.#c.destroy_prepare(holding(statement))
    this.#c.disconnect(holding(connection))
  }

  chunkRows(chunk: bigint): number {
    return Number(this.#c.data_chunk_get_size(chunk))
  }

  destroyChunk(chunk: bigint): void {
    this.#c.destroy_data_chunk(holding(chunk))
  }

  /** Leaves a chunk its first `rows` rows, and gives a new chunk with the others, which the caller must destroy. */
  cut(chunk: bigint, rows: number): bigint {
    const c = this.#c
    const others = this.chunkRows(chunk) - rows
    const columns = Number(c.data_chunk_get_column_count(chunk))
    const vectorsOf = (of: bigint) =>
      Array.from({ length: columns }, (_, column) => BigInt(c.data_chunk_get_vector(of, column)))
    const vectors = vectorsOf(chunk)
    const types = words(columns)
    for (const [column, vector] of vectors.entries()) types[column] = BigInt(c.vector_get_column_type(vector))
    const rest = BigInt(c.create_data_chunk(types, columns))
    for (let column = 0; column < columns; column++)
      c.destroy_logical_type(types.subarray(column, column + 1))
    const selection = BigInt(c.create_selection_vector(others))
    const numbers = Uint32Array.from({ length: others }, (_, row) => rows + row)
    this.#memcpyTo(c.selection_vector_get_data_ptr(selection), numbers, numbers.byteLength)
    for (const [column, vector] of vectorsOf(rest).entries())
      c.vector_copy_sel(vectors[column], vector, selection, others, 0, 0)
    c.destroy_selection_vector(selection)
    c.data_chunk_set_size(rest, others)
    c.data_chunk_set_size(chunk, rows)
    return rest
  }

  /** The vector of a column. Like its memory, it belongs to the chunk. */
  vector(chunk: bigint, column: number): Address {
    return this.#c.data_chunk_get_vector(chunk, column)
  }

  /** Where a vector's values are, in the form that `duckdb_vector_get_data` describes. */
  vectorData(vector: Address): Address {
    return this.#c.vector_get_data(vector)
  }

  /** Where a vector's bits are, one for each row, least significant first, set where there is a value; 0 if all are. */
  validity(vector: Address): Address {
    return this.#c.vector_get_validity(vector)
  }

  /** Copies `bytes` bytes from an address into memory that JavaScript owns. */
  copy(target: NodeJS.ArrayBufferView, from: Address, bytes: number): void {
    this.#memcpy(target, from, bytes)
  }

  /** Lets another thread run that waits for this core; without effect if none does. */
  yieldCore(): void {
    this.#yield()
  }
}

/** A place for a handle: destructors take the handle's address and set it to zero. */
function holding(address: bigint): BigUint64Array {
  const holder = words(1)
  holder[0] = address
  return holder
}

/**
 * Calls a function off the main thread. Using `kept` in the callback keeps it from being garbage-collected while the
 * other thread writes to its memory.
 */
function off<T>(call: KoffiFunction, args: unknown[], buffers: BigUint64Array): Promise<T> {
  return new Promise((resolve, reject) => {
    call.async(...args, (error: unknown, value: T) => {
      if (error || buffers.length === 0) reject(error)
      else resolve(value)
    })
  })
}

function failed(message: string | null, what: string): never {
  throw new DuckDbError(message ?? `${what} failed without a message`)
}

function resultOf(inner: bigint): object {
  return { a: 0, b: 0, c: 0, d: 0, e: 0, inner }
}
