import { cancelled } from '../duckdb/errors.ts'
import type { Cursor, StartOptions } from '../duckdb/runner.ts'
import type { Statement } from '../types/index.ts'
import { ByteStream } from './byte-stream.ts'
import type { PieceMemory } from './encode.ts'
import type { ExecutorParts } from './executor-parts.ts'
import type { EncodeOptions, Encoder } from './formats/encoder.ts'
import { type EncodedFormat, openEncoder } from './formats/index.ts'
import { Output } from './formats/output.ts'

export interface FewOptions extends StartOptions, EncodeOptions {
  /** The most rows to write; by default all. If the statement gives more, the rest are only counted. */
  readonly most?: number | undefined
}

/**
 * Runs a statement of few rows and encodes them at once, without workers and pieces. When it resolves, the connection
 * is free again.
 * @returns the bytes, and how many rows the statement gave, of which `most` were written
 */
export async function exportFew(
  { runner, memory }: ExecutorParts,
  statement: Statement,
  format: EncodedFormat,
  options: FewOptions,
): Promise<{ stream: ByteStream; found: number }> {
  const encoder = await openEncoder(format, statement.columns, options)
  const cursor = await runner.start(statement, { ...options, whole: true })
  try {
    const { bytes, rows, found } = await encodeAll(cursor, encoder, memory, options.most)
    return { stream: streamOf(bytes, rows, encoder.coding, options.signal), found }
  } finally {
    await cursor.close()
  }
}

async function encodeAll(
  cursor: Cursor,
  encoder: Encoder,
  { arena }: PieceMemory,
  most = Number.POSITIVE_INFINITY,
) {
  const { packing } = encoder
  const container = packing?.container()
  const ends = container ?? encoder
  const out = new Output(4096)
  // Where the format packs, the batches are gathered apart, because only their packed form belongs in `out`.
  const batches = container ? new Output(4096) : out
  let rows = 0
  let found = 0
  ends.begin(out)
  for (let chunk = await cursor.fetch(); chunk; chunk = await cursor.fetch()) {
    const wanted = Math.min(most - rows, chunk.rows)
    found += chunk.rows
    if (wanted === 0) {
      cursor.discard(chunk)
      continue
    }
    encoder.batch({ ...cursor.decode(chunk, arena), rows: wanted }, rows, batches)
    rows += wanted
  }
  if (packing && container && rows > 0) {
    const { bytes, note } = packing.pack(batches.written(), 0, rows)
    const rest = container.piece(bytes, note, out)
    if (rest) out.append(rest)
  }
  ends.end(rows, out)
  return { bytes: out.written(), rows, found }
}

/** One piece of bytes as a stream. */
function streamOf(
  bytes: Uint8Array,
  rows: number,
  coding: ByteStream['coding'],
  signal: AbortSignal | undefined,
): ByteStream {
  let handedOut = 0
  async function* once() {
    if (signal?.aborted) throw cancelled(signal)
    handedOut = rows
    if (bytes.length > 0) yield bytes
  }
  return new ByteStream(once(), { rows: () => handedOut, size: bytes.length, coding })
}
