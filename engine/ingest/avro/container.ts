import type { FileHandle } from 'node:fs/promises'
import { crc32, inflateRawSync, zstdDecompressSync } from 'node:zlib'
import avsc, { type Type } from 'avsc'
import { malformed } from '../text/errors.ts'
import { unpackSnappy } from './snappy.ts'

/** The metadata of a file (Avro 1.12, Object Container Files), and where its blocks begin. */
export interface AvroHeader {
  readonly schema: unknown
  readonly codec: string
  readonly sync: Buffer
  readonly end: number
}

interface Block {
  readonly count: number
  readonly data: Buffer
}

const HEADER = new avsc.types.RecordType({
  type: 'record',
  name: 'Header',
  fields: [
    { name: 'magic', type: { type: 'fixed', name: 'Magic', size: 4 } },
    { name: 'meta', type: { type: 'map', values: 'bytes' } },
    { name: 'sync', type: { type: 'fixed', name: 'Sync', size: 16 } },
  ],
})
const LONG: Type = new avsc.types.LongType()
/** Two numbers, and what follows a block. */
const [MOST_NUMBERS, SYNC_BYTES] = [20, 16]

/** @throws EngineError `invalid_upload` */
export async function readHeader(handle: FileHandle): Promise<AvroHeader> {
  const { size } = await handle.stat()
  for (let length = 64 * 1024; ; length *= 4) {
    const start = await bytesAt(handle, 0, Math.min(length, size))
    const { value, offset } = HEADER.decode(start) as {
      value: { meta: Record<string, Buffer>; sync: Buffer }
      offset: number
    }
    if (offset < 0 && length < size) continue
    if (offset < 0 || start.toString('latin1', 0, 4) !== 'Obj\x01') throw damaged()
    const { meta, sync } = value
    return {
      schema: JSON.parse(String(meta['avro.schema'])),
      codec: String(meta['avro.codec'] ?? 'null'),
      sync,
      end: offset,
    }
  }
}

/**
 * The blocks of a file, unpacked.
 * @param most the bytes to which one may unpack
 * @throws EngineError `invalid_upload`
 */
export async function* readBlocks(
  handle: FileHandle,
  header: AvroHeader,
  most: number,
): AsyncGenerator<Block> {
  const { size } = await handle.stat()
  for (let at = header.end; at < size; ) {
    const numbers = await bytesAt(handle, at, Math.min(MOST_NUMBERS, size - at))
    const count = LONG.decode(numbers) as { value: number; offset: number }
    const length = LONG.decode(numbers, count.offset) as { value: number; offset: number }
    if (count.offset < 0 || length.offset < 0 || count.value < 0 || length.value < 0) throw damaged()
    const from = at + length.offset
    at = from + length.value + SYNC_BYTES
    if (at > size) throw damaged()
    const whole = await bytesAt(handle, from, length.value + SYNC_BYTES)
    if (!header.sync.equals(whole.subarray(length.value))) throw damaged()
    yield { count: count.value, data: unpacked(whole.subarray(0, length.value), header.codec, most) }
  }
}

function unpacked(data: Buffer, codec: string, most: number): Buffer {
  switch (codec) {
    case 'null':
      return data
    case 'deflate':
      return inflateRawSync(data, { maxOutputLength: most })
    case 'zstandard':
      return zstdDecompressSync(data, { maxOutputLength: most })
    case 'snappy': {
      const bytes = unpackSnappy(data.subarray(0, -4), most)
      if (crc32(bytes) !== data.readUInt32BE(data.length - 4)) throw damaged()
      return bytes
    }
    default:
      throw malformed(
        `The Avro file is compressed with ${JSON.stringify(codec)}; known are null, deflate, snappy and zstandard.`,
      )
  }
}

async function bytesAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position)
  if (bytesRead < length) throw damaged()
  return buffer
}

export function damaged(): Error {
  return malformed('The Avro file is damaged, or cut off.')
}
