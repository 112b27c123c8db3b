import type { DuckDBDataChunk, DuckDBValue } from '@duckdb/node-api'
import {
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTimeValue,
} from '@duckdb/node-api'
import { type ColumnType, entryOf, type Layout } from '../../types/index.ts'
import { Arena, type Batch, type Memory, type Vector, vectorOver, widthOf } from '../batch.ts'

/**
 * The first `rows` rows of a chunk of DuckDB's Node package as a batch: the same memory layout that Arrow arrays have,
 * filled value by value.
 */
export function readChunk(chunk: DuckDBDataChunk, types: readonly ColumnType[], rows: number): Batch {
  const arena = new Arena('kept')
  arena.begin()
  return {
    rows,
    vectors: types.map((type, column) => readColumn(chunk, column, entryOf(type).layout, rows, arena)),
  }
}

function readColumn(
  chunk: DuckDBDataChunk,
  column: number,
  layout: Layout,
  rows: number,
  arena: Arena,
): Vector {
  const values = chunk.getColumnValues(column).slice(0, rows)
  const bits = (rows + 7) >> 3
  let validity: Memory | undefined
  if (values.includes(null)) {
    validity = arena.take(bits)
    for (let row = 0; row < rows; row++) if (values[row] !== null) validity.bytes[row >> 3]! |= 1 << (row & 7)
  }
  if (layout === 'bytes') return readTexts(values, validity, arena)
  // The arena gives new memory each time, so nulls may be left out: it is all zeros.
  const data = arena.take(layout === 'bit' ? bits : rows * widthOf(layout))
  const { view } = data
  for (let row = 0; row < rows; row++) {
    const value = values[row]!
    if (value === null) continue
    switch (layout) {
      case 'bit':
        if (value === true) data.bytes[row >> 3]! |= 1 << (row & 7)
        break
      case 'int32':
        if (value instanceof DuckDBDateValue) view.setInt32(4 * row, value.days, true)
        break
      case 'double':
        view.setFloat64(8 * row, Number(value), true)
        break
      case 'int64':
        view.setBigInt64(8 * row, int64(value), true)
        break
      case 'int128':
        if (value instanceof DuckDBDecimalValue) {
          view.setBigInt64(16 * row, BigInt.asIntN(64, value.value), true)
          view.setBigInt64(16 * row + 8, value.value >> 64n, true)
        }
        break
      default:
        layout satisfies never
    }
  }
  return vectorOver(data, validity)
}

function int64(value: DuckDBValue): bigint {
  if (typeof value === 'bigint') return value
  if (
    value instanceof DuckDBTimestampValue ||
    value instanceof DuckDBTimestampTZValue ||
    value instanceof DuckDBTimeValue
  ) {
    return value.micros
  }
  throw new TypeError(`${value} is no 64-bit value`)
}

function readTexts(values: readonly DuckDBValue[], validity: Memory | undefined, arena: Arena): Vector {
  const texts = values.map((value) =>
    value === null
      ? Buffer.alloc(0)
      : value instanceof DuckDBBlobValue
        ? value.bytes
        : Buffer.from(String(value)),
  )
  const offsets = arena.take(4 * (texts.length + 1))
  const ends = offsets.words
  for (const [row, text] of texts.entries()) ends[row + 1] = ends[row]! + text.length
  const data = arena.take(ends[texts.length]!)
  for (const [row, text] of texts.entries()) data.bytes.set(text, ends[row])
  return vectorOver(data, validity, offsets)
}
