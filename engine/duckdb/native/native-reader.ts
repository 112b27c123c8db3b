import { EngineError } from '../../errors.ts'
import { type ColumnType, decimalParts, entryOf, type Layout } from '../../types/index.ts'
import { Arena, type Batch, isNull, type Memory, type Vector, vectorOver, WIDTHS } from '../batch.ts'
import type { Address, DuckDb } from './ffi.ts'

/** The most bytes of a text that `duckdb_string_t` holds itself; of longer ones it holds the address. */
const INLINE_BYTES = 12
/** Bytes of a `duckdb_string_t`: the length, then the text filled up with zeros, or its first four bytes and its address. */
const CELL_BYTES = 16
/** From this length on, a loop over words takes longer than a call that copies. */
const LONG_BYTES = 128
/** Offsets into a column's texts have 32 bits. */
const MOST_BYTES = 2 ** 31 - 1

/** Turns DuckDB's chunks into batches that JavaScript owns: copies their vectors into Arrow's layout and frees them. */
export class NativeReader {
  readonly #duckdb: DuckDb
  readonly #columns: readonly Column[]
  readonly #scratch = new Arena('reused')

  /** @param types of the columns, as `checkTypes` has found them in the result */
  constructor(duckdb: DuckDb, types: readonly ColumnType[]) {
    this.#duckdb = duckdb
    this.#columns = types.map((type) => ({ layout: entryOf(type).layout, stored: storedAs(type) }))
  }

  /** Reads a chunk and frees it, also when this throws. With a `reused` arena, the batch is valid until the next call. */
  read(chunk: bigint, arena: Arena): Batch {
    try {
      const rows = this.#duckdb.chunkRows(chunk)
      arena.begin()
      const vectors = this.#columns.map((column, index) =>
        this.#vector(column, this.#duckdb.vector(chunk, index), rows, arena),
      )
      return { rows, vectors }
    } finally {
      this.#duckdb.destroyChunk(chunk)
    }
  }

  #vector({ layout, stored }: Column, vector: Address, rows: number, arena: Arena): Vector {
    const validity = this.#validity(vector, rows, arena)
    const from = this.#duckdb.vectorData(vector)
    switch (stored) {
      case 'as laid out': {
        const bytes = rows * WIDTHS[layout]
        const data = arena.take(bytes)
        this.#duckdb.copy(data.bytes, from, bytes)
        return vectorOver(data, validity)
      }
      case 'byte':
        return vectorOver(this.#bits(from, rows, arena), validity)
      case 'text':
        return this.#texts(from, validity, rows, arena)
      case 'uuid':
        return this.#uuids(from, validity, rows, arena)
      default:
        return vectorOver(this.#widened(from, stored, rows, arena), validity)
    }
  }

  /** A bit for each row; undefined where no row is null, also if DuckDB has bits. */
  #validity(vector: Address, rows: number, arena: Arena): Memory | undefined {
    const from = this.#duckdb.validity(vector)
    if (!from) return undefined
    const length = (rows + 7) >> 3
    const memory = arena.take(length)
    const { bytes } = memory
    this.#duckdb.copy(bytes, from, length)
    if ((rows & 7) > 0) bytes[length - 1]! |= 0xff << (rows & 7)
    for (let at = 0; at < length; at++) if (bytes[at] !== 0xff) return memory
    return undefined
  }

  /** Booleans, of which DuckDB stores each in a byte. The byte of a null may hold any number. */
  #bits(from: Address, rows: number, arena: Arena): Memory {
    this.#scratch.begin()
    const { bytes: flags } = this.#scratch.take(rows)
    this.#duckdb.copy(flags, from, rows)
    flags.fill(0, rows, rows + 7)
    const length = (rows + 7) >> 3
    const memory = arena.take(length)
    for (let at = 0; at < length; at++) {
      let byte = 0
      for (let bit = 0; bit < 8; bit++) if (flags[8 * at + bit] !== 0) byte |= 1 << bit
      memory.bytes[at] = byte
    }
    return memory
  }

  /** Decimals, which DuckDB stores in 2, 4 or 8 bytes if they fit, as 128-bit numbers. */
  #widened(from: Address, width: 2 | 4 | 8, rows: number, arena: Arena): Memory {
    const memory = arena.take(16 * rows)
    const { bytes, words, view } = memory
    // The narrow values are put at the end of the memory: there no value is overwritten before it is read.
    const start = (16 - width) * rows
    this.#duckdb.copy(bytes.subarray(start), from, width * rows)
    for (let row = 0; row < rows; row++) {
      const at = start + width * row
      const low = width === 2 ? view.getInt16(at, true) : words[at >> 2]!
      const high = width === 8 ? words[(at >> 2) + 1]! : low >> 31
      words[4 * row] = low
      words[4 * row + 1] = high
      words[4 * row + 2] = high >> 31
      words[4 * row + 3] = high >> 31
    }
    return memory
  }

  /** @param from the address of `rows` structs `duckdb_string_t` */
  #texts(from: Address, validity: Memory | undefined, rows: number, arena: Arena): Vector {
    this.#scratch.begin()
    const { words: cells } = this.#copied(from, CELL_BYTES * rows)
    if (validity) emptyNulls(cells, validity.bytes, rows)
    const offsets = arena.take(4 * (rows + 1))
    const { long, inline } = sumLengths(cells, offsets.words, rows)
    if (long + inline > MOST_BYTES) {
      throw new EngineError(
        'not_representable',
        `${rows} rows have ${long + inline} bytes of text in one column; at most ${MOST_BYTES} can be read at once. ` +
          'Ask for fewer rows, or leave the column out.',
      )
    }
    const data = arena.take(long + inline + INLINE_BYTES)
    if (inline === 0) this.#gather(cells, rows, data.bytes)
    else {
      const gathered = this.#scratch.take(long)
      if (long > 0) this.#gather(cells, rows, gathered.bytes)
      merge(cells, gathered, offsets.words, data, rows)
    }
    return vectorOver(data, validity, offsets)
  }

  /**
   * Copies the long texts one after another. DuckDB mostly has them in this order without gaps, because it copied them
   * into a result one by one; such texts are copied in one call.
   */
  #gather(cells: Int32Array, rows: number, target: Uint8Array): void {
    let length = 0
    let start = 0
    let end = 0
    for (let row = 0; row < rows; row++) {
      const bytes = cells[4 * row]!
      if (bytes <= INLINE_BYTES) continue
      const address = (cells[4 * row + 2]! >>> 0) + (cells[4 * row + 3]! >>> 0) * 2 ** 32
      if (address !== end) {
        length += this.#append(target, length, start, end)
        start = address
      }
      end = address + bytes
    }
    this.#append(target, length, start, end)
  }

  #append(target: Uint8Array, at: number, start: number, end: number): number {
    if (end > start) this.#duckdb.copy(at === 0 ? target : target.subarray(at), start, end - start)
    return end - start
  }

  /** @param from the address of `rows` 128-bit numbers whose highest bit is inverted, so that they sort as signed */
  #uuids(from: Address, validity: Memory | undefined, rows: number, arena: Arena): Vector {
    this.#scratch.begin()
    const { bytes: numbers } = this.#copied(from, 16 * rows)
    const offsets = arena.take(4 * (rows + 1))
    const data = arena.take(36 * rows)
    const vector = vectorOver(data, validity, offsets)
    let at = 0
    offsets.words[0] = 0
    for (let row = 0; row < rows; row++) {
      if (!isNull(vector, row)) at = writeUuid(numbers, 16 * row, data.bytes, at)
      offsets.words[row + 1] = at
    }
    return vector
  }

  #copied(from: Address, bytes: number): Memory {
    const memory = this.#scratch.take(bytes)
    this.#duckdb.copy(memory.bytes, from, bytes)
    return memory
  }
}

/** Gives nulls the length zero. DuckDB leaves anything in their cells. */
function emptyNulls(cells: Int32Array, validity: Uint8Array, rows: number): void {
  for (let row = 0; row < rows; row++) {
    if (((validity[row >> 3]! >> (row & 7)) & 1) === 0) cells[4 * row] = 0
  }
}

/** Fills in the offsets, and counts the bytes of the texts with an address and of those without. */
function sumLengths(cells: Int32Array, offsets: Int32Array, rows: number): { long: number; inline: number } {
  let long = 0
  let inline = 0
  offsets[0] = 0
  for (let row = 0; row < rows; row++) {
    const bytes = cells[4 * row]! >>> 0
    if (bytes > INLINE_BYTES) long += bytes
    else inline += bytes
    offsets[row + 1] = long + inline
  }
  return { long, inline }
}

/** Puts all texts into the order of the rows. `gathered` holds the long ones, one after another. */
function merge(cells: Int32Array, gathered: Memory, offsets: Int32Array, data: Memory, rows: number): void {
  const from = gathered.view
  const to = data.view
  let read = 0
  for (let row = 0; row < rows; row++) {
    const cell = 4 * row
    const bytes = cells[cell]!
    const at = offsets[row]!
    // Whole words are stored. The last one may reach beyond the text, where the next text is stored afterwards.
    if (bytes <= INLINE_BYTES) {
      to.setInt32(at, cells[cell + 1]!, true)
      if (bytes > 4) {
        to.setInt32(at + 4, cells[cell + 2]!, true)
        to.setInt32(at + 8, cells[cell + 3]!, true)
      }
      continue
    }
    if (bytes < LONG_BYTES) {
      for (let offset = 0; offset < bytes; offset += 8) {
        to.setBigInt64(at + offset, from.getBigInt64(read + offset, true), true)
      }
    } else data.bytes.set(gathered.bytes.subarray(read, read + bytes), at)
    read += bytes
  }
}

/** The digits of each byte, as two ASCII codes. */
const DIGITS = Uint16Array.from({ length: 256 }, (_, byte) => {
  const digits = byte.toString(16).padStart(2, '0')
  return digits.charCodeAt(0) | (digits.charCodeAt(1) << 8)
})
const HYPHEN = 0x2d

/** Writes a uuid's 36 characters, and returns the position after them. The number's lowest byte comes first. */
function writeUuid(number: Uint8Array, start: number, target: Uint8Array, position: number): number {
  let at = position
  for (let byte = 15; byte >= 0; byte--) {
    const digits = DIGITS[byte === 15 ? number[start + 15]! ^ 0x80 : number[start + byte]!]!
    target[at++] = digits & 0xff
    target[at++] = digits >> 8
    if (byte === 12 || byte === 10 || byte === 8 || byte === 6) target[at++] = HYPHEN
  }
  return at
}

interface Column {
  readonly layout: Layout
  readonly stored: Stored
}

/** How DuckDB's vectors store the values of a type; a number is the bytes of a decimal that is narrower than ours. */
type Stored = 'as laid out' | 'byte' | 'text' | 'uuid' | 2 | 4 | 8

function storedAs(type: ColumnType): Stored {
  const { layout } = entryOf(type)
  if (layout === 'bit') return 'byte'
  if (layout === 'bytes') return type === 'uuid' ? 'uuid' : 'text'
  const { precision } = decimalParts(type) ?? { precision: 38 }
  if (precision > 18) return 'as laid out'
  return precision > 9 ? 8 : precision > 4 ? 4 : 2
}
