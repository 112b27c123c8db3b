import {
  chunkRange,
  elementsOf,
  FIELD,
  groupsOf,
  listOf,
  numberOf,
  type Pairs,
  pick,
  type ShownColumn,
  showGroup,
  showSchema,
  structOf,
} from './footer.ts'
import { MAGIC } from './parquet-file.ts'
import { i64, readStruct, type Struct, writeStruct } from './thrift.ts'

/** A column of the joined file: its name and type for readers, and its position among the columns of the files. */
export interface JoinedColumn extends ShownColumn {
  readonly stored: number
}

/** A file to be joined with others, or some of its row groups: `from` (inclusive) to `to` (exclusive). */
export interface JoinedFile {
  /** `FileMetaData`, without the length and the magic number after it. */
  readonly footer: Uint8Array
  readonly groups?: { readonly from: number; readonly to: number } | undefined
  /** Whether the file has the columns of the joined file and no others. */
  readonly same?: boolean
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

/** The codecs that every engine reads (parquet.thrift, CompressionCodec): none, snappy, gzip, zstd. */
const COMMON_CODECS: ReadonlySet<number> = new Set([0, 1, 2, 6])

/**
 * Plans one Parquet file with columns of several, in the order of the files. Their pages are to be copied as they are,
 * and behind them their Bloom filters; only the offsets in the footer change. Page indexes are left out.
 * @returns undefined if the files' columns differ, or are compressed in a way that not every engine can read
 * @throws RangeError if one is not the footer of a flat table with these columns
 */
export function joinFiles(
  files: readonly JoinedFile[],
  columns: readonly JoinedColumn[],
  metadata?: Pairs,
): Joined | undefined {
  const copying = new Copying()
  const groups: Struct[] = []
  // The filters of a column lie behind each other, because a question asks for those of one column.
  const filtered = columns.map((): { readonly number: number; readonly meta: Struct }[] => [])
  let first: Struct | undefined
  let form: string | undefined
  let rows = 0
  for (const [number, { footer, groups: range, same }] of files.entries()) {
    const file = readStruct(footer)
    const places = columns.map(({ stored }, index) => (same ? index : stored))
    const ownForm = formOf(pick(elementsOf(file).slice(1), places))
    form ??= ownForm
    if (form !== ownForm) return undefined
    const all = groupsOf(file)
    first ??= showSchema(file, columns, places, metadata)
    for (const group of all.slice(range?.from, range?.to)) {
      const start = copying.at
      const chunks = showGroup(group, columns, places)
      for (const [index, chunk] of chunks.entries()) {
        const meta = structOf(chunk, FIELD.chunk.metadata)
        if (!COMMON_CODECS.has(numberOf(meta, FIELD.meta.codec))) return undefined
        const { from, to } = chunkRange(chunk)
        move(chunk, meta, copying.copy(number, from, to) - from)
        if (meta.has(FIELD.meta.bloomOffset)) filtered[index]!.push({ number, meta })
      }
      resize(group, chunks, start)
      rows += numberOf(group, FIELD.group.rows)
      groups.push(group)
    }
  }
  if (!first) return undefined
  for (const { number, meta } of filtered.flat()) moveFilter(number, meta, copying)
  first.set(FIELD.file.rows, i64(rows))
  listOf(first, FIELD.file.rowGroups).values = groups
  return { copied: copying.ranges, footer: writeStruct(first), rows }
}

/** The bytes that are copied, in the order of the new file. */
class Copying {
  readonly ranges: Copied[] = []
  /** The place in the new file of what is copied next. */
  at = MAGIC.length

  /** @returns the place of the bytes in the new file */
  copy(file: number, from: number, to: number): number {
    const { at } = this
    this.at += to - from
    const last = this.ranges.at(-1)
    if (last?.file === file && last.to === from) this.ranges[this.ranges.length - 1] = { ...last, to }
    else this.ranges.push({ file, from, to })
    return at
  }
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

/** Moves a column chunk's offsets to its new place. */
function move(chunk: Struct, meta: Struct, distance: number): void {
  const { dataOffset, indexOffset, dictionaryOffset } = FIELD.meta
  for (const id of [dataOffset, indexOffset, dictionaryOffset]) {
    if (meta.has(id)) meta.set(id, i64(numberOf(meta, id) + distance))
  }
  // The field is required; it is 0 if the file has no copy of the metadata next to the chunk.
  chunk.set(FIELD.chunk.fileOffset, i64(0))
  for (const id of FIELD.chunk.indexes) chunk.delete(id)
}

/** Copies a column chunk's Bloom filter, unless its length isn't known. */
function moveFilter(file: number, meta: Struct, copying: Copying): void {
  const { bloomOffset, bloomLength } = FIELD.meta
  if (!meta.has(bloomLength)) {
    meta.delete(bloomOffset)
    return
  }
  const from = numberOf(meta, bloomOffset)
  meta.set(bloomOffset, i64(copying.copy(file, from, from + numberOf(meta, bloomLength))))
}

/** Sets how large a row group is, and where it begins. */
function resize(group: Struct, chunks: readonly Struct[], start: number): void {
  const { bytes, compressedBytes, offset, ordinal } = FIELD.group
  const total = (id: number) =>
    chunks.reduce((sum, chunk) => sum + numberOf(structOf(chunk, FIELD.chunk.metadata), id), 0)
  group.set(bytes, i64(total(FIELD.meta.uncompressedSize)))
  if (group.has(compressedBytes)) group.set(compressedBytes, i64(total(FIELD.meta.compressedSize)))
  if (group.has(offset)) group.set(offset, i64(start))
  group.delete(ordinal)
}
