import type { FileHandle } from 'node:fs/promises'

/** The magic number at both ends of a file. */
export const MAGIC = Buffer.from('PAR1')
/** The bytes after the footer: its length in four bytes, and the four bytes `PAR1`. */
export const TAIL_BYTES = 8

export interface FileFooter {
  /** `FileMetaData`, without the length and the magic number after it. */
  readonly footer: Uint8Array
  /** Where the footer begins. */
  readonly start: number
  /** The bytes after the footer. */
  readonly tail: Buffer
}

/** Reads the footer of a Parquet file. @throws RangeError if the file is too short */
export async function readFooter(handle: FileHandle): Promise<FileFooter> {
  const { size } = await handle.stat()
  const tail = Buffer.from(await readExactly(handle, size - TAIL_BYTES, TAIL_BYTES))
  const length = tail.readUInt32LE(0)
  const start = size - TAIL_BYTES - length
  return { footer: await readExactly(handle, start, length), start, tail }
}

/** What stands behind the pages of a file: the footer, its length, the magic number. */
export function fileEnd(footer: Uint8Array): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(footer.length)
  return Buffer.concat([footer, length, MAGIC])
}

async function readExactly(handle: FileHandle, position: number, length: number): Promise<Uint8Array> {
  if (position < 0) throw new RangeError('the file is too short')
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), { position })
  if (bytesRead < length) throw new RangeError('the file is too short')
  return buffer
}
