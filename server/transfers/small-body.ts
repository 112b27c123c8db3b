import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import { BROTLI_QUALITY, GZIP_LEVEL, ZSTD_LEVEL } from './compress.ts'
import type { Coding } from './negotiate.ts'

const gzipped = promisify(gzip)
const brotlied = promisify(brotliCompress)
const zstded = promisify(zstdCompress)

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
      const left = rest(head, piece ? iterator.next() : next, iterator)
      return { whole: undefined, pieces: onWhole && bytes <= most ? remembered(left, most, onWhole) : left }
    }
  } finally {
    clearTimeout(late)
  }
}

async function* rest(
  head: readonly Uint8Array[],
  pending: Promise<IteratorResult<Uint8Array>>,
  iterator: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* head
    for (let next = pending; ; next = iterator.next()) {
      const piece = await next
      if (piece.done) return
      yield piece.value
    }
  } finally {
    await iterator.return?.()
  }
}

/** Gives the same pieces, and copies them unless they become more than `most` bytes. */
async function* remembered(
  pieces: AsyncIterable<Uint8Array>,
  most: number,
  onWhole: (body: Buffer) => void,
): AsyncGenerator<Uint8Array> {
  let copies: Buffer[] | undefined = []
  let bytes = 0
  for await (const piece of pieces) {
    bytes += piece.byteLength
    if (bytes > most) copies = undefined
    copies?.push(Buffer.from(piece))
    yield piece
  }
  if (copies) onWhole(Buffer.concat(copies))
}

/** Compresses a complete body. */
export async function encoded(body: Buffer, coding: Coding | undefined): Promise<Buffer> {
  switch (coding) {
    case undefined:
      return body
    case 'gzip':
      return gzipped(body, { level: GZIP_LEVEL })
    case 'br':
      return brotlied(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } })
    case 'zstd':
      return zstded(body, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } })
    default:
      throw coding satisfies never
  }
}
