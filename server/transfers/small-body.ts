import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import { BROTLI_QUALITY, GZIP_LEVEL, ZSTD_LEVEL } from './compress.ts'
import type { Coding } from './negotiate.ts'

const gzipped = promisify(gzip)
const brotlied = promisify(brotliCompress)
const zstded = promisify(zstdCompress)

/** So long the end of a body is waited for; who asks for much, or for what is rare, gets the first rows by then. */
const PATIENCE_MS = 20

/** A body that is whole already, or all of it as it comes. */
type Gathered =
  | { readonly whole: Buffer }
  | { readonly whole: undefined; readonly pieces: AsyncIterable<Uint8Array> }

/**
 * Waits a moment for a body to end. A small one can then be sent as one piece with its length, which costs a fraction
 * of a stream, and be kept.
 * @param most bytes of a small body
 * @param onWhole given a small body that took longer, when all of it has been sent
 */
export async function gather(
  pieces: AsyncIterable<Uint8Array>,
  most: number,
  onWhole: (body: Buffer) => void,
): Promise<Gathered> {
  const iterator = pieces[Symbol.asyncIterator]()
  const head: Uint8Array[] = []
  let bytes = 0
  const { promise: patience, resolve } = Promise.withResolvers<undefined>()
  const late = setTimeout(() => resolve(undefined), PATIENCE_MS)
  try {
    for (;;) {
      const next = iterator.next()
      // Whoever goes on reading is told of its failure.
      next.catch(() => {})
      const piece = await Promise.race([next, patience])
      if (piece?.done) return { whole: Buffer.concat(head) }
      if (piece) {
        head.push(piece.value)
        bytes += piece.value.byteLength
      }
      if (piece && bytes <= most) continue
      const left = rest(head, piece ? iterator.next() : next, iterator)
      return { whole: undefined, pieces: bytes > most ? left : remembered(left, most, onWhole) }
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

/** The same pieces, copied so long as they are few. */
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

/** A whole body in a coding. */
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
