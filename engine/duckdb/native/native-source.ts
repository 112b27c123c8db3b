import type { Statement } from '../../types/index.ts'
import type { Arena, Batch } from '../batch.ts'
import { CursorBase } from '../cursor.ts'
import { cancelled } from '../errors.ts'
import { lockDown, openSettings } from '../instance.ts'
import {
  bufferSetting,
  type Chunk,
  type Cursor,
  checkTypes,
  type Handle,
  type Source,
  type SourceOptions,
  type StartOptions,
} from '../source.ts'
import { type DuckDb, loadDuckDb, type Result } from './ffi.ts'
import { NativeReader } from './native-reader.ts'

/** Loads koffi and the library; throws if one of them can't be loaded. */
export function load(): void {
  loadDuckDb()
}

/** The fast source: DuckDB through its C API. */
export async function openNativeSource(options: SourceOptions): Promise<Source> {
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
  return {
    kind: 'ffi',
    cuts: true,
    readsHttp,
    get open() {
      return cursors.size
    },
    async start(statement, startOptions) {
      if (closed) throw cancelled(undefined)
      const cursor = new NativeCursor(duckdb, database, statement, (self) => cursors.delete(self))
      cursors.add(cursor)
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

class NativeCursor extends CursorBase implements Cursor {
  readonly #duckdb: DuckDb
  readonly #statement: Statement
  readonly #onClose: (self: NativeCursor) => void
  readonly #connection: bigint
  readonly #readers = new Map<Arena, NativeReader>()
  #handle: Handle | undefined
  #prepared: bigint | undefined
  #result: Result | undefined
  #whole = false
  #ended = false

  constructor(duckdb: DuckDb, database: bigint, statement: Statement, onClose: (self: NativeCursor) => void) {
    const connection = duckdb.connect(database)
    super(() => duckdb.interrupt(connection))
    this.#duckdb = duckdb
    this.#statement = statement
    this.#onClose = onClose
    this.#connection = connection
  }

  protected override get ended(): boolean {
    return this.#ended
  }

  protected async run({ rowBytes, steady, whole = false }: StartOptions): Promise<void> {
    const { sql, parameters } = this.#statement
    this.#whole = whole
    const setting = whole ? undefined : bufferSetting(this.#statement, rowBytes)
    if (setting !== undefined) {
      await this.calls.call(
        () => this.#duckdb.run(this.#connection, setting),
        () => {},
      )
    }
    const prepared = await this.calls.call(
      () => this.#duckdb.prepare(this.#connection, sql),
      (statement) => {
        this.#prepared = statement
        this.#duckdb.bind(statement, parameters)
        return statement
      },
    )
    await this.calls.call(
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
    if (chunk.kind !== 'native') throw new TypeError('The chunk is of another source')
    const address = this.#duckdb.cut(chunk.address, rows)
    return { ...chunk, rows: chunk.rows - rows, address }
  }

  #nextHere(result: Result): bigint | undefined {
    if (this.calls.interrupted) throw cancelled(undefined)
    return this.#duckdb.fetchHere(result.inner)
  }

  #next(result: Result): Promise<bigint | undefined> {
    return this.calls
      .call(
        () => this.#duckdb.fetch(result),
        (chunk) => {
          if (!this.calls.interrupted || chunk === undefined) return chunk
          this.#duckdb.destroyChunk(chunk)
          throw cancelled(undefined)
        },
      )
      .catch(async (error) => {
        throw await this.trueError(error)
      })
  }

  protected async runAgain(): Promise<void> {
    const { sql, parameters } = this.#statement
    await this.calls.call(
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
      reader = new NativeReader(
        this.#duckdb,
        this.#statement.columns.map((column) => column.type),
        arena,
      )
      this.#readers.set(arena, reader)
    }
    return reader.read(chunk.address)
  }

  discard(chunk: Chunk): void {
    if (chunk.kind === 'native') this.#duckdb.destroyChunk(chunk.address)
  }

  protected async free(): Promise<void> {
    const result = this.#result
    const prepared = this.#prepared
    this.#result = undefined
    this.#prepared = undefined
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
