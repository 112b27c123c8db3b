import { type FileHandle, open } from 'node:fs/promises'
import { storageError } from '../errors.ts'
import { writeAt } from '../util/whole-file.ts'
import { readStruct, type Struct, writeStruct } from './thrift.ts'

/**
 * A Parquet file whose footer is to be changed. It is read once and written once, by `save`; pages and filters that are
 * appended take the place of the old footer. Rows are never touched.
 */
export class ParquetFile implements AsyncDisposable {
  /** `FileMetaData`, for functions that read and change it. */
  readonly footer: Struct
  readonly #handle: FileHandle
  /** Where the footer begins. */
  readonly #start: number
  readonly #appended: Uint8Array[] = []
  #end: number

  private constructor(handle: FileHandle, footer: Struct, start: number) {
    this.#handle = handle
    this.footer = footer
    this.#start = start
    this.#end = start
  }

  /** Reads the footer of a file. Nobody else may write the file until this is disposed. */
  static async open(path: string): Promise<ParquetFile> {
    const handle = await open(path, 'r+')
    try {
      const { footer, start } = await readFooter(handle)
      return new ParquetFile(handle, readStruct(footer), start)
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  read(from: number, length: number): Promise<Uint8Array> {
    return readExactly(this.#handle, from, length)
  }

  /** Adds bytes behind the pages that the file has. @returns the place where they will lie */
  append(bytes: Uint8Array): number {
    const at = this.#end
    this.#appended.push(bytes)
    this.#end += bytes.length
    return at
  }

  /** Writes what was appended, and the footer. @returns the new size of the file @throws EngineError `storage_full` */
  async save(): Promise<number> {
    const end = Buffer.concat([...this.#appended, fileEnd(writeStruct(this.footer))])
    await writeAt(this.#handle, end, this.#start).catch((error: unknown) => {
      throw storageError(error)
    })
    const size = this.#start + end.length
    await this.#handle.truncate(size)
    return size
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }
}

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
