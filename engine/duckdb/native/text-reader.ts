import { EngineError } from '../../errors.ts'
import { Arena, isNull, type Memory, type Vector, vectorOver } from '../batch.ts'
import type { Address, DuckDb } from './ffi.ts'

/** The most bytes of a text that `duckdb_string_t` holds itself; of longer ones it holds the address. */
const INLINE_BYTES = 12
/** Bytes of a `duckdb_string_t`: the length, then the text filled up with zeros, or its first four bytes and its address. */
const CELL_BYTES = 16
/** From this length on, a loop over words takes longer than a call that copies. */
const LONG_BYTES = 128
/** Offsets into a column's texts have 32 bits. */
const MOST_BYTES = 2 ** 31 - 1

/** Reads vectors of texts, bytes and uuids. */
export class TextReader {
  readonly #duckdb: DuckDb
  readonly #arena: Arena
  readonly #scratch = new Arena('reused')

  constructor(duckdb: DuckDb, arena: Arena) {
    this.#duckdb = duckdb
    this.#arena = arena
  }

  /** @param from the address of `rows` structs `duckdb_string_t` */
  read(from: Address, validity: Memory | undefined, rows: number): Vector {
    this.#scratch.begin()
    const { words: cells } = this.#copied(from, CELL_BYTES * rows)
    if (validity) emptyNulls(cells, validity.bytes, rows)
    const offsets = this.#arena.take(4 * (rows + 1))
    const { long, inline } = sumLengths(cells, offsets.words, rows)
    if (long + inline > MOST_BYTES) {
      throw new EngineError(
        'not_representable',
        `${rows} rows have ${long + inline} bytes of text in one column; at most ${MOST_BYTES} can be read at once. ` +
          'Ask for fewer rows, or leave the column out.',
      )
    }
    const data = this.#arena.take(long + inline + INLINE_BYTES)
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
  readUuids(from: Address, validity: Memory | undefined, rows: number): Vector {
    this.#scratch.begin()
    const { bytes: numbers } = this.#copied(from, 16 * rows)
    const offsets = this.#arena.take(4 * (rows + 1))
    const data = this.#arena.take(36 * rows)
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
