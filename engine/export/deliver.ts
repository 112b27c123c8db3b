import { cancelled } from '../duckdb/errors.ts'
import type { StartOptions } from '../duckdb/source.ts'
import type { Statement } from '../types/index.ts'
import type { Pieces } from './collect.ts'
import type { Recipe } from './encode.ts'
import { type EncodeOptions, type Encoder, encodeOptions } from './formats/encoder.ts'
import { type EncodedFormat, openEncoder } from './formats/index.ts'
import { Output } from './formats/output.ts'
import { type Page, pageProduction, type Surroundings } from './pages.ts'
import { Production } from './production.ts'

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

/** Up to this size, copying a piece behind the header is cheaper than handing it out separately. */
const SMALL_PIECE = 32 << 10
/** A large piece, of wide rows, is handed out in parts, so that a reader that buffers ahead never holds two of them. */
const PART_BYTES = 512 << 10

/** Starts a statement and encodes its rows. Resolves when DuckDB has the first rows. */
export async function exportBytes(
  around: Surroundings,
  statement: Statement,
  format: EncodedFormat,
  options: StartOptions & EncodeOptions & { readonly page?: Page | undefined },
): Promise<ByteStream> {
  const { columns } = statement
  const { page, rowBytes } = options
  // The text around the rows is written here, and one of its ends is a function, which can't be sent to a worker.
  const { around: text, ...sent } = encodeOptions(options)
  const recipe: Recipe = { format, columns, options: sent }
  const encoder = await openEncoder(format, columns, { ...sent, around: text })
  const production =
    (page && (await pageProduction(around, page, recipe, options))) ??
    new Production(await around.source.start(statement, options), around, recipe, { encoder, rowBytes })
  const { pieces } = production

  let rows = 0
  const { signal } = options
  const stop = () => void pieces.stop(cancelled(signal))
  const generator = encodedBytes(encoder, pieces, (more) => (rows += more))
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    signal?.removeEventListener('abort', stop)
    await production.close(cancelled(signal))
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
