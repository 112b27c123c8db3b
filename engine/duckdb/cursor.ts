import type { Statement } from '../types/index.ts'
import type { Arena, Batch } from './batch.ts'

export interface StartOptions {
  readonly signal?: AbortSignal | undefined
  /** Average bytes of a row. */
  readonly rowBytes?: number
  /** Whether rows come straight from the scan, without a filter or a sort, so that fetching them never takes long. */
  readonly steady?: boolean
  /** Whether all rows easily fit in memory. Then `start` waits for all of them, which takes fewer calls. */
  readonly whole?: boolean
  /** Statements with the same columns, whose rows follow. Each is started when the rows before it are fetched. */
  readonly following?: readonly Statement[]
  /** Asked first. */
  readonly delegate?: Delegate | undefined
}

/** Runs a statement in another database. Gives undefined if it could not, and DuckDB is to run it after all. */
export type Delegate = (
  columns: Statement['columns'],
  signal: AbortSignal | undefined,
) => Promise<Cursor | undefined>

/** What a worker has fetched. */
export interface Fetched {
  readonly rows: number
  /** Whether the result is at its end. */
  readonly ended: boolean
}

/** A running statement. */
export interface Cursor {
  /**
   * The next rows in order, undefined after the last. One call at a time. The caller must either decode the chunk, here
   * or in a worker, or discard it, and only once.
   */
  fetch(): Promise<Chunk | undefined>
  /**
   * The address of the result, if a worker may fetch the next rows from it; `fetch` must not be called meanwhile. There
   * is none for rows of several statements, or for pages, which may end within a chunk.
   */
  readonly address?: bigint | undefined
  /** Leaves a chunk its first `rows` rows, and gives the others as another chunk. Not every cursor can do this. */
  cut?(chunk: Chunk, rows: number): Chunk
  /** Finds out why a fetch in a worker failed; `error` is what the worker reported. */
  trueError?(error: unknown): Promise<unknown>
  /** Reads a chunk in this thread. With a `reused` arena, the batch is valid only until the next one is read. */
  decode(chunk: Chunk, arena: Arena): Batch
  discard(chunk: Chunk): void
  /** Makes the running call and all later ones reject with `cancelled`. */
  interrupt(): void
  /** Interrupts the running call and frees everything. All chunks must be decoded or discarded. May be called twice. */
  close(): Promise<void>
}

/** Rows in DuckDB's memory, with the address that a worker needs, or already decoded. */
export type Chunk = NativeChunk | { readonly kind: 'batch'; readonly rows: number; readonly batch: Batch }

export interface NativeChunk {
  readonly kind: 'native'
  readonly rows: number
  readonly address: bigint
}

/** The rows of several statements with the same columns, one statement after the other. */
export class SequenceCursor implements Cursor {
  readonly #following: Statement[]
  readonly #start: (statement: Statement) => Promise<Cursor>
  #current: Cursor
  #interrupted = false

  /** @param first is running already */
  constructor(
    first: Cursor,
    following: readonly Statement[],
    start: (statement: Statement) => Promise<Cursor>,
  ) {
    this.#current = first
    this.#following = [...following]
    this.#start = start
  }

  async fetch(): Promise<Chunk | undefined> {
    for (;;) {
      const chunk = await this.#current.fetch()
      const next = chunk ? undefined : this.#following.shift()
      if (!next) return chunk
      await this.#current.close()
      this.#current = await this.#start(next)
      if (this.#interrupted) this.#current.interrupt()
    }
  }

  decode = (chunk: Chunk, arena: Arena): Batch => this.#current.decode(chunk, arena)
  discard = (chunk: Chunk): void => this.#current.discard(chunk)

  interrupt(): void {
    this.#interrupted = true
    this.#current.interrupt()
  }

  close(): Promise<void> {
    return this.#current.close()
  }
}
