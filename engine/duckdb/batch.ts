import type { Layout } from '../types/index.ts'

/**
 * One column of a batch: Arrow's layout, in memory that JavaScript owns. By `Layout`, it holds a bit for each row
 * (`bit`), 32 or 64-bit little-endian two's complement numbers (dates are days, times are microseconds, both since 1970
 * if there is a date), IEEE doubles, 128-bit decimals without their point, or texts or bytes that `offsets` point into.
 * `bytes`, `view`, `words` and `doubles` are the same memory. All arrays may be longer than the rows of the batch; past
 * the last value there are at least seven readable bytes, so that text may be read word by word.
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

/** Some rows of a result. The columns are in the statement's order. */
export interface Batch {
  readonly rows: number
  readonly vectors: readonly Vector[]
}

/** Bytes of a row in a layout of fixed width; 0 for `bit` and `bytes`. */
export const WIDTHS: Readonly<Record<Layout, number>> = {
  bit: 0,
  int32: 4,
  int64: 8,
  double: 8,
  int128: 16,
  bytes: 0,
}

export function isNull(vector: Vector, row: number): boolean {
  const { validity } = vector
  return validity !== undefined && ((validity[row >> 3]! >> (row & 7)) & 1) === 0
}

/**
 * Sets the values of nulls to zeros. DuckDB leaves there what its memory held before, which may be the values of other
 * users' queries; so this is called before the memory itself is given away, as in Arrow.
 */
export function clearNulls({ validity, bytes }: Vector, layout: Layout, rows: number): void {
  if (validity === undefined || layout === 'bytes') return
  const width = WIDTHS[layout]
  for (let at = 0; at < rows; at += 8) {
    const valid = validity[at >> 3]!
    if (valid === 0xff) continue
    if (layout === 'bit') bytes[at >> 3]! &= valid
    else {
      for (let row = at; row < Math.min(at + 8, rows); row++) {
        if (((valid >> (row & 7)) & 1) === 0) bytes.fill(0, row * width, (row + 1) * width)
      }
    }
  }
}

/** The views of one piece of memory that a vector consists of. */
export type Memory = Pick<Vector, 'bytes' | 'view' | 'words' | 'doubles'>

const SLACK = 8
/** Memory larger than this isn't kept for the next batch. */
const KEPT_BYTES = 4 << 20

/**
 * Hands out memory for the columns of a batch. A `reused` arena overwrites the last batch with the next one. That is
 * right if a batch is encoded before the next is read, and it saves time: making a view takes longer than filling it.
 */
export class Arena {
  readonly #reused: boolean
  readonly #rooms: Memory[] = []
  #taken = 0

  constructor(use: 'reused' | 'kept') {
    this.#reused = use === 'reused'
  }

  /** Begins a batch. */
  begin(): void {
    this.#taken = 0
  }

  /** Memory of at least so many bytes, with slack after them. A reused arena's memory still holds older values. */
  take(bytes: number): Memory {
    if (!this.#reused) return memory(bytes)
    const index = this.#taken++
    const room = this.#rooms[index]
    if (room && room.bytes.length >= bytes + SLACK) return room
    const larger = memory(Math.ceil(1.25 * bytes))
    if (bytes <= KEPT_BYTES) this.#rooms[index] = larger
    return larger
  }
}

/** `words` and `doubles` end at a whole word; `bytes` and `view` include the slack. */
function memory(bytes: number): Memory {
  // Not rounded with bit operations, which work on 32 bits: the texts of a batch may take 2 GiB.
  const size = 8 * Math.ceil(bytes / 8)
  const buffer = new ArrayBuffer(size + SLACK)
  return {
    bytes: new Uint8Array(buffer),
    view: new DataView(buffer),
    words: new Int32Array(buffer, 0, size / 4),
    doubles: new Float64Array(buffer, 0, size / 8),
  }
}

const NO_OFFSETS = new Int32Array(0)

/** A vector over memory from an arena. */
export function vectorOver(
  { bytes, view, words, doubles }: Memory,
  validity: Memory | undefined,
  offsets?: Memory,
): Vector {
  return { validity: validity?.bytes, offsets: offsets?.words ?? NO_OFFSETS, bytes, view, words, doubles }
}

/** A value in the form of its layout (`Vector`): `bit` takes booleans, `int64` and `int128` take bigints. */
export type LaidValue = boolean | number | bigint | Uint8Array

/**
 * A column of a batch, filled value by value.
 * @param arena one that gives new memory each time, because nulls are left out and must be zeros
 */
export function vectorOf(values: readonly (LaidValue | null)[], layout: Layout, arena: Arena): Vector {
  const rows = values.length
  const bits = (rows + 7) >> 3
  let validity: Memory | undefined
  if (values.includes(null)) {
    validity = arena.take(bits)
    for (let row = 0; row < rows; row++) if (values[row] !== null) validity.bytes[row >> 3]! |= 1 << (row & 7)
  }
  if (layout === 'bytes') return bytesVector(values as readonly (Uint8Array | null)[], validity, arena)
  const data = arena.take(layout === 'bit' ? bits : rows * WIDTHS[layout])
  const { view } = data
  for (let row = 0; row < rows; row++) {
    const value = values[row]!
    if (value === null) continue
    switch (layout) {
      case 'bit':
        if (value === true) data.bytes[row >> 3]! |= 1 << (row & 7)
        break
      case 'int32':
        view.setInt32(4 * row, value as number, true)
        break
      case 'double':
        view.setFloat64(8 * row, value as number, true)
        break
      case 'int64':
        view.setBigInt64(8 * row, value as bigint, true)
        break
      case 'int128':
        view.setBigInt64(16 * row, BigInt.asIntN(64, value as bigint), true)
        view.setBigInt64(16 * row + 8, (value as bigint) >> 64n, true)
        break
      default:
        layout satisfies never
    }
  }
  return vectorOver(data, validity)
}

const NOTHING = new Uint8Array(0)

function bytesVector(
  values: readonly (Uint8Array | null)[],
  validity: Memory | undefined,
  arena: Arena,
): Vector {
  const offsets = arena.take(4 * (values.length + 1))
  const ends = offsets.words
  for (const [row, value] of values.entries()) ends[row + 1] = ends[row]! + (value ?? NOTHING).length
  const data = arena.take(ends[values.length]!)
  for (const [row, value] of values.entries()) data.bytes.set(value ?? NOTHING, ends[row])
  return vectorOver(data, validity, offsets)
}
