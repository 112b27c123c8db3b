import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { isUint8Array } from 'node:util/types'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { cancelled } from '../duckdb/errors.ts'
import { EngineError, invalidOption, storageError } from '../errors.ts'
import { orAborted } from '../util/concurrency.ts'
import type { ReadRequest } from './request.ts'
import { malformed } from './text/errors.ts'

const CHUNK = 1024 * 1024

/** What reads a file piece by piece, and perhaps writes it in another form. */
export interface PieceReader {
  /**
   * Takes the first `end` bytes of a buffer and returns how many of them it has used. The next call passes the unused
   * ones again, with more bytes behind them. `buffer[end]` always exists and may be overwritten.
   */
  feed(buffer: Buffer, end: number, final: boolean): number
  /** What is to be written, since the last call. */
  take?(): Uint8Array
  /** How many have been read. */
  readonly rows: number
}

/**
 * Feeds a file, from a position on, piece by piece to a reader that needs whole values: bytes that it can't use yet are
 * passed again with more behind them. The buffer grows to twice the longest value.
 */
export async function feedFile(
  { file, bytes, signal, onProgress }: ReadRequest,
  from: number,
  reader: PieceReader,
  sink?: Sink,
): Promise<void> {
  if (bytes) return feedBytes(bytes, reader, sink)
  await using handle = await open(file)
  let buffer = Buffer.allocUnsafe(Math.min(CHUNK, (await handle.stat()).size - from + 1) + 1)
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
    const used = reader.feed(buffer, end, final)
    if (reader.take) await sink?.write(reader.take())
    onProgress?.({ bytes: position, rows: reader.rows })
    if (final) return
    buffer.copyWithin(0, used, end)
    held = end - used
  }
}

async function feedBytes(bytes: Uint8Array, reader: PieceReader, sink?: Sink): Promise<void> {
  const buffer = Buffer.alloc(bytes.byteLength + 1)
  buffer.set(bytes)
  const used = reader.feed(buffer, bytes.byteLength, false)
  if (reader.take) await sink?.write(reader.take())
  buffer.copyWithin(0, used, bytes.byteLength)
  reader.feed(buffer, bytes.byteLength - used, true)
  if (reader.take) await sink?.write(reader.take())
}

/** Whether `buffer[0..end)` is UTF-8; the last character may be cut off unless the piece is the `final` one. */
export function isUtf8Piece(buffer: Buffer, end: number, final: boolean): boolean {
  return isUtf8(buffer.subarray(0, final ? end : wholeCharacters(buffer, end)))
}

/** Where the last whole character of `buffer[0..end)` ends: before `end` if the buffer cuts a character in two. */
function wholeCharacters(buffer: Buffer, end: number): number {
  for (let back = 1; back <= 3 && back <= end; back++) {
    const byte = buffer[end - back]!
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return length > back ? end - back : end
    }
    if (byte < 0x80) return end
  }
  return end
}

/** Reads the first `length` bytes of a file, or all of it if it has fewer. */
export async function readStart(file: string, length: number): Promise<Buffer> {
  return Buffer.concat(await createReadStream(file, { end: length - 1, highWaterMark: CHUNK }).toArray())
}

/** At most `length` bytes from a position on; fewer where the file ends. */
export async function readFrom(file: string, position: number, length: number): Promise<Buffer> {
  await using handle = await open(file)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

/** The last bytes of a file, at most `length`. */
export async function readEnd(file: string, length: number): Promise<Buffer> {
  const { size } = await stat(file)
  return Buffer.concat(await createReadStream(file, { start: Math.max(0, size - length) }).toArray())
}

/** The options of `spool`. */
export interface SpoolOptions {
  /** The most bytes that the body may have. */
  readonly bytes: number
  /** The error for one that has more. */
  readonly tooLarge?: (limit: number) => EngineError
  readonly signal?: AbortSignal | undefined
}

/**
 * Streams an upload's body to a file that does not exist yet. The file is removed again if this fails.
 * @throws EngineError `upload_too_large`, `storage_full`, `cancelled`; `invalid_option` if the body gives no bytes
 */
export async function spool(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  file: string,
  { bytes: most, tooLarge = isTooLarge, signal }: SpoolOptions,
): Promise<{ bytes: number }> {
  const handle = await open(file, 'wx', 0o600).catch((error: unknown) => {
    throw storageError(error)
  })
  let bytes = 0
  async function* counted() {
    for await (const chunk of body) {
      if (!isUint8Array(chunk)) throw notBytes(chunk)
      bytes += chunk.length
      if (bytes > most) throw tooLarge(most)
      yield chunk
    }
  }
  try {
    // While one write is under way, the small chunks that sockets give are gathered for the next one.
    const written = pipeline(counted, handle.createWriteStream({ highWaterMark: CHUNK }), { signal })
    await orAborted(written, signal, () => cancelled(signal))
    return { bytes }
  } catch (error) {
    await rm(file, { force: true })
    throw signal?.aborted && !(error instanceof EngineError) ? cancelled(signal) : storageError(error)
  }
}

function notBytes(chunk: unknown): EngineError {
  return invalidOption(
    `body must give bytes (Uint8Array), but gives a ${typeof chunk}. A stream that has an encoding gives text: leave it out.`,
  )
}

function isTooLarge(limit: number): EngineError {
  return new EngineError('upload_too_large', `The upload is larger than ${limit} bytes.`, {
    details: { limit },
  })
}

/** What is written from its beginning to its end. */
export interface Sink extends AsyncDisposable {
  write(bytes: Uint8Array): Promise<void>
}

/** Copies of what was written, in memory. */
export class MemorySink implements Sink {
  readonly pieces: Uint8Array[] = []

  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.byteLength > 0) this.pieces.push(Uint8Array.from(bytes))
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Where a pass over an upload writes: a new file of this name, or memory. */
export type SinkTarget = string | MemorySink

export async function openSink(target: SinkTarget): Promise<Sink> {
  return typeof target === 'string' ? FileSink.create(target) : target
}

/** Forgets what was written, so that another pass can begin. */
export async function clearSink(target: SinkTarget): Promise<void> {
  if (typeof target === 'string') await rm(target)
  else target.pieces.length = 0
}

/** The name of the file that was written; of what is in memory there is none. */
export function sinkFile(target: SinkTarget): string {
  return typeof target === 'string' ? target : ''
}

/** A new file that is written from its beginning to its end. */
export class FileSink implements Sink {
  readonly #handle: FileHandle
  /** The number of bytes written so far. */
  written = 0

  private constructor(handle: FileHandle) {
    this.#handle = handle
  }

  static async create(file: string): Promise<FileSink> {
    return new FileSink(await open(file, 'wx', 0o600))
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#handle.writeFile(bytes)
    this.written += bytes.length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }
}

/** The first bytes of a frame of zstd (RFC 8878, 3.1.1). */
const ZSTD = Buffer.from('28b52ffd', 'hex')

/**
 * Unpacks a file compressed with gzip or zstd into the new file `target`, and gives the request with this one.
 * @throws EngineError `upload_too_large` where it unpacks to more than the limit, `invalid_upload`, `storage_full`,
 * `cancelled`
 */
export async function unpack(request: ReadRequest, target: string): Promise<ReadRequest> {
  const { file, limits, signal, onProgress } = request
  const { size } = await stat(file)
  const packed = createReadStream(file)
  const isZstd = (await readStart(file, 4)).equals(ZSTD)
  const unpacked = (isZstd ? createZstdDecompress : createGunzip)({ chunkSize: 256 * 1024 })
  packed.on('error', (error) => unpacked.destroy(error))
  async function* pieces() {
    for await (const piece of packed.pipe(unpacked) as AsyncIterable<Buffer>) {
      yield piece
      onProgress?.({ bytes: packed.bytesRead })
    }
  }
  try {
    await spool(pieces(), target, { ...unpackingTo(limits.unpackedBytes, size), signal })
  } catch (error) {
    const { code } = error as { code?: string }
    if (!/^(?:Z|ZSTD|ERR_ZSTD)_/.test(code ?? '') && code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
    throw malformed(`The ${isZstd ? 'zstd' : 'gzip'} data are damaged or cut off.`)
  } finally {
    packed.destroy()
  }
  // From here on the unpacked file is read, whose bytes are not those of the upload: report all of the upload as read.
  const bytes = packed.bytesRead
  return { ...request, file: target, onProgress: ({ rows }) => onProgress?.({ bytes, rows }) }
}

/** The options of `spool` for what a file of this size unpacks to. */
export function unpackingTo(unpackedBytes: number, size: number): SpoolOptions {
  const most = Math.min(unpackedBytes, UNPACKED + UNPACKED_A_BYTE * size)
  const tooLarge = (limit: number) =>
    limit === unpackedBytes ? unpacksTooLarge(limit) : unpacksTooFar(limit, size)
  return { bytes: most, tooLarge }
}

/**
 * How many bytes gzip and zip may unpack to, and how many more for each byte of the file, so that a small one does not keep a
 * reader busy for minutes. Tables rarely shrink to less than a fiftieth.
 */
const [UNPACKED, UNPACKED_A_BYTE] = [128 * 2 ** 20, 200]

function unpacksTooFar(limit: number, size: number): EngineError {
  return new EngineError(
    'upload_too_large',
    `The upload unpacks to more than ${limit} bytes, the most for ${size} bytes. Send it unpacked, or in parts.`,
    { details: { limit } },
  )
}

export function unpacksTooLarge(limit: number): EngineError {
  return new EngineError('upload_too_large', `The upload unpacks to more than ${limit} bytes.`, {
    details: { limit },
  })
}
