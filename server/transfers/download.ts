import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { ByteStream, EncodeOptions, Format, ODataJson, Query } from '../../engine/index.ts'
import { attachment, SECURITY_HEADERS } from '../http/headers.ts'
import type { Trace } from '../http/metrics.ts'
import { type Coding, chooseCoding, FORMAT_FACTS } from './formats.ts'
import { isSame } from './pieces.ts'

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
