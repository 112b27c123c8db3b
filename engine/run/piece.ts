import { Arena, type Batch } from '../arrow/batch.ts'
import type { EncodedColumn, EncodeOptions, Encoder } from '../encode/encoder.ts'
import type { EncodedFormat } from '../encode/formats.ts'
import { Output } from '../encode/output.ts'
import type { Chunk } from './source.ts'

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

/** Encodes pieces, in whatever thread it is made. */
export class PieceEncoder {
  readonly #encoder: Encoder
  readonly #arena = new Arena('reused')
  /** What the last piece took for a row, and a bit more: the next one should fit without growing. */
  #rowBytes = 64

  constructor(encoder: Encoder) {
    this.#encoder = encoder
  }

  /**
   * @param first rows of the result before the first chunk
   * @param decode reads a chunk into the arena and frees it
   */
  encode(chunks: readonly Chunk[], first: number, decode: (chunk: Chunk, arena: Arena) => Batch): Piece {
    const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0)
    const out = new Output(Math.ceil(rows * this.#rowBytes * 1.1) + 1024)
    let done = 0
    for (const chunk of chunks) {
      const batch = decode(chunk, this.#arena)
      this.#encoder.batch(batch, first + done, out)
      done += batch.rows
    }
    const { packing } = this.#encoder
    this.#rowBytes = out.length / Math.max(rows, 1)
    return {
      rows,
      ...(packing?.pack(out.written(), first, rows) ?? { bytes: out.written(), note: undefined }),
    }
  }
}
