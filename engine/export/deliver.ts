import { cancelled, engineError } from '../duckdb/errors.ts'
import type { Chunk, Cursor, Source, StartOptions } from '../duckdb/source.ts'
import type { Statement } from '../types/index.ts'
import { Pieces } from './collect.ts'
import type { WorkerPool } from './dispatch.ts'
import { PieceEncoder, type Recipe } from './encode.ts'
import { type EncodeOptions, type Encoder, encodeOptions } from './formats/encoder.ts'
import { type EncodedFormat, openEncoder } from './formats/index.ts'
import { Output } from './formats/output.ts'
import { Run, type WaitingRuns } from './runs.ts'

/**
 * Bytes in order. The reader pulls them: no more than some buffers are produced ahead. Leaving a loop over the stream
 * closes it.
 */
export interface ByteStream extends AsyncIterable<Uint8Array>, AsyncDisposable {
  /** Rows in the bytes handed out so far. */
  rows(): number
  /** How many bytes there are in all, if that is known before the first of them. */
  readonly size?: number | undefined
  /** How the bytes are compressed, if compression was asked for and the format has none of its own. */
  readonly coding?: 'gzip' | undefined
  /**
   * The reader calls this, once per handed-out array, when it no longer needs the bytes: their memory is then written
   * to again. The call is optional; it makes exports of many megabytes quicker.
   */
  recycle(bytes: Uint8Array): void
}

/** What all exports of an executor share. */
export interface Surroundings {
  readonly source: Source
  readonly pool: WorkerPool
  readonly waiting: WaitingRuns
  /** The exports that have begun and not ended. */
  readonly running: Set<AsyncDisposable>
}

/** The bytes that all exports together may have waiting or being encoded; each may have at least one piece. */
const ALL_BYTES = 32 << 20
/** Up to these sizes, encoding a piece here takes less time than sending it to another thread. */
const FEW_CELLS = 2048
const FEW_BYTES = 64 << 10

/** Up to this size, copying a piece behind the header is cheaper than handing it out separately. */
const SMALL_PIECE = 32 << 10
/** A large piece, of wide rows, is handed out in parts, so that a reader that buffers ahead never holds two of them. */
const PART_BYTES = 512 << 10

let nextExport = 0

/** A page of rows that are probably all read, one page after another. */
export interface Page {
  readonly rows: number
  /** Names the rows from this page on, and those behind it; there may be none behind it. */
  readonly name: string
  readonly next: string | undefined
  /** The statement of the rows from this page on. Its columns are those of the page. */
  readonly statement: () => Statement
  /** Keeps what the statement reads readable until the returned function is called. */
  readonly hold: () => () => void
}

/** Starts a statement and encodes its rows. Resolves when DuckDB has the first rows. */
export async function exportBytes(
  around: Surroundings,
  statement: Statement,
  format: EncodedFormat,
  options: StartOptions & EncodeOptions & { readonly page?: Page | undefined },
): Promise<ByteStream> {
  const { columns } = statement
  const { page } = options
  // The text around the rows is written here, and one of its ends is a function, which can't be sent to a worker.
  const { around: text, ...sent } = encodeOptions(options)
  const recipe: Recipe = { format, columns, options: sent }
  const encoder = await openEncoder(format, columns, { ...sent, around: text })
  const cursor =
    (page && (await pageCursor(around, page, options))) ?? (await around.source.start(statement, options))
  const id = nextExport++
  const local = new PieceEncoder(encoder)
  const rowBytes = options.rowBytes || 64

  const isSmall = (chunks: readonly Chunk[]): boolean => {
    const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0)
    return rows * columns.length <= FEW_CELLS && rows * rowBytes <= FEW_BYTES
  }
  const pieces = new Pieces(cursor, {
    rowBytes,
    // The first bytes needn't wait for a thread to start.
    encode: async (chunks, first) =>
      isSmall(chunks) || (!around.pool.warm && first === 0)
        ? local.encode(chunks, first, cursor)
        : around.pool.encode(id, recipe, chunks, first),
    turn(rows, first) {
      // Packing takes far longer than fetching. If a worker that is still packing were given the next turn, fetching
      // would wait for it.
      if (encoder.packing || first === 0 || !around.pool.warm) return undefined
      const handle = cursor.handle(rows)
      if (!handle) return undefined
      const { fetched, piece } = around.pool.turn(id, recipe, handle, rows, first)
      let cause: Promise<unknown> | undefined
      const fail = async (error: unknown): Promise<never> => {
        cause ??= cursor.trueError?.(error) ?? Promise.resolve(error)
        throw engineError(await cause, 'query')
      }
      const told = fetched.then((by) => {
        cursor.fetched?.(by)
        return by
      })
      return { fetched: told.catch(fail), piece: piece.catch(fail) }
    },
    allowance: (pieceBytes) =>
      Math.max(pieceBytes, Math.min(ALL_BYTES / around.running.size, 4 * around.pool.size * pieceBytes)),
  })

  let rows = 0
  const { signal } = options
  const stop = () => void pieces.stop(cancelled(signal))
  const generator = encodedBytes(encoder, pieces, (more) => (rows += more))
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    signal?.removeEventListener('abort', stop)
    await pieces.stop(cancelled(signal))
    around.pool.forget(id)
    await cursor.close()
    around.running.delete(stream)
  }
  const stream: ByteStream = {
    rows: () => rows,
    coding: encoder.coding,
    recycle: (bytes) => around.pool.recycle(bytes),
    [Symbol.asyncDispose]: () => (closing ??= close()),
    [Symbol.asyncIterator]: () => ({
      async next() {
        try {
          const result = await generator.next()
          if (result.done) await stream[Symbol.asyncDispose]()
          return result
        } catch (error) {
          await stream[Symbol.asyncDispose]()
          throw error
        }
      },
      async return() {
        await stream[Symbol.asyncDispose]()
        return { done: true, value: undefined }
      },
    }),
  }
  around.running.add(stream)
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted) stop()
  return stream
}

/** A cursor over a page, which goes on with the run that gave the page before, if there is one. */
async function pageCursor(
  { source, waiting }: Surroundings,
  { rows, name, next, statement, hold }: Page,
  options: StartOptions,
): Promise<Cursor | undefined> {
  let run = waiting.take(name)
  if (!run) {
    if (next === undefined || !source.cuts) return undefined
    const release = hold()
    try {
      run = new Run(await source.start(statement(), options), release)
    } catch (error) {
      release()
      throw error
    }
  }
  const going = run
  return run.page(rows, () => (next === undefined ? going.close() : waiting.leave(next, going)))
}

async function* encodedBytes(
  encoder: Encoder,
  pieces: Pieces,
  count: (rows: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const container = encoder.packing?.container()
  const ends = container ?? encoder
  let rows = 0
  let out = new Output(1024)
  ends.begin(out)
  for (let piece = await pieces.next(); piece; piece = await pieces.next()) {
    rows += piece.rows
    if (container) container.piece(piece.bytes, piece.note, out)
    else if (piece.bytes.length <= SMALL_PIECE) out.append(piece.bytes)
    count(piece.rows)
    if (out.length > 0) {
      yield out.written()
      out = new Output(64)
    }
    if (container || piece.bytes.length <= SMALL_PIECE) continue
    for (let at = 0; at < piece.bytes.length; at += PART_BYTES)
      yield piece.bytes.subarray(at, at + PART_BYTES)
  }
  ends.end(rows, out)
  if (out.length > 0) yield out.written()
}
