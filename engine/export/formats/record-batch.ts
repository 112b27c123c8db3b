import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  Decimal,
  Field,
  Float64,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  TimeMicrosecond,
  TimestampMicrosecond,
  Utf8,
} from 'apache-arrow'
import { type Batch, layoutOf, type Vector } from '../../duckdb/batch.ts'
import { type Column, type ColumnType, decimalParts } from '../../types/index.ts'

type NamedColumn = Pick<Column, 'name' | 'type'>

/** The Arrow schema of a result. `uuid` and `json` are Utf8, as Arrow has no type of its own for them. */
export function arrowSchema(columns: readonly NamedColumn[]): Schema {
  return new Schema(columns.map(({ name, type }) => new Field(name, arrowType(type), true)))
}

function arrowType(type: ColumnType): DataType {
  switch (type) {
    case 'boolean':
      return new Bool()
    case 'integer':
      return new Int64()
    case 'double':
      return new Float64()
    case 'string':
    case 'json':
    case 'uuid':
      return new Utf8()
    case 'binary':
      return new Binary()
    case 'date':
      return new DateDay()
    case 'time':
      return new TimeMicrosecond()
    case 'timestamp':
      return new TimestampMicrosecond()
    case 'timestamptz':
      return new TimestampMicrosecond('UTC')
    default: {
      const { precision, scale } = decimalParts(type)!
      return new Decimal(scale, precision, 128)
    }
  }
}

/** A batch as apache-arrow knows it, over the same memory. */
export function recordBatch(schema: Schema, columns: readonly NamedColumn[], batch: Batch): RecordBatch {
  const children = batch.vectors.map((vector, column) => {
    const { type } = columns[column]!
    const { data, valueOffsets } = arrowBuffers(type, vector, batch.rows)
    return makeData({
      type: schema.fields[column]!.type,
      length: batch.rows,
      nullCount: vector.validity ? -1 : 0,
      nullBitmap: vector.validity?.subarray(0, (batch.rows + 7) >> 3),
      data,
      valueOffsets,
    } as Parameters<typeof makeData>[0])
  })
  return new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length: batch.rows, nullCount: 0, children }),
  )
}

function arrowBuffers(type: ColumnType, vector: Vector, rows: number) {
  const { bytes, words, doubles, offsets } = vector
  switch (layoutOf(type)) {
    case 'bit':
      return { data: bytes.subarray(0, (rows + 7) >> 3) }
    case 'int64':
      return { data: new BigInt64Array(words.buffer as ArrayBuffer, words.byteOffset, rows) }
    case 'bytes':
      return { data: bytes.subarray(0, offsets[rows]), valueOffsets: offsets.subarray(0, rows + 1) }
    case 'double':
      return { data: doubles.subarray(0, rows) }
    case 'int32':
      return { data: words.subarray(0, rows) }
    case 'int128':
      return { data: new Uint32Array(words.buffer, words.byteOffset, 4 * rows) }
  }
}
