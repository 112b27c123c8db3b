import { FIELD } from '../../parquet/footer.ts'
import { addOrdinals } from '../../parquet/ordinals.ts'
import { fileEnd, MAGIC } from '../../parquet/parquet-file.ts'
import { partStatistics } from '../../parquet/statistics.ts'
import {
  binary,
  i32,
  i64,
  listOfStructs,
  nested,
  type Struct,
  structWith,
  TYPE,
  writeStruct,
} from '../../parquet/thrift.ts'
import type { Column } from '../../types/index.ts'
import type { WrittenPart } from './part.ts'
import {
  boundBytes,
  elementOf,
  type PlainType,
  type PlainValue,
  pageBytes,
  plainType,
} from './plain-values.ts'

// Numbers of parquet.thrift's enums: encodings, the codec, and the type of a page.
const [PLAIN, RLE, UNCOMPRESSED, DATA_PAGE] = [0, 3, 0, 0]
const CREATED_BY = 'Parquetry'

/** The fields of a column by their rows, as texts; null where there is no value. */
export type Cells = readonly (string | null)[]

/**
 * A few rows as a Parquet file like those of `writePart`, with one page for each column, made without DuckDB.
 * @param cells of each column; they have been checked
 * @returns undefined if a text is one that DuckDB is to read
 */
export function plainPart(
  columns: readonly Pick<Column, 'type'>[],
  cells: readonly Cells[],
  rows: number,
): { readonly bytes: Buffer; readonly part: WrittenPart } | undefined {
  const pieces: Uint8Array[] = [MAGIC]
  let end = MAGIC.length
  const append = (bytes: Uint8Array) => {
    const at = end
    pieces.push(bytes)
    end += bytes.length
    return at
  }
  const elements: Struct[] = []
  const chunks: Struct[] = []
  const nulls: number[] = []
  for (const [index, { type }] of columns.entries()) {
    const name = `c${index}`
    const plain = plainType(type)
    const values = valuesOf(plain, cells[index]!)
    if (!values) return undefined
    const page = pageOf(cells[index]!, pageBytes(plain, values))
    elements.push(elementOf(plain, name, index + 1))
    nulls.push(rows - values.length)
    const statistics = structWith({ 3: i64(rows - values.length) })
    const bounds = type === 'binary' ? undefined : boundsOf(values)
    if (bounds) {
      statistics.set(FIELD.statistics.max, binary(boundBytes(plain, bounds.max)))
      statistics.set(FIELD.statistics.min, binary(boundBytes(plain, bounds.min)))
    }
    chunks.push(
      structWith({
        [FIELD.chunk.fileOffset]: i64(0),
        [FIELD.chunk.metadata]: nested({
          1: i32(plain.physical),
          2: { type: TYPE.list, value: { element: TYPE.i32, values: [PLAIN, RLE] } },
          3: { type: TYPE.list, value: { element: TYPE.binary, values: [Buffer.from(name)] } },
          4: i32(UNCOMPRESSED),
          5: i64(rows),
          6: i64(page.length),
          7: i64(page.length),
          9: i64(append(page)),
          12: { type: TYPE.struct, value: statistics },
        }),
      }),
    )
  }
  const footer = footerOf(elements, chunks, rows, end - MAGIC.length)
  addOrdinals({ footer, append })
  append(fileEnd(writeStruct(footer)))
  const part = { rows, bytes: end, nulls, statistics: partStatistics(footer, columns) }
  return { bytes: Buffer.concat(pieces), part }
}

/** The values that are not null. */
function valuesOf({ parse }: PlainType, cells: Cells): PlainValue[] | undefined {
  const values: PlainValue[] = []
  for (const cell of cells) {
    if (cell === null) continue
    const value = parse(cell)
    if (value === undefined) return undefined
    values.push(value)
  }
  return values
}

function boundsOf(values: readonly PlainValue[]): { min: PlainValue; max: PlainValue } | undefined {
  let [min, max] = [values[0], values[0]]
  for (const value of values) {
    if (isLess(value, min!)) min = value
    if (isLess(max!, value)) max = value
  }
  return min === undefined || max === undefined ? undefined : { min, max }
}

function isLess(a: PlainValue, b: PlainValue): boolean {
  return a instanceof Buffer && b instanceof Buffer ? a.compare(b) < 0 : a < b
}

/** A page of version 1: which rows have a value, then the values. */
function pageOf(cells: Cells, values: Buffer): Buffer {
  const levels: number[] = []
  for (let from = 0; from < cells.length; ) {
    const isNull = cells[from] === null
    let to = from + 1
    while (to < cells.length && (cells[to] === null) === isNull) to++
    // A run: its length, with a zero as its last bit, and its value.
    let rest = (to - from) * 2
    for (; rest >= 128; rest >>= 7) levels.push((rest & 127) | 128)
    levels.push(rest, isNull ? 0 : 1)
    from = to
  }
  const length = Buffer.alloc(4)
  length.writeUInt32LE(levels.length)
  const size = length.length + levels.length + values.length
  const header = structWith({
    1: i32(DATA_PAGE),
    2: i32(size),
    3: i32(size),
    5: nested({ 1: i32(cells.length), 2: i32(PLAIN), 3: i32(RLE), 4: i32(RLE) }),
  })
  return Buffer.concat([writeStruct(header), length, Buffer.from(levels), values])
}

function footerOf(elements: Struct[], chunks: Struct[], rows: number, bytes: number): Struct {
  const root = structWith({ 3: i32(0), 4: binary('duckdb_schema'), 5: i32(elements.length) })
  const group = structWith({
    1: listOfStructs(chunks),
    2: i64(bytes),
    3: i64(rows),
    5: i64(MAGIC.length),
    6: i64(bytes),
  })
  return structWith({
    1: i32(1),
    2: listOfStructs([root, ...elements]),
    3: i64(rows),
    4: listOfStructs([group]),
    6: binary(CREATED_BY),
    7: listOfStructs(elements.map(() => structWith({ 1: nested() }))),
  })
}
