import type { ColumnType } from '../types/index.ts'
import {
  binary,
  type Field,
  i32,
  type List,
  listOfStructs,
  nested,
  readStruct,
  type Struct,
  structWith,
  TYPE,
  writeStruct,
} from './thrift.ts'

/** A column as the readers of a file shall see it. */
export interface ShownColumn {
  readonly name: string
  /** Undefined leaves the type as it is in the file. */
  readonly type?: ColumnType | undefined
}

/** A row group of a file: its rows, and where its bytes lie. */
export interface RowGroup {
  readonly rows: number
  readonly from: number
  readonly to: number
}

// Field ids of parquet.thrift (https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift).
export const FIELD = {
  file: { schema: 2, rows: 3, rowGroups: 4, pairs: 5, columnOrders: 7, encryption: 8 },
  pair: { key: 1, value: 2 },
  element: {
    type: 1,
    typeLength: 2,
    repetition: 3,
    name: 4,
    children: 5,
    convertedType: 6,
    precision: 8,
    fieldId: 9,
    logicalType: 10,
  },
  group: { columns: 1, bytes: 2, rows: 3, sortingColumns: 4, offset: 5, compressedBytes: 6, ordinal: 7 },
  chunk: {
    filePath: 1,
    fileOffset: 2,
    metadata: 3,
    /** Offset index and column index, each with its length. */
    indexes: [4, 5, 6, 7],
    crypto: 8,
  },
  meta: {
    type: 1,
    encodings: 2,
    path: 3,
    codec: 4,
    values: 5,
    uncompressedSize: 6,
    compressedSize: 7,
    dataOffset: 9,
    indexOffset: 10,
    dictionaryOffset: 11,
    statistics: 12,
    bloomOffset: 14,
    bloomLength: 15,
  },
  statistics: { nulls: 3, max: 5, min: 6 },
} as const
const { file: FILE, element: ELEMENT, group: GROUP, chunk: CHUNK, meta: META, pair: PAIR } = FIELD

const CONVERTED_JSON = 19
/** The member of the union LogicalType that stands for JSON. */
const LOGICAL_JSON = 12

/**
 * The footer of a part as users shall see it: the first columns under the users' names, with JSON marked as such, and
 * without the other columns. The rows stay as they are, because offsets in the footer count from the beginning of the
 * file and so remain valid when only the footer changes.
 * @param footer `FileMetaData`, without the length and the magic number after it
 * @throws RangeError if it is not the footer of a flat table with at least these columns
 */
export function shownFooter(
  footer: Uint8Array,
  columns: readonly ShownColumn[],
  metadata?: Pairs,
): Uint8Array {
  const file = readStruct(footer)
  const places = [...columns.keys()]
  for (const group of groupsOf(file)) showGroup(group, columns, places)
  return writeStruct(showSchema(file, columns, places, metadata))
}

/** Shows columns in what a file's metadata says of all row groups. @param places of the columns in the file */
export function showSchema(
  file: Struct,
  columns: readonly ShownColumn[],
  places: readonly number[],
  metadata?: Pairs,
): Struct {
  if (metadata) {
    const pairs = [...metadata].map(([key, value]) =>
      structWith({ [PAIR.key]: binary(key), [PAIR.value]: binary(value) }),
    )
    file.set(FILE.pairs, listOfStructs(pairs))
  }
  const schema = listOf(file, FILE.schema)
  const [root, ...elements] = schema.values as Struct[]
  root!.set(ELEMENT.children, i32(columns.length))
  const chosen = pick(elements, places)
  for (const [index, element] of chosen.entries()) {
    if (element.has(ELEMENT.children)) throw new RangeError('Parquet footer: a column is nested')
    const { name, type } = columns[index]!
    element.set(ELEMENT.name, binary(name))
    if (type === 'json') {
      element.set(ELEMENT.convertedType, i32(CONVERTED_JSON))
      element.set(ELEMENT.logicalType, nested({ [LOGICAL_JSON]: nested() }))
    }
  }
  schema.values = [root!, ...chosen]
  if (file.has(FILE.columnOrders)) {
    const orders = listOf(file, FILE.columnOrders)
    orders.values = pick(orders.values as Struct[], places)
  }
  return file
}

/** Shows columns in a row group. @returns their chunks */
export function showGroup(
  group: Struct,
  columns: readonly ShownColumn[],
  places: readonly number[],
): Struct[] {
  const chunks = pick(chunksOf(group), places)
  listOf(group, GROUP.columns).values = chunks
  for (const [index, meta] of metasOf(group).entries()) {
    listOf(meta, META.path).values = [Buffer.from(columns[index]!.name)]
    if (columns[index]!.type === 'binary') dropFilter(meta)
  }
  group.delete(GROUP.sortingColumns)
  return chunks
}

/**
 * Makes readers of a column chunk do without its Bloom filter. DuckDB 1.5 looks for the text of a binary value in it, not
 * for the value (duckdb#24994), so it would leave out row groups that have the value.
 */
export function dropFilter(meta: Struct): void {
  meta.delete(META.bloomOffset)
  meta.delete(META.bloomLength)
}

/** What stands at these places. @throws RangeError if there is nothing */
export function pick(all: readonly Struct[], places: readonly number[]): Struct[] {
  return places.map((index) => {
    const found = all[index]
    if (found) return found
    throw new RangeError('Parquet footer: it has fewer columns')
  })
}

/** A file's metadata: texts by their keys. */
export type Pairs = ReadonlyMap<string, string>

export function pairsOf(file: Struct): Pairs {
  if (!file.has(FILE.pairs)) return new Map()
  const pairs = listOf(file, FILE.pairs).values as Struct[]
  const textOf = (pair: Struct, id: number) =>
    Buffer.from((pair.get(id)?.value as Uint8Array) ?? []).toString()
  return new Map(pairs.map((pair) => [textOf(pair, PAIR.key), textOf(pair, PAIR.value)]))
}

/**
 * The version of Parquet, as DuckDB's COPY names it. The second has encodings, such as BYTE_STREAM_SPLIT, that older
 * readers don't know.
 */
export function parquetVersion(encoding: 'plain' | 'compact'): 'V1' | 'V2' {
  return encoding === 'plain' ? 'V1' : 'V2'
}

/** The row groups of a file, in their order. */
export function rowGroups(footer: Uint8Array): RowGroup[] {
  return groupsOf(readStruct(footer)).map((group) => {
    const chunks = chunksOf(group).map(chunkRange)
    return {
      rows: numberOf(group, GROUP.rows),
      from: Math.min(...chunks.map((chunk) => chunk.from)),
      to: Math.max(...chunks.map((chunk) => chunk.to)),
    }
  })
}

/** Whether a column chunk of the file has a dictionary. */
export function hasDictionaries(footer: Uint8Array): boolean {
  return groupsOf(readStruct(footer)).some((group) =>
    metasOf(group).some((meta) => meta.has(META.dictionaryOffset)),
  )
}

/** The rows of a file, and the bytes of its pages, unpacked and packed. */
export function contentOf(file: Struct): { rows: number; rawBytes: number; bytes: number } {
  const groups = groupsOf(file)
  const metas = groups.flatMap(metasOf)
  const sum = (structs: readonly Struct[], id: number) =>
    structs.reduce((total, one) => total + numberOf(one, id), 0)
  return {
    rows: sum(groups, GROUP.rows),
    rawBytes: sum(metas, META.uncompressedSize),
    bytes: sum(metas, META.compressedSize),
  }
}

/** The range of bytes in which a column chunk's pages are; its dictionary comes first. */
export function chunkRange(chunk: Struct): { readonly from: number; readonly to: number } {
  const meta = structOf(chunk, CHUNK.metadata)
  const data = numberOf(meta, META.dataOffset)
  const from = meta.has(META.dictionaryOffset) ? Math.min(data, numberOf(meta, META.dictionaryOffset)) : data
  return { from, to: from + numberOf(meta, META.compressedSize) }
}

/** The elements of a file's schema: its root, then columns and what is nested in them. */
export function elementsOf(file: Struct): Struct[] {
  return listOf(file, FILE.schema).values as Struct[]
}

export function groupsOf(file: Struct): Struct[] {
  return listOf(file, FILE.rowGroups).values as Struct[]
}

/** The column chunks of a row group. */
export function chunksOf(group: Struct): Struct[] {
  return listOf(group, GROUP.columns).values as Struct[]
}

/** `ColumnMetaData` of each column chunk of a row group. */
export function metasOf(group: Struct): Struct[] {
  return chunksOf(group).map((chunk) => structOf(chunk, CHUNK.metadata))
}

function field(struct: Struct, id: number): Field {
  const found = struct.get(id)
  if (found) return found
  throw new RangeError(`Parquet footer: field ${id} is missing`)
}

export function listOf(struct: Struct, id: number): List {
  const { type, value } = field(struct, id)
  if (type === TYPE.list) return value as List
  throw new RangeError(`Parquet footer: field ${id} is no list`)
}

export function structOf(struct: Struct, id: number): Struct {
  const { type, value } = field(struct, id)
  if (type === TYPE.struct) return value as Struct
  throw new RangeError(`Parquet footer: field ${id} is no struct`)
}

export function numberOf(struct: Struct, id: number): number {
  const { value } = field(struct, id)
  if (typeof value === 'number') return value
  throw new RangeError(`Parquet footer: field ${id} is no number`)
}
