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
import { Arena, type Batch } from '../batch.ts'
import { type LaidValue, vectorOf } from '../values.ts'

/**
 * The first `rows` rows of a chunk of DuckDB's Node package as a batch: the same memory layout that Arrow arrays have,
 * filled value by value.
 */
export function readChunk(chunk: DuckDBDataChunk, types: readonly ColumnType[], rows: number): Batch {
  const arena = new Arena('kept')
  arena.begin()
  const vectors = types.map((type, column) => {
    const { layout } = entryOf(type)
    const values = chunk.getColumnValues(column).slice(0, rows)
    return vectorOf(
      values.map((value) => (value === null ? null : laid(value, layout))),
      layout,
      arena,
    )
  })
  return { rows, vectors }
}

function laid(value: Exclude<DuckDBValue, null>, layout: Layout): LaidValue {
  switch (layout) {
    case 'bit':
      return value === true
    case 'double':
      return Number(value)
    case 'int32':
      if (value instanceof DuckDBDateValue) return value.days
      break
    case 'int64':
      if (typeof value === 'bigint') return value
      if (
        value instanceof DuckDBTimestampValue ||
        value instanceof DuckDBTimestampTZValue ||
        value instanceof DuckDBTimeValue
      ) {
        return value.micros
      }
      break
    case 'int128':
      if (value instanceof DuckDBDecimalValue) return value.value
      break
    case 'bytes':
      return value instanceof DuckDBBlobValue ? value.bytes : Buffer.from(String(value))
    default:
      layout satisfies never
  }
  throw new TypeError(`${value} is no value of layout ${layout}`)
}
