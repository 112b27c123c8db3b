import type { Chunk, Cursor } from '../duckdb/cursor.ts'
import { engineError } from '../duckdb/errors.ts'
import { VECTOR_ROWS } from '../parquet/row-groups.ts'
import type { ExecutorParts, TurnUnderWay } from './dispatch.ts'
import { type Piece, PieceEncoder, type Recipe } from './encode.ts'
import type { Encoder } from './formats/encoder.ts'

/** A piece is large enough to be worth a message between threads, and small enough that several may wait. */
const PIECE_BYTES = 256 << 10
/**
 * The bytes of a turn if there is no other export. Between two turns, while messages pass between threads, nobody
 * fetches; other exports would use that time.
 */
const ALONE_BYTES = 1 << 20

/** The bytes that all exports together may have waiting or being encoded; each may have at least one piece. */
const ALL_BYTES = 32 << 20
/** What is no larger is encoded here. */
const FEW_CELLS = 2048
const FEW_BYTES = 64 << 10

/** Taken for the size of a row where it is not known. */
const USUAL_ROW_BYTES = 64

/**
 * The rows of a result as encoded pieces, in order: fetches chunks one after another, gathers them, has them encoded
 * side by side, and hands the pieces out in the order of the rows. While the allowance of waiting bytes is used up,
 * nothing is fetched and no thread is blocked.
 */
export class Production {
  readonly #cursor: Cursor
  readonly #parts: ExecutorParts
  readonly #recipe: Recipe
  readonly #id: number
  readonly #local: PieceEncoder
  /** Whether workers may fetch. Packing takes far longer than that: the next turn would wait for who still packs. */
  readonly #turns: boolean
  readonly #queue: Promise<Piece>[] = []
  readonly #inWork = new Set<Promise<unknown>>()
  readonly #fetching: Promise<void>
  #group: Chunk[] = []
  #groupRows = 0
  #first = 0
  /** A guess, until the first encoded pieces show the real size. */
  #rowBytes: number
  /** Rows of the largest chunk so far. */
  #chunkRows = 0
  #waitingBytes = 0
  #handedBytes = 0
  #state: 'running' | 'ended' | 'stopped' = 'running'
  #failure: unknown
  #wakeFetching = () => {}
  #wakeReader = () => {}

  constructor(
    cursor: Cursor,
    parts: ExecutorParts,
    recipe: Recipe,
    options: { readonly encoder: Encoder; readonly rowBytes: number | undefined },
  ) {
    this.#cursor = cursor
    this.#parts = parts
    this.#recipe = recipe
    this.#id = parts.pool.newExport()
    this.#local = new PieceEncoder(options.encoder, parts.memory)
    this.#turns = !options.encoder.packing
    this.#rowBytes = options.rowBytes || USUAL_ROW_BYTES
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

  /** Stops, and frees everything. */
  async close(reason: unknown): Promise<void> {
    await this.stop(reason)
    this.#parts.pool.forget(this.#id)
    await this.#cursor.close()
  }

  async #fetchAll(): Promise<void> {
    try {
      while (this.#state === 'running') {
        if (this.#waitingBytes >= this.#allowance()) {
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
    const rows = Math.ceil((this.#alone ? ALONE_BYTES : PIECE_BYTES) / this.#rowBytes)
    const turn = this.#turn(rows, this.#first + this.#groupRows)
    if (!turn) return false
    this.#dispatch()
    this.#enqueue(turn.piece, rows)
    const fetched = await turn.fetched
    this.#first += fetched.rows
    this.#chunkRows = Math.max(this.#chunkRows, Math.min(fetched.rows, VECTOR_ROWS))
    if (fetched.ended && this.#state === 'running') this.#state = 'ended'
    return true
  }

  /** Has a worker fetch and encode about `rows` rows after the first ones; undefined where that is not possible. */
  #turn(rows: number, first: number): TurnUnderWay | undefined {
    const { pool } = this.#parts
    if (!this.#turns || first === 0 || !pool.warm) return undefined
    const handle = this.#cursor.handle()
    if (!handle) return undefined
    const { fetched, piece } = pool.turn(this.#id, this.#recipe, handle, rows, first)
    let cause: Promise<unknown> | undefined
    const fail = async (error: unknown): Promise<never> => {
      cause ??= this.#cursor.trueError?.(error) ?? Promise.resolve(error)
      throw engineError(await cause, 'query')
    }
    return { fetched: fetched.catch(fail), piece: piece.catch(fail) }
  }

  #dispatch(): void {
    const chunks = this.#group
    if (chunks.length === 0 || this.#state !== 'running') return
    const rows = this.#groupRows
    this.#group = []
    this.#groupRows = 0
    this.#enqueue(this.#encode(chunks, this.#first), rows)
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

  async #encode(chunks: readonly Chunk[], first: number): Promise<Piece> {
    const { pool } = this.#parts
    // The first bytes needn't wait for a thread to start.
    return this.#isSmall(chunks) || (!pool.warm && first === 0)
      ? this.#local.encode(chunks, first, this.#cursor)
      : pool.encode(this.#id, this.#recipe, chunks, first)
  }

  /** Whether encoding chunks here takes less time than sending them to another thread. */
  #isSmall(chunks: readonly Chunk[]): boolean {
    const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0)
    return rows * this.#recipe.columns.length <= FEW_CELLS && rows * this.#rowBytes <= FEW_BYTES
  }

  get #alone(): boolean {
    return this.#parts.running.size <= 1
  }

  /** How many bytes may wait to be read or be in the middle of encoding: at least a piece, which has at least a chunk. */
  #allowance(): number {
    const { running, pool } = this.#parts
    const pieceBytes = Math.max(PIECE_BYTES, this.#chunkRows * this.#rowBytes)
    const share = ALL_BYTES / Math.max(running.size, 1)
    return Math.max(pieceBytes, Math.min(share, (this.#alone ? 8 : 4) * pool.size * pieceBytes))
  }
}
