import type { DuckDBConnection, DuckDBPreparedStatement, DuckDBResult } from '@duckdb/node-api'
import type { ColumnType, Statement } from '../../types/index.ts'
import type { Arena, Batch } from '../batch.ts'
import { CursorBase } from '../cursor.ts'
import { cancelled } from '../errors.ts'
import { openNodeInstance } from '../instance.ts'
import {
  bufferSetting,
  type Chunk,
  type Cursor,
  checkTypes,
  type Source,
  type SourceOptions,
  type StartOptions,
} from '../source.ts'
import { readChunk } from './node-reader.ts'

/**
 * The source that works wherever DuckDB's Node package does: it reads values one by one, in the main thread. It gives
 * the same batches as the native source, several times slower; the garbage collector frees the chunks.
 */
export async function openNodeSource(options: SourceOptions): Promise<Source> {
  const { instance, readsHttp } = await openNodeInstance(options)
  const cursors = new Set<NodeCursor>()
  /** Connections that are being made: closing the instance meanwhile would crash the process. */
  const connectings = new Set<Promise<unknown>>()
  let closed = false
  return {
    kind: 'node',
    cuts: false,
    readsHttp,
    get open() {
      return cursors.size
    },
    async start(statement, startOptions) {
      if (closed) throw cancelled(undefined)
      const connecting = instance.connect().then((connection) => {
        const cursor = new NodeCursor(statement, connection, (self) => cursors.delete(self))
        cursors.add(cursor)
        return cursor
      })
      connectings.add(connecting)
      const cursor = await connecting.finally(() => connectings.delete(connecting))
      await cursor.start(startOptions)
      return cursor
    },
    async close() {
      if (closed) return
      closed = true
      await Promise.allSettled(connectings)
      await Promise.all([...cursors].map((cursor) => cursor.close()))
      instance.closeSync()
    },
  }
}

class NodeCursor extends CursorBase implements Cursor {
  readonly #statement: Statement
  readonly #types: readonly ColumnType[]
  readonly #connection: DuckDBConnection
  readonly #onClose: (self: NodeCursor) => void
  readonly #sql: string
  readonly #marked: boolean
  #complete = false
  #result: DuckDBResult | undefined

  constructor(statement: Statement, connection: DuckDBConnection, onClose: (self: NodeCursor) => void) {
    super(() => connection.interrupt())
    this.#statement = statement
    this.#types = statement.columns.map((column) => column.type)
    this.#connection = connection
    this.#onClose = onClose
    this.#marked = /^\s*(select|from|with|values|\()/i.test(statement.sql)
    this.#sql = this.#marked ? withEndMark(statement) : statement.sql
  }

  protected async run({ rowBytes }: StartOptions): Promise<void> {
    await this.calls.call(
      async () => {
        const setting = bufferSetting(this.#statement, rowBytes)
        if (setting !== undefined) await this.#connection.run(setting)
        return (await this.#prepare(this.#sql)).stream()
      },
      (result) => (this.#result = result),
    )
    checkTypes(
      this.#statement,
      this.#result!.columnTypes()
        .slice(0, this.#marked ? -1 : undefined)
        .map((type) => type.typeId),
    )
  }

  async fetch(): Promise<Chunk | undefined> {
    const result = this.#result
    if (!result) throw cancelled(undefined)
    const chunk = await this.calls.call(
      () => result.fetchChunk(),
      (fetched) => fetched,
    )
    if (!chunk || chunk.rowCount === 0) {
      if (!this.#marked || this.#complete) return undefined
      // The package ends a failed stream as if it were complete. Running the query once more gives the error.
      await this.runAgain()
      throw new Error('The result ended before its last row')
    }
    this.#complete =
      this.#marked && chunk.getColumnVector(this.#types.length).getItem(chunk.rowCount - 1) === true
    const rows = chunk.rowCount - (this.#complete ? 1 : 0)
    return { kind: 'batch', rows, batch: readChunk(chunk, this.#types, rows) }
  }

  protected async runAgain(): Promise<void> {
    await this.calls.call(
      async () => (await this.#prepare(`EXPLAIN ANALYZE ${this.#sql}`)).run(),
      (result) => result,
    )
  }

  async #prepare(sql: string): Promise<DuckDBPreparedStatement> {
    const prepared = await this.#connection.prepare(sql)
    for (const [index, text] of this.#statement.parameters.entries()) prepared.bindVarchar(index + 1, text)
    return prepared
  }

  decode(chunk: Chunk, _arena: Arena): Batch {
    if (chunk.kind !== 'batch') throw new TypeError('The chunk is of another source')
    return chunk.batch
  }

  discard(): void {}

  handle(): undefined {}

  protected free(): void {
    this.#result = undefined
    this.#connection.closeSync()
    this.#onClose(this)
  }
}

/** The same rows and one more at the end, whose last column is true. A stream that ends without that row has failed. */
function withEndMark({ sql, columns }: Statement): string {
  const nulls = columns.map(() => 'NULL')
  return `SELECT *, false FROM (${sql}) UNION ALL SELECT ${[...nulls, 'true'].join(', ')}`
}
