import { cancelled } from '../duckdb/errors.ts'
import type { StartOptions } from '../duckdb/runner.ts'
import type { Statement } from '../types/index.ts'
import { ByteStream } from './byte-stream.ts'
import type { Pieces } from './collect.ts'
import type { Recipe } from './encode.ts'
import type { ExecutorParts } from './executor-parts.ts'
import { type EncodeOptions, type Encoder, encodeOptions } from './formats/encoder.ts'
import { type EncodedFormat, openEncoder } from './formats/index.ts'
import { Output } from './formats/output.ts'
import { type HeldPage, openPage } from './pages.ts'
import { Production } from './production.ts'

/** Up to this size, copying a piece behind the header is cheaper than handing it out separately. */
const SMALL_PIECE = 32 << 10
/** A large piece, of wide rows, is handed out in parts, so that a reader that buffers ahead never holds two of them. */
const PART_BYTES = 512 << 10

/** Starts a statement and encodes its rows. Resolves when DuckDB has the first rows. */
export async function exportBytes(
  parts: ExecutorParts,
  statement: Statement,
  format: EncodedFormat,
  options: StartOptions & EncodeOptions & { readonly page?: HeldPage | undefined },
): Promise<ByteStream> {
  const { columns } = statement
  const { page, rowBytes, signal } = options
  // The text around the rows is written here, and one of its ends is a function, which can't be sent to a worker.
  const { envelope, ...sent } = encodeOptions(options)
  const recipe: Recipe = { format, columns, options: sent }
  const encoder = await openEncoder(format, columns, { ...sent, envelope })
  const paged = page && (await openPage(parts, page, options))
  const cursor = paged ?? (await parts.runner.start(statement, options))
  const production = new Production(cursor, parts, recipe, { encoder, rowBytes })

  let rows = 0
  const stop = () => void production.pieces.stop(cancelled(signal))
  const stream: ByteStream = new ByteStream(
    encodedBytes(encoder, production.pieces, (more) => (rows += more)),
    {
      rows: () => rows,
      coding: encoder.coding,
      recycle: (bytes) => parts.pool.recycle(bytes),
      async close() {
        signal?.removeEventListener('abort', stop)
        await production.close(cancelled(signal))
        parts.running.delete(stream)
      },
    },
  )
  parts.running.add(stream)
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
