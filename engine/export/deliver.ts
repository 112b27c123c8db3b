import { cancelled, engineError } from '../duckdb/errors.ts'
import type { Chunk, Source, StartOptions } from '../duckdb/source.ts'
import type { Statement } from '../types/index.ts'
import { Pieces } from './collect.ts'
import type { WorkerPool } from './dispatch.ts'
import { PieceEncoder, type Recipe } from './encode.ts'
import { type EncodeOptions, type Encoder, encodeOptions } from './formats/encoder.ts'
import { type EncodedFormat, openEncoder } from './formats/index.ts'
import { Output } from './formats/output.ts'

/** Bytes in order. Pull them: nothing is produced ahead beyond some buffers. Leaving a loop over it closes it. */
export interface ByteStream extends AsyncIterable<Uint8Array>, AsyncDisposable {
  /** Rows in the bytes handed out so far. */
  rows(): number
  /** What the bytes are compressed with, where that was asked for and the format has no compression of its own. */
  readonly coding?: 'gzip' | undefined
  /**
   * Says, once, that bytes handed out have been used: their memory is written to again. Needn't be called; exports of
   * many megabytes are quicker where it is.
   */
  recycle(bytes: Uint8Array): void
}

/** What all exports of an executor share. */
export interface Surroundings {
  readonly source: Source
  readonly pool: WorkerPool
  /** Exports that are under way. */
  readonly running: Set<AsyncDisposable>
}

/** What all exports together may have waiting or in work, so long as each may have one piece. */
const ALL_BYTES = 32 << 20
/** Below these a piece is encoded sooner than it is sent to another thread. */
const FEW_CELLS = 2048
const FEW_BYTES = 64 << 10

/** Up to this, copying a piece behind the header is cheaper than a write of its own. */
const SMALL_PIECE = 32 << 10
/** A piece of wide rows is handed out in parts, so that whoever buffers the next one has no second piece. */
const PART_BYTES = 512 << 10

let nextExport = 0

/** Starts a statement and encodes its rows. Resolves when the first rows are there. */
export async function exportBytes(
  around: Surroundings,
  statement: Statement,
  format: EncodedFormat,
  options: StartOptions & EncodeOptions,
): Promise<ByteStream> {
  const { columns } = statement
  const recipe: Recipe = { format, columns, options: encodeOptions(options) }
  const encoder = await openEncoder(format, columns, recipe.options)
  const cursor = await around.source.start(statement, options)
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
      // Packing takes far longer than fetching: who fetches next would wait for a thread that packs.
      if (encoder.packing || !cursor.handle || first === 0 || !around.pool.warm) return undefined
      const { fetched, piece } = around.pool.turn(id, recipe, cursor.handle, rows, first)
      let cause: Promise<unknown> | undefined
      const fail = async (error: unknown): Promise<never> => {
        cause ??= cursor.trueError?.(error) ?? Promise.resolve(error)
        throw engineError(await cause, 'query')
      }
      return { fetched: fetched.catch(fail), piece: piece.catch(fail) }
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
