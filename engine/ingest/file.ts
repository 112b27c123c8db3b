import { createReadStream } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { cancelled } from '../duckdb/errors.ts'
import { EngineError, storageError } from '../errors.ts'
import { TemporaryFile } from '../util/whole-file.ts'
import type { IngestResult, ReadRequest } from './request.ts'
import { malformed } from './text/value-errors.ts'

const CHUNK = 1024 * 1024

/**
 * Takes the first `end` bytes of a buffer and returns how many of them it has used. The next call passes the unused
 * ones again, with more bytes behind them.
 */
export type Feed = (buffer: Buffer, end: number, final: boolean) => number | Promise<number>

/**
 * Feeds a file, from a position on, piece by piece to a reader that needs whole values: bytes that it can't use yet are
 * passed again with more behind them. `buffer[end]` always exists, and the reader may overwrite it. The buffer grows to
 * twice the longest value.
 */
export async function feedFile(
  file: string,
  from: number,
  feed: Feed,
  signal?: AbortSignal,
  onProgress?: (bytes: number) => void,
): Promise<void> {
  const handle = await open(file, 'r')
  try {
    let buffer = Buffer.allocUnsafe(Math.min(CHUNK, (await stat(file)).size - from + 1) + 1)
    let held = 0
    let position = from
    for (;;) {
      signal?.throwIfAborted()
      if (buffer.length - 1 - held < buffer.length / 2) {
        const larger = Buffer.allocUnsafe(buffer.length * 2)
        buffer.copy(larger, 0, 0, held)
        buffer = larger
      }
      const { bytesRead } = await handle.read(buffer, held, buffer.length - 1 - held, position)
      position += bytesRead
      const end = held + bytesRead
      const final = bytesRead === 0
      const used = await feed(buffer, end, final)
      onProgress?.(position)
      if (final) return
      buffer.copyWithin(0, used, end)
      held = end - used
    }
  } finally {
    await handle.close()
  }
}

/** Reads the first `length` bytes of a file, or all of it if it has fewer. */
export async function readStart(file: string, length: number): Promise<Buffer> {
  return Buffer.concat(await createReadStream(file, { end: length - 1, highWaterMark: CHUNK }).toArray())
}

/** A new file that is written from its beginning to its end. */
export class FileSink {
  readonly #handle: FileHandle
  /** The number of bytes written so far. */
  written = 0

  private constructor(handle: FileHandle) {
    this.#handle = handle
  }

  static async create(file: string): Promise<FileSink> {
    return new FileSink(await open(file, 'wx', 0o600))
  }

  /** @throws EngineError `storage_full` */
  async write(bytes: Uint8Array): Promise<void> {
    try {
      for (let at = 0; at < bytes.length; ) at += (await this.#handle.write(bytes, at)).bytesWritten
    } catch (error) {
      throw storageError(error)
    }
    this.written += bytes.length
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }
}

/** Unpacks a gzip file and reads it. */
export async function readPacked(
  request: ReadRequest,
  read: (request: ReadRequest) => Promise<IngestResult>,
): Promise<IngestResult> {
  await using unpacked = new TemporaryFile(request.tempDirectory)
  await gunzip(request.file, unpacked.path, request)
  // From here on the unpacked file is read, whose bytes are not those of the upload: report all of the upload as read.
  const { size } = await stat(request.file)
  const onProgress = ({ rows }: { rows?: number }) => request.onProgress?.({ bytes: size, rows })
  return await read({ ...request, file: unpacked.path, onProgress })
}

/**
 * Unpacks a gzip file into the new file `target`, and stops where it unpacks to more than the limit.
 * @throws EngineError `upload_too_large`, `invalid_upload`, `storage_full`, `cancelled`
 */
async function gunzip(
  file: string,
  target: string,
  { limits, signal, onProgress }: Pick<ReadRequest, 'limits' | 'signal' | 'onProgress'>,
): Promise<void> {
  const sink = await FileSink.create(target)
  const packed = createReadStream(file)
  const unpacked = createGunzip({ chunkSize: 256 * 1024 })
  packed.on('error', (error) => unpacked.destroy(error))
  let bytes = 0
  try {
    for await (const chunk of packed.pipe(unpacked) as AsyncIterable<Buffer>) {
      if (signal?.aborted) throw cancelled(signal)
      bytes += chunk.length
      if (bytes > limits.unpackedBytes) throw unpacksTooLarge(limits.unpackedBytes)
      await sink.write(chunk)
      onProgress?.({ bytes: packed.bytesRead })
    }
  } catch (error) {
    const { code } = error as { code?: string }
    if (code?.startsWith('Z_') || code === 'ERR_STREAM_PREMATURE_CLOSE') {
      throw malformed('The gzip data are damaged or cut off.')
    }
    throw error
  } finally {
    packed.destroy()
    await sink.close()
  }
}

export function unpacksTooLarge(limit: number): EngineError {
  return new EngineError('upload_too_large', `The upload unpacks to more than ${limit} bytes.`, {
    details: { limit },
  })
}
