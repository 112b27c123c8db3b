import { type FileHandle, open } from 'node:fs/promises'
import { crc32, gunzipSync } from 'node:zlib'
import { chunkRange, chunksOf, FIELD, groupsOf, listOf, numberOf, structOf } from '../../parquet/footer.ts'
import { readExactly } from '../../parquet/parquet-file.ts'
import { readStructFrom, type Struct } from '../../parquet/thrift.ts'
import { malformed, quoteValue } from '../text/errors.ts'

// Field ids of PageHeader and DataPageHeaderV2 in parquet.thrift.
const PAGE = { bytes: 3, crc: 4, version2: 8 } as const
const VERSION2 = { definitionBytes: 5, repetitionBytes: 6, isCompressed: 7 } as const
const GZIP = 2

/** Most headers have some tens of bytes; those with statistics of long texts have more. */
const USUAL_HEADER = 1_024
const LONGEST_HEADER = 1_048_576

/**
 * Compares the pages of an upload with the checksums that they carry, because DuckDB doesn't: the CRC-32 in a page's
 * header, which is that of its bytes as they are in the file, and the one at the end of bytes that are packed with gzip.
 * Of other pages only the headers are read. What is no page is left to DuckDB, which says what is wrong.
 * @throws EngineError `invalid_upload`, naming column and row group
 */
export async function comparePages(path: string, footer: Struct, signal?: AbortSignal): Promise<void> {
  await using file = await open(path)
  const groups = groupsOf(footer)
  for (const [index, group] of groups.entries()) {
    for (const chunk of chunksOf(group)) {
      signal?.throwIfAborted()
      if (await isIntact(file, chunk)) continue
      const meta = structOf(chunk, FIELD.chunk.metadata)
      const path = listOf(meta, FIELD.meta.path).values.map((name) => Buffer.from(name as Uint8Array))
      throw malformed(
        `The Parquet file is damaged: in row group ${index + 1} of ${groups.length}, a page of the column ` +
          `${quoteValue(path.join('.'))} does not match its checksum.`,
      )
    }
  }
}

async function isIntact(file: FileHandle, chunk: Struct): Promise<boolean> {
  const gzip = numberOf(structOf(chunk, FIELD.chunk.metadata), FIELD.meta.codec) === GZIP
  const { from, to: said } = chunkRange(chunk)
  const to = Math.min(said, (await file.stat()).size)
  for (let at = from; at < to; ) {
    const found = await pageHeader(file, at, to)
    if (!found) return true
    const start = at + found.length
    at = start + found.bytes
    if (at > to || (found.crc === undefined && !gzip)) continue
    const { buffer, bytesRead } = await file.read(Buffer.alloc(found.bytes), { position: start })
    if (bytesRead < found.bytes) return true
    if (found.crc === undefined ? !unpacks(buffer, found.header) : crc32(buffer) !== found.crc >>> 0)
      return false
  }
  return true
}

/** The header of the page at a position; undefined if there is none. */
async function pageHeader(file: FileHandle, from: number, to: number) {
  for (let size = USUAL_HEADER; ; size *= 32) {
    const length = Math.min(size, to - from)
    const bytes = await readExactly(file, from, length)
    try {
      const { struct: header, end } = readStructFrom(bytes)
      const size = numberOf(header, PAGE.bytes)
      const crc = header.has(PAGE.crc) ? numberOf(header, PAGE.crc) : undefined
      return size < 0 ? undefined : { header, length: end, bytes: size, crc }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      if (length < size || size >= LONGEST_HEADER) return undefined
    }
  }
}

/** Whether the checksum of bytes that are packed with gzip is right. Levels of repetition are before them, unpacked. */
function unpacks(page: Buffer, header: Struct): boolean {
  const version2 = header.has(PAGE.version2) ? structOf(header, PAGE.version2) : undefined
  if (version2?.get(VERSION2.isCompressed)?.value === false) return true
  const levels = version2
    ? numberOf(version2, VERSION2.definitionBytes) + numberOf(version2, VERSION2.repetitionBytes)
    : 0
  try {
    gunzipSync(page.subarray(levels))
    return true
  } catch (error) {
    return (error as Error).message !== 'incorrect data check'
  }
}
