import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  Decimal,
  Field,
  FixedSizeBinary,
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
import { type Batch, clearNulls, type Vector } from '../../duckdb/batch.ts'
import { type ArrowName, type Column, type ColumnType, decimalParts, entryOf } from '../../types/index.ts'
import { UUID_BYTES } from './messages.ts'

type NamedColumn = Pick<Column, 'name' | 'type'>

/** The Arrow schema of a result in memory: `uuid` and `json` are Utf8, which every program shows. */
export function arrowSchema(columns: readonly NamedColumn[]): Schema {
  return new Schema(columns.map((column) => new Field(column.name, plainType(column), true)))
}

/** The schema of a stream, in which uuid and json are extension types (Arrow, "Canonical Extension Types"). */
export function streamSchema(
  columns: readonly NamedColumn[],
  metadata?: ReadonlyMap<string, string>,
): Schema {
  return new Schema(
    columns.map((column) => {
      const { name, type } = column
      if (type !== 'uuid' && type !== 'json') return new Field(name, plainType(column), true)
      const storage = type === 'uuid' ? new FixedSizeBinary(UUID_BYTES) : plainType(column)
      return new Field(name, storage, true, extension(`arrow.${type}`))
    }),
    metadata && new Map(metadata),
  )
}

function plainType({ type }: NamedColumn): DataType {
  return ARROW_TYPES[entryOf(type).arrow](type)
}

function extension(name: string): Map<string, string> {
  return new Map([
    ['ARROW:extension:name', name],
    ['ARROW:extension:metadata', ''],
  ])
}

const ARROW_TYPES = {
  bool: () => new Bool(),
  int64: () => new Int64(),
  float64: () => new Float64(),
  decimal128: (type) => {
    const { precision, scale } = decimalParts(type)!
    return new Decimal(scale, precision, 128)
  },
  utf8: () => new Utf8(),
  binary: () => new Binary(),
  date32: () => new DateDay(),
  'time64[us]': () => new TimeMicrosecond(),
  'timestamp[us]': () => new TimestampMicrosecond(),
  'timestamp[us, UTC]': () => new TimestampMicrosecond('UTC'),
} satisfies Record<ArrowName, (type: ColumnType) => DataType>

/** A batch as apache-arrow's `RecordBatch`, over the same memory. */
export function recordBatch(schema: Schema, columns: readonly NamedColumn[], batch: Batch): RecordBatch {
  const children = batch.vectors.map((vector, column) => {
    const { type } = columns[column]!
    clearNulls(vector, entryOf(type).layout, batch.rows)
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
  switch (entryOf(type).layout) {
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
