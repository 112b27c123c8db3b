import { pipeline, Readable, type Transform } from 'node:stream'
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib'
import type { Coding } from './negotiate.ts'

// At these levels compressing is as fast as encoding. zlib works on libuv's threads, not on this one.
const chunkSize = 64 * 1024
const COMPRESSORS: Readonly<Record<Coding, () => Transform>> = {
  gzip: () => createGzip({ level: 4, chunkSize }),
  br: () => createBrotliCompress({ chunkSize, params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }),
  zstd: () => createZstdCompress({ chunkSize, params: { [constants.ZSTD_c_compressionLevel]: 3 } }),
}

/** Bytes as a stream, compressed if a coding is given. When it is destroyed or fails, the source is ended. */
export function bodyStream(
  source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  coding: Coding | undefined,
): Readable {
  const plain = Readable.from(source)
  if (coding === undefined) return plain
  // The reader of the result gets the error; the callback is only there because `pipeline` requires one.
  return pipeline(plain, COMPRESSORS[coding](), () => {})
}

/** How long to wait for the end of a body. After that, large or slow answers are sent as they come. */
const PATIENCE_MS = 20

/** A body that is complete already, or its pieces as they come. */
type Gathered =
  | { readonly whole: Buffer }
  | { readonly whole: undefined; readonly pieces: AsyncIterable<Uint8Array> }

/**
 * Waits a moment for a body to end. A small body can then be sent in one piece with its length, which costs much less
 * than a stream, and it can be kept.
 * @param most the most bytes of a small body
 * @param onWhole called with a small body that took longer, when all of it has been sent
 */
export async function gather(
  pieces: AsyncIterable<Uint8Array>,
  most: number,
  onWhole?: (body: Buffer) => void,
): Promise<Gathered> {
  const iterator = pieces[Symbol.asyncIterator]()
  const head: Uint8Array[] = []
  let bytes = 0
  const { promise: patience, resolve } = Promise.withResolvers<undefined>()
  const late = setTimeout(() => resolve(undefined), PATIENCE_MS)
  try {
    for (;;) {
      const next = iterator.next()
      // A failure is not lost: the reader of the remaining pieces gets it.
      next.catch(() => {})
      const piece = await Promise.race([next, patience])
      if (piece?.done) return { whole: Buffer.concat(head) }
      if (piece) {
        head.push(piece.value)
        bytes += piece.value.byteLength
      }
      if (piece && bytes <= most) continue
      const pending = piece ? iterator.next() : next
      const pieces = rest(head, pending, iterator, most, bytes <= most ? onWhole : undefined)
      return { whole: undefined, pieces }
    }
  } finally {
    clearTimeout(late)
  }
}

/**
 * The pieces that were gathered and those that follow.
 * @param onWhole called with a copy of all of them at their end, unless they are more than `most` bytes
 */
async function* rest(
  head: readonly Uint8Array[],
  pending: Promise<IteratorResult<Uint8Array>>,
  iterator: AsyncIterator<Uint8Array>,
  most: number,
  onWhole: ((body: Buffer) => void) | undefined,
): AsyncGenerator<Uint8Array> {
  let copies: Buffer[] | undefined = onWhole && head.map((piece) => Buffer.from(piece))
  let bytes = head.reduce((sum, piece) => sum + piece.byteLength, 0)
  try {
    yield* head
    for (let next = pending; ; next = iterator.next()) {
      const piece = await next
      if (piece.done) break
      bytes += piece.value.byteLength
      if (bytes > most) copies = undefined
      copies?.push(Buffer.from(piece.value))
      yield piece.value
    }
    if (copies) onWhole!(Buffer.concat(copies))
  } finally {
    await iterator.return?.()
  }
}
