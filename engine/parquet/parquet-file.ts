import { type FileHandle, open } from 'node:fs/promises'
import { storageError } from '../machine-errors.ts'
import { fileEnd, readExactly, readFooter } from './file-footer.ts'
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

  /** Writes what was appended, and the footer. @returns the new size of the file */
  async save(): Promise<number> {
    const end = Buffer.concat([...this.#appended, fileEnd(writeStruct(this.footer))])
    const size = await write(this.#handle, end, this.#start)
    await this.#handle.truncate(size)
    return size
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }
}

/** @returns where the bytes end @throws EngineError `storage_full` */
async function write(handle: FileHandle, bytes: Uint8Array, start: number): Promise<number> {
  try {
    for (let at = 0; at < bytes.length; ) {
      at += (await handle.write(bytes, at, bytes.length - at, start + at)).bytesWritten
    }
  } catch (error) {
    throw storageError(error)
  }
  return start + bytes.length
}
