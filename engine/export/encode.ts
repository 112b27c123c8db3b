import { Arena, type Batch } from '../duckdb/batch.ts'
import type { Chunk } from '../duckdb/source.ts'
import type { EncodedColumn, EncodeOptions, Encoder } from './formats/encoder.ts'
import type { EncodedFormat } from './formats/index.ts'
import { Output } from './formats/output.ts'

/** What an export writes; the same for all of its pieces. */
export interface Recipe {
  readonly format: EncodedFormat
  readonly columns: readonly EncodedColumn[]
  readonly options: EncodeOptions
}

/** Some chunks of an export, encoded. */
export interface Piece {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly rows: number
  /** What the format's container needs to know about the piece, if the format has a container. */
  readonly note: unknown
}

/** Decodes or discards chunks. Each chunk may be passed to it only once. A cursor is a ChunkReader. */
export interface ChunkReader {
  decode(chunk: Chunk, arena: Arena): Batch
  discard(chunk: Chunk): void
}

/** Memory that this thread decodes into; it is used again for every piece of every export. */
const arena = new Arena('reused')
/** Memory that this thread encodes the next piece into. */
let scratch = new Output(1 << 20)
const MOST_SCRATCH = 4 << 20

/**
 * Memory of pieces that were sent and have come back, kept for the next pieces. New memory for each piece would cost
 * more than copying the bytes: the system clears it page by page, and V8 collects garbage after every ten megabytes.
 */
const spare: ArrayBuffer[] = []
let spareBytes = 0
const MOST_SPARE_BYTES = 8 << 20
const ROUND = 128 << 10

/** Keeps the memory of a piece that was returned, for a later piece. */
export function takeBack(memory: ArrayBuffer): void {
  if (memory.byteLength < ROUND || spareBytes + memory.byteLength > MOST_SPARE_BYTES) return
  spare.push(memory)
  spareBytes += memory.byteLength
}

/** Memory that has come back, if it has at least so many bytes. */
function spareOf(bytes: number): ArrayBuffer | undefined {
  const last = spare.pop()
  spareBytes -= last?.byteLength ?? 0
  return last && last.byteLength >= bytes ? last : undefined
}

/** Copies bytes into memory of their own, which can be transferred to another thread. */
function copied(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  // Rounded up, small pieces would make V8 collect garbage a hundred times as often.
  if (bytes.length < ROUND / 2) return new Uint8Array(bytes)
  const memory = spareOf(bytes.length) ?? new ArrayBuffer(Math.ceil((1.125 * bytes.length) / ROUND) * ROUND)
  const copy = new Uint8Array(memory, 0, bytes.length)
  copy.set(bytes)
  return copy
}

/** What was encoded, in memory that can be transferred to another thread. */
function leaving(out: Output): Uint8Array<ArrayBuffer> {
  const bytes = out.written()
  const { length: capacity } = out.bytes
  // Room is reserved for the worst case. Where little of it was used, or where the piece is small, the bytes leave as a
  // copy, and this thread keeps the memory.
  if (4 * bytes.length < capacity || bytes.length < ROUND / 2) return copied(bytes)
  const size = Math.min(capacity, MOST_SCRATCH)
  scratch = new Output(spareOf(size) ?? size)
  return bytes
}

/** Encodes pieces, in a worker or in the main thread. */
export class PieceEncoder {
  readonly #encoder: Encoder

  constructor(encoder: Encoder) {
    this.#encoder = encoder
  }

  /** @param first number of rows of the result before the first chunk */
  encode(chunks: readonly Chunk[], first: number, reader: ChunkReader): Piece {
    const out = scratch
    out.length = 0
    let rows = 0
    let taken = 0
    try {
      for (const chunk of chunks) {
        taken++
        const batch = reader.decode(chunk, arena)
        this.#encoder.batch(batch, first + rows, out)
        rows += batch.rows
      }
    } finally {
      for (const chunk of chunks.slice(taken)) reader.discard(chunk)
    }
    const packed = this.#encoder.packing?.pack(out.written(), first, rows)
    // Node's small buffers, which packing may give, share memory with others.
    const bytes = packed ? copied(packed.bytes) : leaving(out)
    if (scratch.bytes.length > MOST_SCRATCH) scratch = new Output(1 << 20)
    return { rows, note: packed?.note, bytes }
  }
}
