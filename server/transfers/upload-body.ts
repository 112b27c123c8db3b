import type { FastifyRequest } from 'fastify'
import type { UploadFormat } from '../../engine/index.ts'
import { checkParameters } from '../http/body.ts'
import { ServerError } from '../http/errors.ts'

/** The content types of uploads, with their format and whether they may be sent with gzip. */
export const UPLOAD_TYPES: Readonly<Record<string, { format: UploadFormat; gzip: boolean }>> = {
  'application/json': { format: 'json', gzip: true },
  'text/csv': { format: 'csv', gzip: true },
  'text/tab-separated-values': { format: 'tsv', gzip: true },
  'application/x-ndjson': { format: 'ndjson', gzip: true },
  'application/vnd.apache.parquet': { format: 'parquet', gzip: false },
  'application/vnd.apache.arrow.stream': { format: 'arrow', gzip: false },
  'application/vnd.apache.arrow.file': { format: 'arrow', gzip: false },
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': { format: 'xlsx', gzip: false },
}

/** Format and compression of a body according to its headers. @throws ServerError `unsupported_media_type` */
export function uploadType(request: FastifyRequest): { format: UploadFormat; gzip: boolean } {
  const given = request.headers['content-type'] ?? ''
  const type = given.split(';', 1)[0]!.trim().toLowerCase()
  const known = Object.hasOwn(UPLOAD_TYPES, type) ? UPLOAD_TYPES[type]! : undefined
  if (!known) {
    const problem = type === '' ? 'There is no Content-Type' : `The Content-Type ${type} is not supported`
    throw unsupported(`${problem}; send uploads as ${Object.keys(UPLOAD_TYPES).join(', ')}.`)
  }
  checkParameters(given)
  return { format: known.format, gzip: isGzip(request.headers['content-encoding'], type, known.gzip) }
}

function isGzip(header: string | undefined, type: string, allowed: boolean): boolean {
  const coding = (header ?? 'identity').trim().toLowerCase()
  if (coding === 'identity') return false
  if (coding !== 'gzip' && coding !== 'x-gzip') {
    throw unsupported(
      `The Content-Encoding ${coding} is not supported; send uploads with gzip or without Content-Encoding.`,
    )
  }
  if (!allowed)
    throw unsupported(`${type} is already compressed and is not accepted with Content-Encoding: gzip.`)
  return true
}

/** @throws ServerError `body_too_large` */
export function checkDeclaredLength(request: FastifyRequest, most: number): void {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared <= most) return
  throw new ServerError('body_too_large', `The body has ${declared} bytes; the limit is ${most}.`)
}

/** The beginning of a body, and the whole body. */
export interface Peeked {
  readonly head: Buffer
  /** Whether `head` is the whole body. */
  readonly whole: boolean
  /** The body from its first byte on; it can be read once. */
  readonly body: AsyncIterable<Uint8Array>
}

/** Reads the first bytes of a body, so that the caller can look at them and still read the whole body. */
export async function peek(source: AsyncIterable<Uint8Array>, bytes: number): Promise<Peeked> {
  const iterator = source[Symbol.asyncIterator]()
  const chunks: Uint8Array[] = []
  let length = 0
  let whole = false
  while (length < bytes && !whole) {
    const next = await iterator.next()
    if (next.done) whole = true
    else {
      chunks.push(next.value)
      length += next.value.byteLength
    }
  }
  const rest: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => iterator }
  return {
    head: Buffer.concat(chunks),
    whole,
    body: (async function* () {
      yield* chunks
      if (!whole) yield* rest
    })(),
  }
}

function unsupported(message: string): ServerError {
  return new ServerError('unsupported_media_type', message)
}
