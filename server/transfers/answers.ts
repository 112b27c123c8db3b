import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Query } from '../../engine/index.ts'
import { endingOf } from '../../engine/types/index.ts'
import { attachment } from '../http/headers.ts'
import type { Download } from './download.ts'
import type { Coding } from './formats.ts'

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

/** An answer whose body is there as a whole. */
export type Whole = Omit<Answer, 'etag'>

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
 * The name under which an answer is kept: all on which its bytes and headers depend.
 * @param key that of the query, which names the rows that were read
 */
export function answerName(
  key: ReturnType<Query['key']>,
  { counted, encoding, variant }: Download,
  coding: Coding | undefined,
): string {
  return [key, counted, coding, encoding && JSON.stringify(encoding), variant].join(' ')
}

/** Sends a complete answer, with its length. */
export function sendWhole(
  request: FastifyRequest,
  reply: FastifyReply,
  download: Download,
  { headers, body, matches }: Whole,
  inPieces: boolean,
): FastifyReply {
  reply.headers({ ...headers, ...headersOf(request, download, inPieces), 'content-length': body.byteLength })
  if (matches !== undefined) reply.header('row-count', matches)
  return reply.send(request.method === 'HEAD' ? undefined : body)
}

/** The headers that differ for each answer: the name under which to save it, and how long it took. */
export function headersOf(
  { trace }: FastifyRequest,
  { contentType, name, format }: Download,
  inPieces: boolean,
) {
  return {
    ...(!contentType && { 'content-disposition': attachment(name, endingOf(format)) }),
    ...(!contentType && inPieces && { 'accept-ranges': 'bytes' }),
    'server-timing': trace.serverTiming,
  }
}
