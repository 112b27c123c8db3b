import { type ColumnType, entryOf, type Layout } from '../../types/index.ts'
import { type Arena, type Batch, type Memory, type Vector, vectorOver, widthOf } from '../batch.ts'
import { ARROW, type DuckDb, words } from './ffi.ts'

/** Turns DuckDB's chunks into batches that JavaScript owns: converts to Arrow, copies that once, and frees both. */
export class NativeReader {
  readonly #duckdb: DuckDb
  readonly #layouts: readonly Layout[]
  readonly #arena: Arena
  readonly #array = words(10)
  readonly #child = words(10)
  readonly #buffers = words(3)
  readonly #children: BigUint64Array

  constructor(duckdb: DuckDb, types: readonly ColumnType[], arena: Arena) {
    this.#duckdb = duckdb
    this.#layouts = types.map((type) => entryOf(type).layout)
    this.#arena = arena
    this.#children = words(types.length)
  }

  /**
   * Reads a chunk and frees it, also when this throws. With a `reused` arena, the batch is valid until the next call.
   * @param options the arrow options of the chunk's connection, which must still be open
   */
  read(options: bigint, chunk: bigint): Batch {
    const array = this.#array
    array.fill(0n)
    try {
      this.#duckdb.toArrow(options, chunk, array)
    } finally {
      this.#duckdb.destroyChunk(chunk)
    }
    try {
      const rows = Number(array[ARROW.length])
      const columns = this.#layouts.length
      if (Number(array[ARROW.childCount]) !== columns) {
        throw new Error(`DuckDB gave ${array[ARROW.childCount]} Arrow columns where ${columns} are declared`)
      }
      this.#arena.begin()
      this.#duckdb.copy(this.#children, array[ARROW.children]!, columns * 8)
      return { rows, vectors: this.#layouts.map((layout, column) => this.#vector(layout, column, rows)) }
    } finally {
      this.#duckdb.release(array)
    }
  }

  #vector(layout: Layout, column: number, rows: number): Vector {
    const child = this.#child
    this.#duckdb.copy(child, this.#children[column]!, 80)
    const expected = layout === 'bytes' ? 3n : 2n
    if (child[ARROW.bufferCount] !== expected || child[ARROW.offset] !== 0n) {
      throw new Error(
        `Arrow column ${column} has ${child[ARROW.bufferCount]} buffers where ${layout} has ${expected}`,
      )
    }
    this.#duckdb.copy(this.#buffers, child[ARROW.buffers]!, Number(expected) * 8)
    const bits = (rows + 7) >> 3
    const [validity, first, second] = this.#buffers
    const nulls = child[ARROW.nullCount] !== 0n && validity ? this.#copy(validity, bits) : undefined
    if (layout !== 'bytes') {
      return vectorOver(this.#copy(first!, layout === 'bit' ? bits : rows * widthOf(layout)), nulls)
    }
    const offsets = this.#copy(first!, (rows + 1) * 4)
    return vectorOver(this.#copy(second!, offsets.words[rows]!), nulls, offsets)
  }

  #copy(from: bigint, bytes: number): Memory {
    const target = this.#arena.take(bytes)
    if (bytes > 0) this.#duckdb.copy(target.bytes, from, bytes)
    return target
  }
}
