import { createHash } from 'node:crypto'
import { pipeline, Readable, type Transform } from 'node:stream'
import { constants, createBrotliCompress, createGzip, createZstdCompress, gunzipSync } from 'node:zlib'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { ByteStream, EncodeOptions, Format, ODataJson, Query } from '../../engine/index.ts'
import { attachment, SECURITY_HEADERS } from '../http/headers.ts'
import type { Metrics, Trace } from '../http/metrics.ts'
import { type Coding, chooseCoding, FORMAT_FACTS } from './formats.ts'
import { isSame } from './pieces.ts'
import type { Transfer } from './transfer.ts'

/** The description of a download. The query is disposed when the download is over. */
export interface Download {
  readonly query: Query
  /** The window of rows with which the query was made. */
  readonly window: { readonly top?: number; readonly last?: number; readonly skip?: number }
  readonly format: Format
  /** The name of the file, without extension. */
  readonly name: string
  /** Rows before filter and window, if rows count against the plan; undefined if they don't. */
  readonly meteredRows: number | undefined
  /** Whether rows must be counted even if it takes time. */
  readonly counted?: boolean
  /** Text that stands before and after the rows. */
  readonly envelope?: Envelope
  /** How OData's JSON is written; undefined for our own JSON. */
  readonly odata?: ODataJson
  /** Options for writing the format, if there are any. */
  readonly encoding?: EncodeOptions
  /** The content type if it is not the format's own. Such an answer is not offered as a file to save. */
  readonly contentType?: string
  /** Everything else on which the bytes depend, for the entity tag. */
  readonly variant?: string
  /** Whether the rows are a page, and a request for the next one will probably follow. */
  readonly paged?: boolean
  /** The name under which the answer is kept, if the answer is always the same; see `cacheKeyOf`. */
  readonly cacheKey?: string | undefined
}

/** The part of a download that is known before its query is made. */
export type Announced = Omit<Download, 'query' | 'window'>

/** Text that stands before and after the rows. */
export interface Envelope {
  /** A function gets the number of rows that match, so they are counted first. */
  readonly before: string | ((matches: number) => string)
  /** A function gets the number of rows that were sent. */
  readonly after: string | ((rows: number) => string)
}

/** The headers of all answers about rows, even of those without a body. */
export const OF_ALL_ROWS = { vary: 'Accept, Accept-Encoding', 'cache-control': 'private, no-cache' }

/**
 * The entity tag of a download: strong if equal tags mean equal bytes, weak if the same rows may be compressed or
 * packed differently (RFC 9110, 8.8.1).
 */
export function entityTag(download: Download, coding: Coding | undefined, release: string): string {
  const { query, format, variant, encoding } = download
  // They may hold what a tag may not: quotes, and characters outside of ASCII.
  const parts = [variant, encoding && JSON.stringify(encoding), query.metadataIn(format)].map(
    (text) => text && hashOf(text),
  )
  const opaque = [query.etag, release, format, ...parts, coding].filter(Boolean).join('-')
  const strong = FORMAT_FACTS[format].exact && coding === undefined
  return `${strong ? '' : 'W/'}"${opaque}"`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 12)
}

/**
 * Answers 304. The client goes on using its copy with the headers that came with it, so only the headers for a 304 are
 * sent (RFC 9110, 15.4.5).
 */
export function notModified(reply: FastifyReply): FastifyReply {
  for (const name of [...Object.keys(SECURITY_HEADERS), 'link']) reply.removeHeader(name)
  return reply.code(304).send()
}

/** Whether the rows that match must be counted even if it takes time. */
export function isCounted({ counted, window, envelope }: Download): boolean {
  return (
    counted || window.top !== undefined || window.last !== undefined || typeof envelope?.before === 'function'
  )
}

/** How a body is compressed. Ranges are of the bytes before compression. */
export function codingFor({ headers }: FastifyRequest, format: Format): Coding | undefined {
  if (headers.range !== undefined) return undefined
  return FORMAT_FACTS[format].compressible ? chooseCoding(headers['accept-encoding']) : undefined
}

/**
 * Whether an answer is read in pieces: its client asks for a range, or by HEAD for the length that it needs to do so.
 * @param isMade whether there is a file with these bytes
 */
export function isInPieces(
  { method, headers }: FastifyRequest,
  { format, contentType }: Announced,
  { etag, coding, isMade }: { etag: string; coding: Coding | undefined; isMade: () => boolean },
): boolean {
  if (contentType !== undefined || coding !== undefined) return false
  if (method === 'HEAD') return true
  const { range, 'if-range': ifRange } = headers
  if (method !== 'GET' || range === undefined || !/^bytes=\s*(?:\d+-|-\d)/.test(range)) return false
  if (isMade()) return true
  if (FORMAT_FACTS[format].exact) return isSame(ifRange as string | undefined, etag)
  // A new file would have other bytes than the one of which the client has pieces already.
  return ifRange === undefined && /^bytes=\s*0?-/.test(range)
}

/** A complete answer with rows, kept to be sent again. */
export interface Answer {
  readonly etag: string
  readonly body: Buffer
  /** The headers that describe the body: Content-Type and Content-Encoding. */
  readonly headers: Readonly<Record<string, string>>
  readonly rows: number
  /** The value of `Row-Count`; undefined if it was not sent. */
  readonly matches: number | undefined
}

/** The most bytes of an answer that is kept. For larger ones, sending costs more than making them again. */
export const SMALL_ANSWER = 256 * 1024

/** Bytes of memory for an entry without its key and body. */
const SMALLEST = 512

/**
 * Keeps answers by version and query; undefined if no bytes are allowed. A version never changes, so no answer is ever
 * outdated; for the same reason, only answers may be kept that are whole and have as many rows as were counted.
 * @param bytes the most bytes of all answers together
 */
export function answerCache(bytes: number): LRUCache<string, Answer> | undefined {
  if (bytes < SMALLEST) return undefined
  const sizeCalculation = ({ body }: Answer, key: string) => SMALLEST + 2 * key.length + body.byteLength
  return new LRUCache({ maxSize: bytes, sizeCalculation })
}

/**
 * The key of an answer in the cache; undefined if the query uses `now()`, so that its answer changes with time.
 * @param identity dataset and version
 * @param options the options as the client gave them; their order does not matter
 */
export function cacheKeyOf(identity: string, options: object): string | undefined {
  const asked = JSON.stringify(Object.entries(options).sort(([one], [other]) => (one < other ? -1 : 1)))
  // In JSON, tabs and line ends before the parenthesis are escapes.
  return /now(?:\s|\\[tnrf]|\\u000b)*\(/i.test(asked) ? undefined : `${identity} ${asked}`
}

/** The name under which an answer is kept. */
export function keptAs({ cacheKey, format, encoding }: Announced, coding: Coding | undefined) {
  return cacheKey && `${cacheKey} ${format} ${coding ?? ''} ${encoding ? JSON.stringify(encoding) : ''}`
}

/** The headers that differ for each answer: the name under which to save it, and how long it took. */
export function headersOf({ trace }: { readonly trace: Trace }, { contentType, name, format }: Announced) {
  return {
    ...(!contentType && {
      'content-disposition': attachment(name, format),
      'accept-ranges': 'bytes',
    }),
    'server-timing': trace.serverTiming,
  }
}

/** The text around the rows, if it does not depend on a count that is still unknown. */
export function knownEnvelope({ query, envelope }: Download): EncodeOptions['envelope'] {
  // The process that writes the rows of a statement can't call functions of ours.
  if (!envelope || query.plan.columns.length === 0 || query.plan.scan.kind === 'query') return undefined
  const { before, after } = envelope
  const matches = query.knownRowCount
  if (typeof before === 'function' && matches === undefined) return undefined
  return {
    before: typeof before === 'function' ? before(matches!) : before,
    after: (rows) => (typeof after === 'function' ? after(rows) : after),
  }
}

/** The rows with the text before and after them. */
export async function* between(
  rows: ByteStream,
  { before, after }: Envelope,
  matches: number | undefined,
): AsyncGenerator<Uint8Array> {
  const start = typeof before === 'function' ? before(matches!) : before
  if (start !== '') yield Buffer.from(start)
  yield* rows
  const end = typeof after === 'function' ? after(rows.rows()) : after
  if (end !== '') yield Buffer.from(end)
}

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

/** An infinite double in csv, tsv, json or ndjson. It may be a word of a text, too. */
const INFINITY = /(?<!\w)INF(?!\w)/

/**
 * Logs the parameters of a computed answer that has infinities although the rows that it was computed from have none.
 * That may be right: a number divided by 0 as a double is infinite. But once `price div 200` gave such an answer, as if
 * 0 had been bound in place of 200, and nothing told what had been bound.
 * @param coding how `body` is compressed
 */
export async function logInfinities(
  query: Query,
  body: Buffer,
  coding: Coding | undefined,
  log: FastifyBaseLogger,
): Promise<void> {
  const { stepParameters: parameters } = query.plan
  if (parameters.length === 0) return
  const text = (coding === 'gzip' ? gunzipSync(body) : body).toString('latin1')
  if (!INFINITY.test(text) || (await query.readsInfinities())) return
  log.warn({ parameters }, 'a computed answer has infinities where what it was computed from has none')
}
