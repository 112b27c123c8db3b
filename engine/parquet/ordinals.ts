import { chunksOf, elementsOf, FIELD, groupsOf, listOf, numberOf } from './footer.ts'
import type { ParquetFile } from './parquet-file.ts'
import { binary, i32, i64, nested, type Struct, structWith, TYPE, writeStruct } from './thrift.ts'

/** The last column of a part: the number of each row in it, from 0. */
export const ORDINAL = 'r'
/**
 * Its field id. It must differ from those of all columns that a table may ever have, and lie below those that Iceberg
 * reserves (from 2147483447 on).
 */
export const ORDINAL_FIELD_ID = 2_000_000_000

// Numbers of parquet.thrift's enums.
const INT64 = 2
const REQUIRED = 0
const UNCOMPRESSED = 0
const DATA_PAGE = 0
const RLE = 3
const DELTA_BINARY_PACKED = 5

/** Values of a block, and miniblocks in it, as DuckDB writes them. */
const BLOCK_VALUES = 2_048
const MINIBLOCKS = 8

/**
 * Adds the column `r` to a file: its pages have some hundred bytes for each row group. DuckDB can number rows, too, but
 * then writes the file with one thread.
 */
export function addOrdinals(file: Pick<ParquetFile, 'footer' | 'append'>): void {
  let first = 0
  for (const group of groupsOf(file.footer)) {
    const rows = numberOf(group, FIELD.group.rows)
    const page = ordinalPage(first, rows)
    chunksOf(group).push(chunkOf(first, rows, file.append(page), page.length))
    for (const id of [FIELD.group.bytes, FIELD.group.compressedBytes]) {
      if (group.has(id)) group.set(id, i64(numberOf(group, id) + page.length))
    }
    first += rows
  }
  addToSchema(file.footer)
}

function addToSchema(file: Struct): void {
  const elements = elementsOf(file)
  const [root] = elements
  const { children, name, fieldId } = FIELD.element
  root!.set(children, i32(numberOf(root!, children) + 1))
  elements.push(
    structWith({
      1: i32(INT64),
      3: i32(REQUIRED),
      [name]: binary(ORDINAL),
      [fieldId]: i32(ORDINAL_FIELD_ID),
    }),
  )
  // Every column has the same order, the one that its type defines.
  if (file.has(FIELD.file.columnOrders)) {
    const orders = listOf(file, FIELD.file.columnOrders)
    orders.values.push(structWith({ 1: nested() }))
  }
}

/** A page of version 1 with the numbers from `first` on. Without nulls, it holds nothing but the values. */
function ordinalPage(first: number, rows: number): Buffer {
  const values = countingUp(first, rows)
  const header = writeStruct(
    structWith({
      1: i32(DATA_PAGE),
      2: i32(values.length),
      3: i32(values.length),
      5: nested({ 1: i32(rows), 2: i32(DELTA_BINARY_PACKED), 3: i32(RLE), 4: i32(RLE) }),
    }),
  )
  return Buffer.concat([header, values])
}

/**
 * `rows` numbers from `first` on, as deltas (https://parquet.apache.org/docs/file-format/data-pages/encodings/, delta
 * encoding). All deltas are 1, the least one of their block, so they take no bits.
 */
function countingUp(first: number, rows: number): Buffer {
  const blocks = Math.ceil(Math.max(rows - 1, 0) / BLOCK_VALUES)
  const block = Buffer.concat([varint(2), Buffer.alloc(MINIBLOCKS)])
  return Buffer.concat([
    varint(BLOCK_VALUES),
    varint(MINIBLOCKS),
    varint(rows),
    varint(2 * first),
    ...Array.from({ length: blocks }, () => block),
  ])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return Buffer.from([...bytes, rest])
}

function chunkOf(first: number, rows: number, at: number, bytes: number): Struct {
  const { path, codec, uncompressedSize, compressedSize, dataOffset } = FIELD.meta
  const bound = (value: number) => {
    const eight = Buffer.alloc(8)
    eight.writeBigInt64LE(BigInt(value))
    return binary(eight)
  }
  return structWith({
    [FIELD.chunk.fileOffset]: i64(0),
    [FIELD.chunk.metadata]: nested({
      1: i32(INT64),
      2: { type: TYPE.list, value: { element: TYPE.i32, values: [RLE, DELTA_BINARY_PACKED] } },
      [path]: { type: TYPE.list, value: { element: TYPE.binary, values: [Buffer.from(ORDINAL)] } },
      [codec]: i32(UNCOMPRESSED),
      5: i64(rows),
      [uncompressedSize]: i64(bytes),
      [compressedSize]: i64(bytes),
      [dataOffset]: i64(at),
      12: nested({ 3: i64(0), 5: bound(first + rows - 1), 6: bound(first) }),
    }),
  })
}
