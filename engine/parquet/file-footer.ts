import { type FileHandle, open } from 'node:fs/promises'

/** The magic number at both ends of a file. */
export const MAGIC = Buffer.from('PAR1')
/** The bytes after the footer: its length in four bytes, and the four bytes `PAR1`. */
export const TAIL_BYTES = 8

export interface FileFooter {
  /** `FileMetaData`, without the length and the magic number after it. */
  readonly footer: Uint8Array
  /** Where the footer begins. */
  readonly start: number
}

/** Reads the footer of a Parquet file. @throws RangeError if the file is too short */
export async function readFooter(handle: FileHandle): Promise<FileFooter> {
  const { size } = await handle.stat()
  const tail = Buffer.from(await readExactly(handle, size - TAIL_BYTES, TAIL_BYTES))
  const length = tail.readUInt32LE(0)
  const start = size - TAIL_BYTES - length
  return { footer: await readExactly(handle, start, length), start }
}

/** Reads the footer of the file at a path. */
export async function footerOf(path: string): Promise<FileFooter> {
  await using handle = await open(path)
  return await readFooter(handle)
}

/** What stands behind the pages of a file: the footer, its length, the magic number. */
export function fileEnd(footer: Uint8Array): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(footer.length)
  return Buffer.concat([footer, length, MAGIC])
}

/** @throws RangeError if the file has fewer bytes */
export async function readExactly(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  if (position < 0) throw new RangeError('the file is too short')
  const bytes = Buffer.alloc(length)
  for (let done = 0; done < length; ) {
    const { bytesRead } = await handle.read(bytes, done, length - done, position + done)
    if (bytesRead === 0) throw new RangeError('the file is too short')
    done += bytesRead
  }
  return bytes
}
