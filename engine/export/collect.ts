import { engineError } from '../duckdb/errors.ts'
import type { Chunk, Cursor } from '../duckdb/runner.ts'
import { VECTOR_ROWS } from '../parquet/row-groups.ts'
import type { ExecutorParts, TurnUnderWay, WorkerPool } from './dispatch.ts'
import { type Piece, PieceEncoder, type Recipe } from './encode.ts'
import type { Encoder } from './formats/encoder.ts'

/** A piece is large enough to be worth a message between threads, and small enough that several may wait. */
const PIECE_BYTES = 256 << 10
/**
 * The bytes of a turn if there is no other export. Between two turns, while messages pass between threads, nobody
 * fetches; other exports would use that time.
 */
const ALONE_BYTES = 1 << 20

export interface PieceOptions {
  /** Encodes chunks, which the caller must not use afterwards; `first` is the number of rows before them. */
  readonly encode: (chunks: readonly Chunk[], first: number) => Promise<Piece>
  /** Has a worker fetch and encode about `rows` rows; undefined where that is not possible. `first` is as above. */
  readonly turn: (rows: number, first: number) => TurnUnderWay | undefined
  /** Whether there is no other export. */
  readonly alone: () => boolean
  /** How many bytes may wait to be read or be in the middle of encoding, given the size of a piece. */
  readonly allowance: (pieceBytes: number) => number
  /** A guess at the bytes of a row, used until the first encoded pieces show the real size. */
  readonly rowBytes: number
}

/**
 * The pieces of a result, in order: fetches chunks one after another, gathers them, has them encoded side by side,
 * and hands the pieces out in the order of the rows. While the allowance of waiting bytes is used up, nothing is
 * fetched and no thread is blocked.
 */
export class Pieces {
  readonly #cursor: Cursor
  readonly #options: PieceOptions
  readonly #queue: Promise<Piece>[] = []
  readonly #inWork = new Set<Promise<unknown>>()
  readonly #fetching: Promise<void>
  #group: Chunk[] = []
  #groupRows = 0
  #first = 0
  #rowBytes: number
  /** Rows of the largest chunk so far. */
  #chunkRows = 0
  #waitingBytes = 0
  #handedBytes = 0
  #state: 'running' | 'ended' | 'stopped' = 'running'
  #failure: unknown
  #wakeFetching = () => {}
  #wakeReader = () => {}

  constructor(cursor: Cursor, options: PieceOptions) {
    this.#cursor = cursor
    this.#options = options
    this.#rowBytes = options.rowBytes
    this.#fetching = this.#fetchAll()
  }

  /** The next piece; undefined after the last. One call at a time. A piece counts as waiting until the next call. */
  async next(): Promise<Piece | undefined> {
    this.#waitingBytes -= this.#handedBytes
    this.#handedBytes = 0
    this.#wakeFetching()
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure
      const head = this.#queue.shift()
      if (head) {
        // After an interrupt a turn fails too, but only as a consequence: the first failure is the one to report.
        const piece = await head.catch((error) => {
          throw this.#failure ?? error
        })
        if (this.#failure !== undefined) throw this.#failure
        this.#handedBytes = piece.bytes.length
        return piece
      }
      if (this.#state !== 'running') return undefined
      if (this.#group.length > 0 && this.#inWork.size === 0) this.#dispatch()
      else await new Promise<void>((resolve) => (this.#wakeReader = resolve))
    }
  }

  /**
   * Ends everything under way; a waiting call of `next` rejects with `reason`. Resolves when no chunk is left to free.
   */
  async stop(reason: unknown): Promise<void> {
    this.#cursor.interrupt()
    this.#fail(reason)
    await this.#fetching
    await Promise.allSettled(this.#inWork)
  }

  async #fetchAll(): Promise<void> {
    try {
      while (this.#state === 'running') {
        if (this.#waitingBytes >= this.#options.allowance(this.#pieceBytes())) {
          await new Promise<void>((resolve) => (this.#wakeFetching = resolve))
          continue
        }
        if (await this.#takeTurn()) continue
        const chunk = await this.#cursor.fetch()
        if (chunk) {
          this.#chunkRows = Math.max(this.#chunkRows, chunk.rows)
          this.#group.push(chunk)
          this.#groupRows += chunk.rows
        }
        // While no encoder is busy, a small piece now is better than a large one later.
        if (!chunk || this.#inWork.size === 0 || this.#groupRows * this.#rowBytes >= PIECE_BYTES)
          this.#dispatch()
        if (!chunk) break
      }
      if (this.#state === 'running') this.#state = 'ended'
      this.#wakeReader()
    } catch (error) {
      this.#fail(error)
    } finally {
      for (const chunk of this.#group) this.#cursor.discard(chunk)
      this.#group = []
    }
  }

  /**
   * Has a worker fetch the next rows, where that is possible, after dispatching the chunks that were gathered before.
   * Resolves to whether it was possible.
   */
  async #takeTurn(): Promise<boolean> {
    const rows = Math.ceil((this.#options.alone() ? ALONE_BYTES : PIECE_BYTES) / this.#rowBytes)
    const turn = this.#options.turn(rows, this.#first + this.#groupRows)
    if (!turn) return false
    this.#dispatch()
    this.#enqueue(turn.piece, rows)
    const fetched = await turn.fetched
    this.#first += fetched.rows
    this.#chunkRows = Math.max(this.#chunkRows, Math.min(fetched.rows, VECTOR_ROWS))
    if (fetched.ended && this.#state === 'running') this.#state = 'ended'
    return true
  }

  #dispatch(): void {
    const chunks = this.#group
    if (chunks.length === 0 || this.#state !== 'running') return
    const rows = this.#groupRows
    this.#group = []
    this.#groupRows = 0
    this.#enqueue(this.#options.encode(chunks, this.#first), rows)
    this.#first += rows
  }

  /** @param rows how many rows the piece will probably have */
  #enqueue(encoding: Promise<Piece>, rows: number): void {
    const guess = rows * this.#rowBytes
    this.#waitingBytes += guess
    const done = encoding.then(
      (piece) => {
        this.#inWork.delete(done)
        this.#waitingBytes += piece.bytes.length - guess
        if (piece.rows > 0) this.#rowBytes = Math.max(piece.bytes.length / piece.rows, 1)
      },
      (error) => {
        this.#inWork.delete(done)
        this.#fail(error)
      },
    )
    this.#inWork.add(done)
    this.#queue.push(encoding)
    this.#wakeReader()
  }

  #fail(error: unknown): void {
    if (this.#state === 'stopped') return
    this.#state = 'stopped'
    this.#failure = error
    this.#wakeFetching()
    this.#wakeReader()
  }

  /** The size that a piece may have: it holds at least one chunk. */
  #pieceBytes(): number {
    return Math.max(PIECE_BYTES, this.#chunkRows * this.#rowBytes)
  }
}

/** The bytes that all exports together may have waiting or being encoded; each may have at least one piece. */
const ALL_BYTES = 32 << 20
/** Up to these sizes, encoding a piece here takes less time than sending it to another thread. */
const FEW_CELLS = 2048
const FEW_BYTES = 64 << 10

/** Taken for the size of a row where it is not known. */
const USUAL_ROW_BYTES = 64

/** Rows that are fetched and encoded. */
export class Production {
  readonly pieces: Pieces
  readonly #id: number
  readonly #cursor: Cursor
  readonly #pool: WorkerPool

  constructor(
    cursor: Cursor,
    { pool, running, memory }: ExecutorParts,
    recipe: Recipe,
    options: { readonly encoder: Encoder; readonly rowBytes: number | undefined },
  ) {
    const { encoder } = options
    const rowBytes = options.rowBytes || USUAL_ROW_BYTES
    const id = pool.newExport()
    this.#id = id
    this.#cursor = cursor
    this.#pool = pool
    const local = new PieceEncoder(encoder, memory)
    const isSmall = (chunks: readonly Chunk[]): boolean => {
      const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0)
      return rows * recipe.columns.length <= FEW_CELLS && rows * rowBytes <= FEW_BYTES
    }
    const alone = () => running.size <= 1
    this.pieces = new Pieces(cursor, {
      rowBytes,
      // The first bytes needn't wait for a thread to start.
      encode: async (chunks, first) =>
        isSmall(chunks) || (!pool.warm && first === 0)
          ? local.encode(chunks, first, cursor)
          : pool.encode(id, recipe, chunks, first),
      turn(rows, first) {
        // Packing takes far longer than fetching. If a worker that is still packing were given the next turn, fetching
        // would wait for it.
        if (encoder.packing || first === 0 || !pool.warm) return undefined
        const handle = cursor.handle()
        if (!handle) return undefined
        const { fetched, piece } = pool.turn(id, recipe, handle, rows, first)
        let cause: Promise<unknown> | undefined
        const fail = async (error: unknown): Promise<never> => {
          cause ??= cursor.trueError?.(error) ?? Promise.resolve(error)
          throw engineError(await cause, 'query')
        }
        return { fetched: fetched.catch(fail), piece: piece.catch(fail) }
      },
      alone,
      allowance: (pieceBytes) => {
        const share = ALL_BYTES / Math.max(running.size, 1)
        return Math.max(pieceBytes, Math.min(share, (alone() ? 8 : 4) * pool.size * pieceBytes))
      },
    })
  }

  /** Ends everything under way; a waiting call of `pieces.next` rejects with `reason`. */
  async close(reason: unknown): Promise<void> {
    await this.pieces.stop(reason)
    this.#pool.forget(this.#id)
    await this.#cursor.close()
  }
}
