import type { ColumnType } from '../types.ts'

/**
 * One column of a batch: Arrow's layout, in memory that JavaScript owns. `bytes`, `view`, `words` and
 * `doubles` are the same memory. Past the end of a column there are at least four readable bytes, so that text may be
 * read word by word.
 */
export interface Vector {
  /** A bit for each row, least significant first, set where there is a value; undefined where no row is null. */
  readonly validity: Uint8Array | undefined
  /** Row r of text or binary is `bytes[offsets[r]]` to `bytes[offsets[r + 1]]`; empty for every other layout. */
  readonly offsets: Int32Array
  readonly bytes: Uint8Array
  readonly view: DataView
  readonly words: Int32Array
  readonly doubles: Float64Array
}

/** Some rows of a result. Columns stand in the statement's order. */
export interface Batch {
  readonly rows: number
  readonly vectors: readonly Vector[]
}

/**
 * How the values of a type lie in memory: a bit per row (`bit`), 32 or 64-bit little endian two's complement (dates
 * are days, times microseconds, since 1970 where they have a date), IEEE doubles, 128-bit decimals without their
 * point, text or bytes behind offsets. A `uuid` is its 36 characters.
 */
export type Layout = 'bit' | 'int32' | 'int64' | 'double' | 'int128' | 'bytes'

export function layoutOf(type: ColumnType): Layout {
  switch (type) {
    case 'boolean':
      return 'bit'
    case 'integer':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return 'int64'
    case 'double':
      return 'double'
    case 'date':
      return 'int32'
    case 'string':
    case 'json':
    case 'uuid':
    case 'binary':
      return 'bytes'
    default:
      return 'int128'
  }
}

/** Bytes of a row in a layout of fixed width; 0 for `bit` and `bytes`. */
export function widthOf(layout: Layout): number {
  switch (layout) {
    case 'bit':
    case 'bytes':
      return 0
    case 'int32':
      return 4
    case 'int64':
    case 'double':
      return 8
    case 'int128':
      return 16
    default:
      return layout satisfies never
  }
}

export function isNull(vector: Vector, row: number): boolean {
  const { validity } = vector
  return validity !== undefined && ((validity[row >> 3]! >> (row & 7)) & 1) === 0
}

const SLACK = 8

/**
 * Hands out memory for the columns of a batch. A `reused` arena overwrites the last batch with the next one, which
 * is right where a batch is encoded before the next is read.
 */
export class Arena {
  readonly #reused: boolean
  #buffer = new ArrayBuffer(0)
  #used = 0
  #last = 0

  constructor(use: 'reused' | 'kept') {
    this.#reused = use === 'reused'
  }

  /** Begins a batch. */
  begin(): void {
    this.#last = Math.max(this.#last, this.#used)
    if (!this.#reused) this.#buffer = new ArrayBuffer(0)
    this.#used = 0
  }

  /** Memory that begins at a multiple of eight, with slack behind it. What is in it is left over from before. */
  take(bytes: number): Uint8Array {
    const size = (bytes + SLACK + 7) & ~7
    if (this.#used + size > this.#buffer.byteLength) {
      // What was taken keeps its own buffer; the last batch is a good guess of how much more there will be.
      this.#buffer = new ArrayBuffer(
        Math.max(size, this.#reused ? Math.ceil(1.25 * this.#last) : size, 1 << 12),
      )
      this.#used = 0
      this.#last = Math.max(this.#last, size)
    }
    const taken = new Uint8Array(this.#buffer, this.#used, bytes)
    this.#used += size
    return taken
  }
}

const NO_OFFSETS = new Int32Array(0)

/** A vector over memory that an arena gave; `offsets` likewise. */
export function vectorOver(
  data: Uint8Array,
  validity: Uint8Array | undefined,
  offsets: Int32Array = NO_OFFSETS,
): Vector {
  const { buffer, byteOffset, byteLength } = data
  const whole = Math.min(byteLength + SLACK, buffer.byteLength - byteOffset)
  return {
    validity,
    offsets,
    bytes: new Uint8Array(buffer, byteOffset, whole),
    view: new DataView(buffer, byteOffset, whole),
    words: new Int32Array(buffer, byteOffset, byteLength >> 2),
    doubles: new Float64Array(buffer, byteOffset, byteLength >> 3),
  }
}
