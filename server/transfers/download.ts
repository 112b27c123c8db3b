import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ByteStream, EncodeOptions, Format, ODataJson, Query } from '../../engine/index.ts'
import { SECURITY_HEADERS } from '../http/headers.ts'
import type { Trace } from '../http/trace.ts'
import { FORMAT_FACTS } from './formats.ts'
import { attachment, type Coding, chooseCoding } from './negotiate.ts'

/** What is to be downloaded. The query is disposed when the download is over. */
export interface Download {
  readonly query: Query
  /** The window that the query was made with. */
  readonly window: { readonly top?: number; readonly last?: number; readonly skip?: number }
  readonly format: Format
  /** Of the file, without extension. */
  readonly name: string
  /** Rows before filter and window, where rows count against the plan; undefined where they don't. */
  readonly meteredRows: number | undefined
  /** Whether the number of rows is wanted whatever it costs. */
  readonly counted?: boolean
  /** Text that stands before and after the rows. */
  readonly around?: Around
  /** How json is written, where not as ours. */
  readonly odata?: ODataJson
  /** How the format is written, where something is said of it. */
  readonly encoding?: EncodeOptions
  /** Where it is not the format's own. Such an answer is no file to save. */
  readonly contentType?: string
  /** What else the bytes depend on, for the entity tag. */
  readonly variant?: string
  /** Names version and question, where the answer is always the same; see `questionOf`. */
  readonly question?: string | undefined
}

/** What can be said of a download before its rows are asked for. */
export type Announced = Omit<Download, 'query' | 'window'>

/** Text that stands before and after the rows. */
export interface Around {
  /** A function is given the number of rows that match, which are counted for it. */
  readonly before: string | ((matches: number) => string)
  /** Given the number of rows sent. */
  readonly after: string | ((rows: number) => string)
}

/** The headers that all answers with rows have, also those without a body. */
export const OF_ALL_ROWS = { vary: 'Accept, Accept-Encoding', 'cache-control': 'private, no-cache' }

/** Strong where equal tags mean equal bytes, weak where compression or a container may differ (RFC 9110, 8.8.1). */
export function entityTag(download: Download, coding: Coding | undefined, release: string): string {
  const { query, format, variant, encoding } = download
  const written =
    encoding && createHash('sha256').update(JSON.stringify(encoding)).digest('base64url').slice(0, 12)
  const opaque = [query.etag, release, format, variant, written, coding].filter(Boolean).join('-')
  const strong = FORMAT_FACTS[format].exact && coding === undefined
  return `${strong ? '' : 'W/'}"${opaque}"`
}

/** The client keeps what it has, with the headers that came with it: only these are said anew (RFC 9110, 15.4.5). */
export function notModified(reply: FastifyReply): FastifyReply {
  for (const name of Object.keys(SECURITY_HEADERS)) reply.removeHeader(name)
  return reply.code(304).send()
}

export function codingFor(request: FastifyRequest, format: Format): Coding | undefined {
  return FORMAT_FACTS[format].compressible ? chooseCoding(request.headers['accept-encoding']) : undefined
}

/** The name of an answer among those that are kept. */
export function keptAs({ question, format, encoding }: Announced, coding: Coding | undefined) {
  return question && `${question} ${format} ${coding ?? ''} ${encoding ? JSON.stringify(encoding) : ''}`
}

/** The headers of one answer: under which name to save it, and how long it took. */
export function headersOf({ trace }: { readonly trace: Trace }, { contentType, name, format }: Announced) {
  return {
    ...(!contentType && { 'content-disposition': attachment(name, FORMAT_FACTS[format].extension) }),
    'server-timing': trace.serverTiming,
  }
}

/** The rows with what stands around them. */
export async function* between(
  rows: ByteStream,
  around: Around | undefined,
  matches: number | undefined,
): AsyncGenerator<Uint8Array> {
  const { before = '', after = '' } = around ?? {}
  const start = typeof before === 'function' ? before(matches!) : before
  if (start !== '') yield Buffer.from(start)
  yield* rows
  const end = typeof after === 'function' ? after(rows.rows()) : after
  if (end !== '') yield Buffer.from(end)
}
