import { type Batch, isNull, type Vector } from '../duckdb/batch.ts'
import type { StartOptions } from '../duckdb/cursor.ts'
import { cancelled } from '../duckdb/errors.ts'
import type { Statement } from '../types/index.ts'
import { ByteStream, wholeStream } from './byte-stream.ts'
import type { Counting } from './choose.ts'
import { Production } from './collect.ts'
import type { ExecutorParts } from './dispatch.ts'
import { type Piece, PieceEncoder, type Recipe } from './encode.ts'
import { type EncodeOptions, type Encoder, Output } from './formats/encoder.ts'
import { type EncodedFormat, openEncoder } from './formats/index.ts'
import { fixedCell, KIND, type Shape } from './formats/text/cells.ts'
import { type HeldPage, openPage } from './pages.ts'

/** Up to this size, copying a piece behind the header is cheaper than handing it out separately. */
const SMALL_PIECE = 32 << 10
/** A large piece, of wide rows, is handed out in parts, so that a reader that buffers ahead never holds two of them. */
const PART_BYTES = 512 << 10

export interface DeliverOptions extends StartOptions {
  /** Of few rows, only those that are wanted are written; the others are only counted. */
  readonly counting?: Counting | undefined
  /** The rows are a page of a statement that goes on. */
  readonly page?: HeldPage | undefined
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
  const production = new Production(cursor, parts, recipe, { encoder, rowBytes })

  let rows = 0
  const stop = () => void production.stop(cancelled(signal))
  const stream: ByteStream = new ByteStream(
    encodedBytes(
      encoder,
      () => production.next(),
      (more) => (rows += more),
    ),
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
 * Runs a statement of few rows and encodes them at once, in this thread. When it resolves, the connection is free again.
 */
export async function exportFew(
  { runner, memory }: ExecutorParts,
  statement: Statement,
  format: EncodedFormat,
  { counting, ...options }: DeliverOptions,
  encoding: EncodeOptions,
): Promise<ByteStream> {
  const encoder = await openEncoder(format, statement.columns, encoding)
  const cursor = await runner.start(statement, options)
  const most = counting?.wanted ?? Number.POSITIVE_INFINITY
  const local = new PieceEncoder(encoder, memory)
  let found = 0
  let rows = 0
  const next = async () => {
    for (let chunk = await cursor.fetch(); chunk; chunk = await cursor.fetch()) {
      const wanted = Math.min(most - rows, chunk.rows)
      found += chunk.rows
      if (wanted > 0) return local.encode([{ ...chunk, rows: wanted }], rows, cursor)
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

/**
 * Rows as JavaScript values: booleans, numbers for doubles and for integers up to 2^53 (BigInts beyond), Uint8Array
 * for binary, and for all other types the text that csv has. A row is read only when the generator reaches it.
 */
export function* rowValues(
  { rows, vectors }: Batch,
  { kinds, scales }: Shape,
): Generator<unknown[], void, undefined> {
  const out = new Output(128)
  for (let row = 0; row < rows; row++) {
    yield vectors.map((vector, column) =>
      isNull(vector, row) ? null : value(vector, row, kinds[column]!, scales[column]!, out),
    )
  }
}

function value(vector: Vector, row: number, kind: number, scale: number, out: Output): unknown {
  switch (kind) {
    case KIND.boolean:
      return ((vector.bytes[row >> 3]! >> (row & 7)) & 1) === 1
    case KIND.integer: {
      const high = vector.words[2 * row + 1]!
      const low = vector.words[2 * row]! >>> 0
      const near = high * 4_294_967_296 + low
      return Number.isSafeInteger(near) ? near : (BigInt(high) << 32n) | BigInt(low)
    }
    case KIND.double:
      return vector.doubles[row]
    case KIND.binary:
      return vector.bytes.slice(vector.offsets[row], vector.offsets[row + 1])
    case KIND.uuid:
    case KIND.string:
    case KIND.json:
      return Buffer.from(vector.bytes.buffer, vector.bytes.byteOffset).toString(
        'utf8',
        vector.offsets[row],
        vector.offsets[row + 1],
      )
    default:
      return Buffer.from(out.bytes.buffer, 0, fixedCell(out.view, 0, vector, row, kind, scale)).toString(
        'latin1',
      )
  }
}
