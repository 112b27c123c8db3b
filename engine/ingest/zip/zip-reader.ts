import { crc32, createInflateRaw } from 'node:zlib'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { EngineError } from '../../errors.ts'
import { unpacksTooLarge } from '../file.ts'
import { malformed } from '../text/errors.ts'

const STORED = 0
/** More entries are refused. A workbook of a thousand sheets has only some thousand. */
const MOST_ENTRIES = 100_000

/**
 * Reads single entries of a zip archive without unpacking the others. All unpacked bytes count towards one limit, and no
 * entry may unpack to more bytes than the directory says.
 */
export class ZipReader implements AsyncDisposable {
  readonly entries: ReadonlyMap<string, Entry>
  readonly #zip: ZipFile
  readonly #what: string
  readonly #limit: number
  #left: number
  /** Packed bytes of entries that have been read; within an entry an estimate. */
  bytesRead = 0

  private constructor(
    zip: ZipFile,
    entries: ReadonlyMap<string, Entry>,
    { limit, what }: { readonly limit: number; readonly what: string },
  ) {
    this.#zip = zip
    this.#what = what
    this.entries = entries
    this.#limit = limit
    this.#left = limit
  }

  /**
   * @param limit of the bytes to which all entries that are read unpack
   * @param what the archive is, in errors
   * @throws EngineError `invalid_upload` if the file is not a zip archive, or an encrypted one
   */
  static async open(file: string, limit: number, what = 'workbook'): Promise<ZipReader> {
    const zip = await openPromise(file, { autoClose: false }).catch((error: unknown) => {
      const not = what === 'workbook' ? 'an xlsx workbook: it is not ' : ''
      throw isAboutFile(error) ? malformed(`The file is not ${not}a zip archive, or is cut off.`) : error
    })
    try {
      return new ZipReader(zip, await readDirectory(zip, what), { limit, what })
    } catch (error) {
      zip.close()
      throw isAboutFile(error) ? damaged(what, 'its directory') : error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#zip.close()
  }

  /** The unpacked data of an entry. @throws EngineError `upload_too_large`; `invalid_upload` if they are damaged */
  async *read(entry: Entry): AsyncGenerator<Buffer> {
    if (entry.uncompressedSize > this.#left) throw unpacksTooLarge(this.#limit)
    const stored = entry.compressionMethod === STORED
    if (!stored && !entry.canDecodeFileData()) throw damaged(this.#what, entry.fileName)
    const before = this.bytesRead
    let bytes = 0
    let crc = 0
    try {
      const packed = await this.#zip.openReadStreamPromise(entry, { decodeFileData: false })
      const inflate = createInflateRaw({ chunkSize: 256 * 1024 })
      packed.on('error', (error) => inflate.destroy(error))
      try {
        for await (const chunk of stored ? packed : packed.pipe(inflate)) {
          bytes += chunk.length
          this.#left -= chunk.length
          if (bytes > entry.uncompressedSize) throw damaged(this.#what, entry.fileName)
          if (this.#left < 0) throw unpacksTooLarge(this.#limit)
          crc = crc32(chunk, crc)
          this.bytesRead = before + Math.round((entry.compressedSize * bytes) / entry.uncompressedSize)
          yield chunk
        }
      } finally {
        packed.destroy()
        inflate.destroy()
      }
    } catch (error) {
      throw isAboutFile(error) ? damaged(this.#what, entry.fileName) : error
    }
    if (bytes !== entry.uncompressedSize || crc !== entry.crc32) throw damaged(this.#what, entry.fileName)
  }
}

async function readDirectory(zip: ZipFile, what: string): Promise<Map<string, Entry>> {
  if (zip.entryCount > MOST_ENTRIES) throw damaged(what, 'its directory')
  const entries = new Map<string, Entry>()
  for await (const entry of zip.eachEntry()) {
    if (entry.isEncrypted()) throw malformed(`The ${what} is encrypted.`)
    entries.set(entry.fileName, entry)
  }
  return entries
}

/** Whether an error says that the bytes of an archive are wrong, and not that the disk failed or the reader gave up. */
function isAboutFile(error: unknown): boolean {
  if (error instanceof EngineError) return false
  const { code } = error as { code?: string }
  return code === undefined || code.startsWith('Z_') || code === 'ERR_STREAM_PREMATURE_CLOSE'
}

function damaged(what: string, part: string): Error {
  return malformed(`The ${what} is damaged: ${part} can not be read.`)
}
