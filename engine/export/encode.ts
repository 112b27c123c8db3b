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
  /** For the container of a format that has one. */
  readonly note: unknown
}

/** Takes chunks, each of them once. A cursor is one. */
export interface ChunkReader {
  decode(chunk: Chunk, arena: Arena): Batch
  discard(chunk: Chunk): void
}

/** What a thread reads into and writes into, piece after piece, for all exports. */
const arena = new Arena('reused')
let scratch = new Output(1 << 20)
const KEPT_SCRATCH = 16 << 20

/**
 * Memory of pieces that have been sent, for the next ones. New memory for each would cost more than a copy: the system
 * clears it page by page, and V8 collects garbage after every ten megabytes of it.
 */
const spare: ArrayBuffer[] = []
let spareBytes = 0
const MOST_SPARE_BYTES = 8 << 20
const ROUND = 128 << 10

/** Takes the memory of a piece back. */
export function takeBack(memory: ArrayBuffer): void {
  if (spareBytes + memory.byteLength > MOST_SPARE_BYTES) return
  spare.push(memory)
  spareBytes += memory.byteLength
}

/** Bytes in memory of their own. */
function leaving(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const last = spare.pop()
  spareBytes -= last?.byteLength ?? 0
  const memory =
    last && last.byteLength >= bytes.length
      ? last
      : new ArrayBuffer(Math.ceil((1.125 * bytes.length) / ROUND) * ROUND)
  const copy = new Uint8Array(memory, 0, bytes.length)
  copy.set(bytes)
  return copy
}

/** Encodes pieces, in whatever thread it is made. */
export class PieceEncoder {
  readonly #encoder: Encoder

  constructor(encoder: Encoder) {
    this.#encoder = encoder
  }

  /** @param first rows of the result before the first chunk */
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
    const written = out.written()
    // Rooms are reserved for the worst case, so a piece leaves as a copy of its own size; the warm memory stays here.
    const packed = this.#encoder.packing?.pack(written, first, rows) ?? {
      bytes: leaving(written),
      note: undefined,
    }
    if (out.bytes.length > KEPT_SCRATCH) scratch = new Output(1 << 20)
    return { rows, ...packed }
  }
}
