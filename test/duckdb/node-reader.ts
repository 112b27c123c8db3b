import {
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBInstance,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTimeValue,
  type DuckDBValue,
} from '@duckdb/node-api'
import { Arena, type Batch, type LaidValue, vectorOf } from '../../engine/duckdb/batch.ts'
import { entryOf, type Layout, type Statement } from '../../engine/types/index.ts'

const instance = await DuckDBInstance.create(':memory:')
const connection = await instance.connect()
await connection.run("SET TimeZone = 'UTC'")

/** The rows of a statement, read value by value by DuckDB's own Node package. */
export async function readByNodePackage({ sql, columns }: Statement): Promise<Batch> {
  const rows = (await connection.runAndReadAll(sql)).getRows()
  const arena = new Arena('kept')
  arena.begin()
  const vectors = columns.map(({ type }, column) => {
    const { layout } = entryOf(type)
    const values = rows.map((row) => row[column] as DuckDBValue)
    return vectorOf(
      values.map((value) => (value === null ? null : laid(value, layout))),
      layout,
      arena,
    )
  })
  return { rows: rows.length, vectors }
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
