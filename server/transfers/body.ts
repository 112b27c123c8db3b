import type { Readable } from 'node:stream'
import type { ByteStream, Format } from '../../engine/index.ts'
import type { Metrics } from '../http/metrics.ts'
import type { Transfer } from './transfer.ts'

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

/** Gives the body of a download for Fastify to send, and measures and watches it until its end. */
export function watched(
  format: Format,
  stream: ByteStream,
  transfer: Transfer,
  body: Readable,
  metrics: Metrics,
): Readable {
  const { raw } = transfer.reply
  const { raw: incoming, trace } = transfer.request
  let failed = false
  const sent: Uint8Array[] = []
  trace.bytes = 0
  body.on('data', (chunk: Uint8Array) => {
    // Nothing waits in the socket, so all chunks given to it have been sent and their memory can be used again.
    if (raw.writableLength === 0) for (const one of sent.splice(0)) stream.recycle(one)
    sent.push(chunk)
    if (trace.firstByte === undefined) metrics.exportStarted(format, trace)
    trace.bytes! += chunk.byteLength
    trace.rows = stream.rows()
  })
  // The listener above has started the flow. Fastify must start it, after the headers, so it is paused.
  body.pause()
  body.on('error', () => {
    failed = true
    // HTTP/1.0 has no chunks, so the end of the connection means the end of the body. Only a reset shows the failure.
    if (incoming.httpVersion === '1.0') incoming.socket.resetAndDestroy()
  })
  transfer.watchSocket()
  transfer.onClose(() => {
    if (raw.writableFinished) for (const one of sent.splice(0)) stream.recycle(one)
    const cut = failed ? 'failed' : transfer.stalled ? 'stalled' : 'left'
    metrics.exportEnded(format, trace, raw.writableFinished ? 'whole' : cut)
  })
  return body
}
