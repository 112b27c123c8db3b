import { type ColumnType, decimalParts, entryOf, type Layout, typeName } from '../../types/index.ts'
import { Arena, type Batch, type Memory, type Vector, vectorOver, widthOf } from '../batch.ts'
import type { Address, DuckDb } from './ffi.ts'
import { TextReader } from './text-reader.ts'

/** Turns DuckDB's chunks into batches that JavaScript owns: copies their vectors into Arrow's layout and frees them. */
export class NativeReader {
  readonly #duckdb: DuckDb
  readonly #arena: Arena
  readonly #columns: readonly Column[]
  readonly #texts: TextReader
  readonly #scratch = new Arena('reused')

  /** @param types of the columns, as `checkTypes` has found them in the result */
  constructor(duckdb: DuckDb, types: readonly ColumnType[], arena: Arena) {
    this.#duckdb = duckdb
    this.#arena = arena
    this.#columns = types.map(columnOf)
    this.#texts = new TextReader(duckdb, arena)
  }

  /** Reads a chunk and frees it, also when this throws. With a `reused` arena, the batch is valid until the next call. */
  read(chunk: bigint): Batch {
    try {
      const rows = this.#duckdb.chunkRows(chunk)
      this.#arena.begin()
      const vectors = this.#columns.map((column, index) =>
        this.#vector(column, this.#duckdb.vector(chunk, index), rows),
      )
      return { rows, vectors }
    } finally {
      this.#duckdb.destroyChunk(chunk)
    }
  }

  #vector({ layout, stored }: Column, vector: Address, rows: number): Vector {
    const validity = this.#validity(vector, rows)
    const from = this.#duckdb.vectorData(vector)
    switch (stored) {
      case 'as laid out': {
        const bytes = rows * widthOf(layout)
        const data = this.#arena.take(bytes)
        this.#duckdb.copy(data.bytes, from, bytes)
        return vectorOver(data, validity)
      }
      case 'byte':
        return vectorOver(this.#bits(from, rows), validity)
      case 'text':
        return this.#texts.read(from, validity, rows)
      case 'uuid':
        return this.#texts.readUuids(from, validity, rows)
      default:
        return vectorOver(this.#widened(from, stored, rows), validity)
    }
  }

  /** A bit for each row; undefined where no row is null, also if DuckDB has bits. */
  #validity(vector: Address, rows: number): Memory | undefined {
    const from = this.#duckdb.validity(vector)
    if (!from) return undefined
    const length = (rows + 7) >> 3
    const memory = this.#arena.take(length)
    const { bytes } = memory
    this.#duckdb.copy(bytes, from, length)
    if ((rows & 7) > 0) bytes[length - 1]! |= 0xff << (rows & 7)
    for (let at = 0; at < length; at++) if (bytes[at] !== 0xff) return memory
    return undefined
  }

  /** Booleans, of which DuckDB stores each in a byte. The byte of a null may hold any number. */
  #bits(from: Address, rows: number): Memory {
    this.#scratch.begin()
    const { bytes: flags } = this.#scratch.take(rows)
    this.#duckdb.copy(flags, from, rows)
    flags.fill(0, rows, rows + 7)
    const length = (rows + 7) >> 3
    const memory = this.#arena.take(length)
    for (let at = 0; at < length; at++) {
      let byte = 0
      for (let bit = 0; bit < 8; bit++) if (flags[8 * at + bit] !== 0) byte |= 1 << bit
      memory.bytes[at] = byte
    }
    return memory
  }

  /** Decimals, which DuckDB stores in 2, 4 or 8 bytes if they fit, as 128-bit numbers. */
  #widened(from: Address, width: 2 | 4 | 8, rows: number): Memory {
    const memory = this.#arena.take(16 * rows)
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
}

interface Column {
  readonly layout: Layout
  readonly stored: Stored
}

/** How DuckDB's vectors store the values of a type; a number is the bytes of a decimal that is narrower than ours. */
type Stored = 'as laid out' | 'byte' | 'text' | 'uuid' | 2 | 4 | 8

function columnOf(type: ColumnType): Column {
  const { layout } = entryOf(type)
  return { layout, stored: storedAs(type, layout) }
}

function storedAs(type: ColumnType, layout: Layout): Stored {
  if (layout === 'bit') return 'byte'
  if (layout === 'bytes') return typeName(type) === 'uuid' ? 'uuid' : 'text'
  const { precision } = decimalParts(type) ?? { precision: 38 }
  if (precision > 18) return 'as laid out'
  return precision > 9 ? 8 : precision > 4 ? 4 : 2
}
