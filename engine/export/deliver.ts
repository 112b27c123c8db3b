import type { Chunk, Cursor, StartOptions } from '../duckdb/cursor.ts'
import { cancelled, engineError } from '../duckdb/errors.ts'
import { VECTOR_ROWS } from '../parquet/row-groups.ts'
import type { Statement } from '../types/index.ts'
import { ByteStream, wholeStream } from './byte-stream.ts'
import type { Counting } from './choose.ts'
import type { ExecutorParts, Running } from './dispatch.ts'
import { type EncodedFormat, encodePiece, openEncoder, type Piece, type Recipe } from './encode.ts'
import { type EncodeOptions, type Encoder, Output } from './formats/encoder.ts'
import { openPage, type Page } from './pages.ts'

/** Up to this size, copying a piece behind the header is cheaper than handing it out separately. */
const SMALL_PIECE = 32 << 10
/** A large piece, of wide rows, is handed out in parts, so that a reader that buffers ahead never holds two of them. */
const PART_BYTES = 512 << 10

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
const INLINE_CELLS = 2048
const INLINE_BYTES = 64 << 10

/** Taken for the size of a row where it is not known. */
const USUAL_ROW_BYTES = 64

export interface DeliverOptions extends StartOptions {
  /** Of few rows, only those that are wanted are written; the others are only counted. */
  readonly counting?: Counting | undefined
  /** The rows are a page of a statement that goes on. */
  readonly page?: Page | undefined
}

/** Starts a statement and encodes its rows. Resolves when DuckDB has the first rows. */
export async function exportBytes(
  parts: ExecutorParts,
  statement: Statement,
  format: EncodedFormat,
  options: DeliverOptions,
  encoding: EncodeOptions,
): Promise<ByteStream> {
  const { columns } = statement
  const { page, rowBytes, signal } = options
  // The text around the rows is written here, and one of its ends is a function, which can't be sent to a worker.
  const { envelope: _, ...sent } = encoding
  const recipe: Recipe = { format, columns, options: sent }
  const encoder = await openEncoder(format, columns, encoding)
  const paged = page && (await openPage(parts, page, options))
  const cursor = paged ?? (await parts.runner.start(statement, options))
  const production = new Production(cursor, parts, recipe, encoder, rowBytes)

  let rows = 0
  const stop = () => void production.stop(signal)
  const stream = new ByteStream(
    encodedBytes(
      encoder,
      () => production.next(),
      (more) => (rows += more),
    ),
    {
      rows: () => rows,
      running: parts.running,
      coding: encoder.coding,
      recycle: (bytes) => parts.pool.recycle(bytes),
      async close() {
        signal?.removeEventListener('abort', stop)
        await production.close(signal)
      },
    },
  )
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted) stop()
  return stream
}

async function* encodedBytes(
  encoder: Encoder,
  next: () => Promise<Piece | undefined>,
  count: (rows: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const container = encoder.packing?.container()
  const ends = container ?? encoder
  let rows = 0
  let out = new Output(1024)
  ends.begin(out)
  for (let piece = await next(); piece; piece = await next()) {
    rows += piece.rows
    let whole = container ? container.piece(piece.bytes, piece.note, out) : piece.bytes
    if (!container && piece.bytes.length <= SMALL_PIECE) {
      out.append(piece.bytes)
      whole = undefined
    }
    count(piece.rows)
    if (out.length > 0) {
      yield out.written()
      out = new Output(64)
    }
    if (!whole) continue
    for (let at = 0; at < whole.length; at += PART_BYTES) yield whole.subarray(at, at + PART_BYTES)
  }
  ends.end(rows, out)
  if (out.length > 0) yield out.written()
}

/**
 * The rows of a result as encoded pieces, in order: fetches chunks one after another, gathers them, has them encoded
 * side by side, and hands the pieces out in the order of the rows. While the allowance of waiting bytes is used up,
 * nothing is fetched and no thread is blocked.
 */
class Production {
  readonly #cursor: Cursor
  readonly #parts: ExecutorParts
  readonly #recipe: Recipe
  readonly #id: number
  readonly #encoder: Encoder
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
    encoder: Encoder,
    rowBytes: number | undefined,
  ) {
    this.#cursor = cursor
    this.#parts = parts
    this.#recipe = recipe
    this.#id = parts.pool.newExport()
    this.#encoder = encoder
    this.#turns = !encoder.packing
    this.#rowBytes = rowBytes || USUAL_ROW_BYTES
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

  /** Ends what is under way; a waiting call of `next` rejects. Resolves when no chunk is left to free. */
  async stop(signal: AbortSignal | undefined): Promise<void> {
    if (this.#state === 'running') this.#cursor.interrupt()
    if (this.#state === 'running' || this.#inWork.size > 0) this.#fail(cancelled(signal))
    await this.#fetching
    await Promise.allSettled(this.#inWork)
  }

  /** Stops, and frees everything. */
  async close(signal: AbortSignal | undefined): Promise<void> {
    await this.stop(signal)
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
  #turn(rows: number, first: number): Running | undefined {
    const { pool } = this.#parts
    if (!this.#turns || first === 0 || !pool.warm) return undefined
    const { address: result } = this.#cursor
    if (result === undefined) return undefined
    const { fetched, piece } = pool.run(this.#id, this.#recipe, { kind: 'turn', result, rows, first })
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
    const { pool, memory } = this.#parts
    // The first bytes needn't wait for a thread to start.
    return this.#isSmall(chunks) || (!pool.warm && first === 0)
      ? encodePiece(this.#encoder, memory, chunks, first, this.#cursor)
      : pool.run(this.#id, this.#recipe, { kind: 'encode', chunks, first }).piece
  }

  /** Whether encoding chunks here takes less time than sending them to another thread. */
  #isSmall(chunks: readonly Chunk[]): boolean {
    const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0)
    return rows * this.#recipe.columns.length <= INLINE_CELLS && rows * this.#rowBytes <= INLINE_BYTES
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

/**
 * Runs a statement of few rows and encodes them at once, in this thread. When it resolves, the connection is free again.
 */
export async function exportBuffered(
  { runner, memory }: ExecutorParts,
  statement: Statement,
  format: EncodedFormat,
  { counting, ...options }: DeliverOptions,
  encoding: EncodeOptions,
): Promise<ByteStream> {
  const encoder = await openEncoder(format, statement.columns, encoding)
  const cursor = await runner.start(statement, options)
  const most = counting?.requested ?? Number.POSITIVE_INFINITY
  let found = 0
  let rows = 0
  const next = async () => {
    for (let chunk = await cursor.fetch(); chunk; chunk = await cursor.fetch()) {
      const taken = Math.min(most - rows, chunk.rows)
      found += chunk.rows
      if (taken > 0) return encodePiece(encoder, memory, [{ ...chunk, rows: taken }], rows, cursor)
      cursor.discard(chunk)
    }
    return undefined
  }
  try {
    const pieces = await Array.fromAsync(encodedBytes(encoder, next, (more) => (rows += more)))
    const facts = { coding: encoder.coding, matches: counting && matchesIn(counting.window, found) }
    return wholeStream(Buffer.concat(pieces), rows, facts, options.signal)
  } finally {
    await cursor.close()
  }
}

/** How many rows match, where `found` of them are in the window; undefined if there may be others. */
export function matchesIn({ skip, top }: Counting['window'], found: number): number | undefined {
  if (top !== undefined && found >= top) return undefined
  // If rows were skipped and none was found after them, there may be fewer matches than the number to skip.
  return found === 0 && skip > 0 ? undefined : skip + found
}
