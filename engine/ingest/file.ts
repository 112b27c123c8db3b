import { type FileHandle, open, stat } from 'node:fs/promises'
import { storageError } from '../util/storage-errors.ts'
import { type Arrival, arrivalBeyond } from './threads/arrival.ts'

const CHUNK = 1024 * 1024

/**
 * Takes the first `end` bytes of a buffer and returns how many of them it has used. The next call passes the unused
 * ones again, with more bytes behind them.
 */
export type Feed = (buffer: Buffer, end: number, final: boolean) => number | Promise<number>

/** Bytes `from` (inclusive) to `to` (exclusive) of a file; to its end if there is no `to`. */
export interface FileRange {
  readonly from: number
  readonly to?: number
}

/**
 * Feeds a file piece by piece to a reader that needs whole values: bytes that it can't use yet are passed again with
 * more behind them. `buffer[end]` always exists, and the reader may overwrite it. The buffer grows to twice the longest
 * value. If the file still arrives, this waits for its next bytes.
 */
export async function feedFile(
  file: string,
  { from, to = Number.POSITIVE_INFINITY }: FileRange,
  feed: Feed,
  signal?: AbortSignal,
  onProgress?: (bytes: number) => void,
  arrival?: Arrival,
): Promise<void> {
  const handle = await open(file, 'r')
  try {
    let buffer = Buffer.allocUnsafe(Math.min(CHUNK, Math.min((await stat(file)).size, to) - from + 1) + 1)
    let held = 0
    let position = from
    for (;;) {
      signal?.throwIfAborted()
      if (buffer.length - 1 - held < buffer.length / 2) {
        const larger = Buffer.allocUnsafe(buffer.length * 2)
        buffer.copy(larger, 0, 0, held)
        buffer = larger
      }
      if (arrival) await arrivalBeyond(arrival, position)
      const most = Math.min(buffer.length - 1 - held, to - position)
      const { bytesRead } = await handle.read(buffer, held, most, position)
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
  const handle = await open(file, 'r')
  try {
    const buffer = Buffer.allocUnsafe(length)
    let end = 0
    for (;;) {
      const { bytesRead } = await handle.read(buffer, end, length - end, end)
      if (bytesRead === 0) return buffer.subarray(0, end)
      end += bytesRead
    }
  } finally {
    await handle.close()
  }
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
    await writeAll(this.#handle, bytes)
    this.written += bytes.length
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }
}

/** @throws EngineError `storage_full` */
export async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  try {
    for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten
  } catch (error) {
    throw storageError(error)
  }
}
