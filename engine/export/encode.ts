import { Arena, type Batch } from '../duckdb/batch.ts'
import type { Chunk } from '../duckdb/cursor.ts'
import { EngineError } from '../errors.ts'
import type { Format } from '../types/index.ts'
import { type ByteStream, wholeStream } from './byte-stream.ts'
import {
  type EncodedColumn,
  type EncodeOptions,
  type Encoder,
  type Envelope,
  gzipped,
  Output,
} from './formats/encoder.ts'

type MakeEncoder = (columns: readonly EncodedColumn[], options: EncodeOptions) => Encoder

interface FormatEntry {
  /** Loads the encoder of batches; none if DuckDB itself writes the format. */
  readonly encoder?: () => Promise<MakeEncoder>
  /** All bytes of a table without columns; none if the format has no such table. */
  readonly empty?: string
}

const ENTRIES = {
  csv: { encoder: async () => (await import('./formats/csv.ts')).csv, empty: '' },
  tsv: { encoder: async () => (await import('./formats/csv.ts')).tsv, empty: '' },
  json: { encoder: async () => (await import('./formats/json.ts')).json, empty: '[]' },
  ndjson: { encoder: async () => (await import('./formats/json.ts')).ndjson, empty: '' },
  xlsx: { encoder: async () => (await import('./formats/xlsx/xlsx.ts')).xlsx },
  parquet: {},
  arrow: { encoder: async () => (await import('./formats/arrow.ts')).arrow },
  'arrow-file': { encoder: async () => (await import('./formats/arrow.ts')).arrowFile },
} as const satisfies Record<Format, FormatEntry>

/** The formats that have an encoder of batches. */
export type EncodedFormat = {
  [F in Format]: (typeof ENTRIES)[F] extends { encoder: unknown } ? F : never
}[Format]

/** The encoders that were loaded: importing a module again takes longer than encoding a few rows. */
const loaded = new Map<EncodedFormat, MakeEncoder>()

export async function openEncoder(
  format: EncodedFormat,
  columns: readonly EncodedColumn[],
  options: EncodeOptions,
): Promise<Encoder> {
  let make = loaded.get(format)
  if (!make) {
    make = await ENTRIES[format].encoder()
    loaded.set(format, make)
  }
  const made = make(columns, options)
  const encoder = options.envelope && !made.packing ? enclosed(made, options.envelope) : made
  return options.coding === 'gzip' && !encoder.packing ? gzipped(encoder) : encoder
}

/** An encoder that also writes the text before and after the rows. */
function enclosed(encoder: Encoder, { before, after }: Envelope): Encoder {
  return {
    ...encoder,
    begin(out) {
      out.append(Buffer.from(before))
      encoder.begin(out)
    },
    end(rows, out) {
      encoder.end(rows, out)
      out.append(Buffer.from(after(rows)))
    },
  }
}

/**
 * The export of a dataset that has no columns yet, and so no rows. It doesn't come from DuckDB, because SQL can't select
 * zero columns.
 * @throws EngineError `not_representable` where the format has no table without columns
 */
export function nothingIn(format: Format): ByteStream {
  const { empty }: FormatEntry = ENTRIES[format]
  if (empty === undefined) {
    throw new EngineError(
      'not_representable',
      `The dataset has no columns yet, and ${format} has no table without columns. Upload rows or declare columns first.`,
    )
  }
  return wholeStream(Buffer.from(empty), 0, { matches: 0 })
}

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

const SCRATCH = 1 << 20
const MOST_SCRATCH = 4 << 20
const MOST_SPARE_BYTES = 8 << 20
const ROUND = 128 << 10

/**
 * Memory for the pieces of all exports, one after the other: a thread decodes and encodes one piece at a time, without
 * waiting in between. New memory for each piece would cost more than copying the bytes: the system clears it page by
 * page, and V8 collects garbage after every ten megabytes.
 */
export class PieceMemory {
  /** Each batch overwrites the one before. */
  readonly arena = new Arena('reused')
  /** Memory that the next piece is encoded into. */
  #scratch = new Output(SCRATCH)
  /** Memory of pieces that were sent and have come back. */
  readonly #spare: ArrayBuffer[] = []
  #spareBytes = 0

  /** Keeps the memory of a piece that was returned, for a later piece. */
  takeBack(memory: ArrayBuffer): void {
    if (memory.byteLength < ROUND || this.#spareBytes + memory.byteLength > MOST_SPARE_BYTES) return
    this.#spare.push(memory)
    this.#spareBytes += memory.byteLength
  }

  /** Has bytes written, and gives them as `ready` makes them, in memory that can be transferred to another thread. */
  encoded<Packed extends { readonly bytes: Uint8Array }>(
    write: (out: Output) => void,
    pack: ((bytes: Uint8Array<ArrayBuffer>) => Packed) | undefined,
  ): { readonly bytes: Uint8Array<ArrayBuffer>; readonly packed: Packed | undefined } {
    const out = this.#scratch
    out.length = 0
    write(out)
    const packed = pack?.(out.written())
    // Node's small buffers, which packing may give, share memory with others.
    const bytes = packed ? this.#copied(packed.bytes) : this.#leaving(out)
    if (this.#scratch.bytes.length > MOST_SCRATCH) this.#scratch = new Output(SCRATCH)
    return { bytes, packed }
  }

  /** Copies bytes into memory of their own. */
  #copied(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    // Rounded up, small pieces would make V8 collect garbage a hundred times as often.
    if (bytes.length < ROUND / 2) return new Uint8Array(bytes)
    const size = Math.ceil((1.125 * bytes.length) / ROUND) * ROUND
    const copy = new Uint8Array(this.#spareOf(bytes.length) ?? new ArrayBuffer(size), 0, bytes.length)
    copy.set(bytes)
    return copy
  }

  #leaving(out: Output): Uint8Array<ArrayBuffer> {
    const bytes = out.written()
    const { length: capacity } = out.bytes
    // Room is reserved for the worst case. Where little of it was used, or where the piece is small, the bytes leave as
    // a copy, and this thread keeps the memory.
    if (4 * bytes.length < capacity || bytes.length < ROUND / 2) return this.#copied(bytes)
    const size = Math.min(capacity, MOST_SCRATCH)
    this.#scratch = new Output(this.#spareOf(size) ?? size)
    return bytes
  }

  /** Memory that has come back, if it has at least so many bytes. */
  #spareOf(bytes: number): ArrayBuffer | undefined {
    const last = this.#spare.pop()
    this.#spareBytes -= last?.byteLength ?? 0
    return last && last.byteLength >= bytes ? last : undefined
  }
}

/**
 * Encodes some chunks as a piece, in a worker or in the main thread.
 * @param first number of rows of the result before the first chunk
 */
export function encodePiece(
  encoder: Encoder,
  memory: PieceMemory,
  chunks: readonly Chunk[],
  first: number,
  reader: ChunkReader,
): Piece {
  let rows = 0
  const write = (out: Output) => {
    let taken = 0
    try {
      for (const chunk of chunks) {
        taken++
        // Of the last chunk of a result, only the first rows may be wanted.
        const batch = { ...reader.decode(chunk, memory.arena), rows: chunk.rows }
        encoder.batch(batch, first + rows, out)
        rows += batch.rows
      }
    } finally {
      for (const chunk of chunks.slice(taken)) reader.discard(chunk)
    }
  }
  const { packing } = encoder
  const { bytes, packed } = memory.encoded(write, packing && ((all) => packing.pack(all, first, rows)))
  return { rows, note: packed?.note, bytes }
}
