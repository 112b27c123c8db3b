import { chunkRange, FIELD, listOf, numberOf, type ShownColumn, set, shown, structOf } from './footer.ts'
import { readStruct, type Struct, TYPE, writeStruct } from './thrift.ts'

/** A column of the joined file: its name and type for readers, and its position among the columns of the files. */
export interface JoinedColumn extends ShownColumn {
  readonly stored: number
}

/** Bytes `from` (inclusive) to `to` (exclusive) of the file at position `file` of the list. */
export interface Copied {
  readonly file: number
  readonly from: number
  readonly to: number
}

/** A Parquet file made of others: the magic number, the copied bytes, this footer, its length, the magic number. */
export interface Joined {
  readonly copied: readonly Copied[]
  readonly footer: Uint8Array
  readonly rows: number
}

/** The magic number at both ends of a file. */
export const MAGIC = Buffer.from('PAR1')
/** The codecs that every engine reads (parquet.thrift, CompressionCodec): none, snappy, gzip, zstd. */
const COMMON_CODECS: ReadonlySet<number> = new Set([0, 1, 2, 6])

/**
 * Plans one Parquet file with columns of several, in the order of the files. Their pages are to be copied as they are;
 * only the offsets in the footer change. Bloom filters and page indexes are left out.
 * @param footers `FileMetaData` of each file, without the length and the magic number after it
 * @returns undefined if the files' columns differ, or are compressed in a way that not every engine can read
 * @throws RangeError if one is not the footer of a flat table with these columns
 */
export function joinFiles(
  footers: readonly Uint8Array[],
  columns: readonly JoinedColumn[],
): Joined | undefined {
  const copied: Copied[] = []
  const groups: Struct[] = []
  let first: Struct | undefined
  let form: string | undefined
  let rows = 0
  let at = MAGIC.length
  for (const [number, footer] of footers.entries()) {
    const file = readStruct(footer)
    const elements = chosenElements(file, columns)
    const ownForm = formOf(elements)
    form ??= ownForm
    if (form !== ownForm) return undefined
    first ??= file
    rows += numberOf(file, FIELD.file.rows)
    for (const group of listOf(file, FIELD.file.rowGroups).values as Struct[]) {
      const chunks = listOf(group, FIELD.group.columns)
      const chosen = columns.map(({ stored }) => present(chunks.values[stored]) as Struct)
      const start = at
      for (const chunk of chosen) {
        const meta = structOf(chunk, FIELD.chunk.metadata)
        if (!COMMON_CODECS.has(numberOf(meta, FIELD.meta.codec))) return undefined
        const { from, to } = chunkRange(chunk)
        move(chunk, meta, at - from)
        at += to - from
        const last = copied.at(-1)
        if (last?.file === number && last.to === from) copied[copied.length - 1] = { ...last, to }
        else copied.push({ file: number, from, to })
      }
      chunks.values = chosen
      resize(group, chosen, start)
      groups.push(group)
    }
  }
  if (!first) return undefined
  choose(first, columns)
  set(first, FIELD.file.rows, TYPE.i64, rows)
  listOf(first, FIELD.file.rowGroups).values = groups
  return { copied, footer: writeStruct(shown(first, columns)), rows }
}

function chosenElements(file: Struct, columns: readonly JoinedColumn[]): Struct[] {
  const [, ...elements] = listOf(file, FIELD.file.schema).values as Struct[]
  return columns.map(({ stored }) => present(elements[stored]))
}

/** A text for the types and properties of columns, without their names: the same text means they can be joined. */
function formOf(elements: readonly Struct[]): string {
  return elements
    .map((element) => {
      const { name, fieldId } = FIELD.element
      const rest = new Map([...element].filter(([id]) => id !== name && id !== fieldId))
      return Buffer.from(writeStruct(rest)).toString('base64')
    })
    .join()
}

/** Removes all but the chosen columns from a file's metadata. */
function choose(file: Struct, columns: readonly JoinedColumn[]): void {
  const schema = listOf(file, FIELD.file.schema)
  schema.values = [schema.values[0]!, ...chosenElements(file, columns)]
  if (!file.has(FIELD.file.columnOrders)) return
  const orders = listOf(file, FIELD.file.columnOrders)
  orders.values = columns.map(({ stored }) => present(orders.values[stored]))
}

/** Moves a column chunk's offsets to its new place. */
function move(chunk: Struct, meta: Struct, distance: number): void {
  const { dataOffset, indexOffset, dictionaryOffset, bloomOffset, bloomLength } = FIELD.meta
  for (const id of [dataOffset, indexOffset, dictionaryOffset]) {
    if (meta.has(id)) set(meta, id, TYPE.i64, numberOf(meta, id) + distance)
  }
  meta.delete(bloomOffset)
  meta.delete(bloomLength)
  // The field is required; it is 0 if the file has no copy of the metadata next to the chunk.
  set(chunk, FIELD.chunk.fileOffset, TYPE.i64, 0)
  for (const id of FIELD.chunk.indexes) chunk.delete(id)
}

/** Sets how large a row group is, and where it begins. */
function resize(group: Struct, chunks: readonly Struct[], start: number): void {
  const { bytes, compressedBytes, offset, ordinal } = FIELD.group
  const total = (id: number) =>
    chunks.reduce((sum, chunk) => sum + numberOf(structOf(chunk, FIELD.chunk.metadata), id), 0)
  set(group, bytes, TYPE.i64, total(FIELD.meta.uncompressedSize))
  if (group.has(compressedBytes)) set(group, compressedBytes, TYPE.i64, total(FIELD.meta.compressedSize))
  if (group.has(offset)) set(group, offset, TYPE.i64, start)
  group.delete(ordinal)
}

function present<Value>(value: Value | undefined): Struct {
  if (value !== undefined) return value as Struct
  throw new RangeError('Parquet footer: it has fewer columns')
}
