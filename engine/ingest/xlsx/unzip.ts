import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { crc32, createInflateRaw } from 'node:zlib'
import { unpacksTooLarge } from '../gunzip.ts'
import { malformed } from '../text/value-errors.ts'

/** An entry of a zip archive, as its directory describes it. */
export interface ZipEntry {
  readonly name: string
  readonly method: number
  readonly crc: number
  readonly packed: number
  readonly unpacked: number
  /** The position of its local header. */
  readonly offset: number
}

const END_OF_DIRECTORY = 0x06054b50
const END_OF_DIRECTORY_64 = 0x06064b50
const LOCATOR_64 = 0x07064b50
const DIRECTORY_ENTRY = 0x02014b50
const LOCAL_HEADER = 0x04034b50
const STORED = 0
const DEFLATED = 8
/** Larger directories are refused: a workbook of a thousand sheets has only some thousand entries. */
const MOST_DIRECTORY_BYTES = 16 * 1024 * 1024

/**
 * Reads single entries of a zip archive (PKWARE APPNOTE 6.3) without unpacking the others. All unpacked bytes count
 * towards one limit, and no entry may unpack to more bytes than the directory says.
 */
export class ZipReader implements AsyncDisposable {
  readonly entries: ReadonlyMap<string, ZipEntry>
  readonly #file: string
  readonly #handle: FileHandle
  #left: number
  /** Packed bytes of entries that have been read. */
  bytesRead = 0
  readonly #limit: number

  private constructor(
    file: string,
    handle: FileHandle,
    entries: ReadonlyMap<string, ZipEntry>,
    limit: number,
  ) {
    this.#file = file
    this.#handle = handle
    this.entries = entries
    this.#limit = limit
    this.#left = limit
  }

  /** @throws EngineError `invalid_upload` if the file is not a zip archive */
  static async open(file: string, limit: number): Promise<ZipReader> {
    const handle = await open(file, 'r')
    try {
      return new ZipReader(file, handle, await readDirectory(handle), limit)
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }

  /** The unpacked data of an entry. @throws EngineError `upload_too_large`; `invalid_upload` if they are damaged */
  async *read(entry: ZipEntry): AsyncGenerator<Buffer> {
    if (entry.unpacked > this.#left) throw unpacksTooLarge(this.#limit)
    if (entry.method !== STORED && entry.method !== DEFLATED) throw damaged(entry.name)
    const header = await readExactly(this.#handle, entry.offset, 30)
    if (header.readUInt32LE(0) !== LOCAL_HEADER) throw damaged(entry.name)
    const start = entry.offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28)
    if (entry.packed === 0) {
      if (entry.unpacked !== 0) throw damaged(entry.name)
      return
    }
    const packed = createReadStream(this.#file, {
      start,
      end: start + entry.packed - 1,
      highWaterMark: 256 * 1024,
    })
    const inflate = createInflateRaw({ chunkSize: 256 * 1024 })
    packed.on('error', (error) => inflate.destroy(error))
    const chunks: AsyncIterable<Buffer> = entry.method === STORED ? packed : packed.pipe(inflate)
    const before = this.bytesRead
    let bytes = 0
    let crc = 0
    try {
      for await (const chunk of chunks) {
        bytes += chunk.length
        this.#left -= chunk.length
        if (bytes > entry.unpacked) throw damaged(entry.name)
        if (this.#left < 0) throw unpacksTooLarge(this.#limit)
        crc = crc32(chunk, crc)
        this.bytesRead = before + packed.bytesRead
        yield chunk
      }
    } catch (error) {
      const { code } = error as { code?: string }
      throw code?.startsWith('Z_') || code === 'ERR_STREAM_PREMATURE_CLOSE' ? damaged(entry.name) : error
    } finally {
      packed.destroy()
      inflate.destroy()
    }
    if (bytes !== entry.unpacked || crc !== entry.crc) throw damaged(entry.name)
  }
}

async function readDirectory(handle: FileHandle): Promise<Map<string, ZipEntry>> {
  const { size } = await handle.stat()
  const tail = await readExactly(handle, Math.max(0, size - 65_557), Math.min(size, 65_557))
  let end = tail.length - 22
  while (end >= 0 && tail.readUInt32LE(end) !== END_OF_DIRECTORY) end--
  if (end < 0) throw malformed('The file is no xlsx workbook: it is no zip archive, or was cut off.')
  let length = tail.readUInt32LE(end + 12)
  let offset = tail.readUInt32LE(end + 16)
  if (end >= 20 && tail.readUInt32LE(end - 20) === LOCATOR_64) {
    const record = await readExactly(handle, Number(tail.readBigUInt64LE(end - 20 + 8)), 56)
    if (record.readUInt32LE(0) !== END_OF_DIRECTORY_64) throw damaged('its directory')
    length = Number(record.readBigUInt64LE(40))
    offset = Number(record.readBigUInt64LE(48))
  }
  if (length > MOST_DIRECTORY_BYTES) throw damaged('its directory')
  const directory = await readExactly(handle, offset, length)
  const entries = new Map<string, ZipEntry>()
  for (let at = 0; at + 46 <= directory.length; ) {
    if (directory.readUInt32LE(at) !== DIRECTORY_ENTRY) break
    const nameEnd = at + 46 + directory.readUInt16LE(at + 28)
    const extraEnd = nameEnd + directory.readUInt16LE(at + 30)
    if (directory.readUInt16LE(at + 8) & 1) throw malformed('The workbook is encrypted.')
    const name = directory.toString('utf8', at + 46, nameEnd)
    const sizes = {
      unpacked: directory.readUInt32LE(at + 24),
      packed: directory.readUInt32LE(at + 20),
      offset: directory.readUInt32LE(at + 42),
    }
    readLongSizes(directory.subarray(nameEnd, extraEnd), sizes)
    entries.set(name, {
      name,
      method: directory.readUInt16LE(at + 10),
      crc: directory.readUInt32LE(at + 16),
      ...sizes,
    })
    at = extraEnd + directory.readUInt16LE(at + 32)
  }
  return entries
}

/** Zip64: those of these numbers that don't fit in 32 bits are in an extra field instead, in this order. */
function readLongSizes(extra: Buffer, sizes: { unpacked: number; packed: number; offset: number }): void {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue
    let field = at + 4
    for (const key of ['unpacked', 'packed', 'offset'] as const) {
      if (sizes[key] !== 0xffffffff || field + 8 > extra.length) continue
      sizes[key] = Number(extra.readBigUInt64LE(field))
      field += 8
    }
  }
}

async function readExactly(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  let read = 0
  while (read < length) {
    if (!Number.isSafeInteger(position)) break
    const { bytesRead } = await handle.read(buffer, read, length - read, position + read)
    if (bytesRead === 0) break
    read += bytesRead
  }
  if (read < length) throw malformed('The workbook is damaged or cut off.')
  return buffer
}

function damaged(what: string): Error {
  return malformed(`The workbook is damaged: ${what} can not be read.`)
}
