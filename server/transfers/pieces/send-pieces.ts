import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Usage } from '../../accounts/plans.ts'
import { ServerError } from '../../http/errors.ts'
import type { Transfer } from '../transfer.ts'

/** Bytes of which a client may ask for ranges. */
export interface Pieces {
  /** The entity tag, with its quotes. */
  readonly tag: string
  readonly type: string
  readonly bytes: number
  /** Bytes `from` (inclusive) to `to` (exclusive). */
  read(from: number, to: number): AsyncIterable<Uint8Array>
  /** The number of rows that ranges count as; undefined where rows don't count against the plan. */
  rowsOf(ranges: readonly ByteRange[]): number | undefined
}

/**
 * Answers with the ranges that were asked for, or with everything, and with the headers alone for HEAD. Rows count
 * against the plan by the share of their bytes that was sent.
 */
export async function sendPieces(
  { usage }: { readonly usage: Usage },
  transfer: Transfer,
  pieces: Pieces,
): Promise<FastifyReply> {
  const { reply } = transfer
  const { headers, method, account, trace } = transfer.request
  const { tag, bytes } = pieces
  reply.headers({ etag: tag, 'accept-ranges': 'bytes' })
  const asked = isSame(headers['if-range'] as string | undefined, tag)
    ? rangesIn(headers.range, bytes)
    : undefined
  if (asked === 'none') {
    throw new ServerError(
      'range_not_satisfiable',
      `The file has ${bytes} bytes; none of the ranges is within it.`,
      { headers: { 'content-range': `bytes */${bytes}` } },
    )
  }
  const ranges = asked ?? [{ from: 0, to: bytes }]
  const body = ranges.length === 1 ? single(pieces, ranges[0]!, asked !== undefined) : several(pieces, ranges)
  reply.code(asked ? 206 : 200).headers(body.headers)
  if (method === 'HEAD') return reply.send()

  const rows = pieces.rowsOf(ranges)
  const reservation = rows === undefined ? undefined : await usage.reserve(account, rows)
  const total = ranges.reduce((sum, { from, to }) => sum + to - from, 0)
  let sent = 0
  transfer.onClose(() => reservation?.settle(Math.min(Math.ceil((rows! * sent) / Math.max(total, 1)), rows!)))
  transfer.watchSocket()
  if (rows !== undefined) trace.rows = rows
  const counted = async function* () {
    for await (const piece of body.bytes()) {
      sent += piece.byteLength
      yield piece
    }
  }
  return reply.send(Readable.from(counted(), { objectMode: false }))
}

interface Body {
  readonly headers: Readonly<Record<string, string | number>>
  readonly bytes: () => AsyncIterable<Uint8Array>
}

function single(pieces: Pieces, { from, to }: ByteRange, isRange: boolean): Body {
  return {
    headers: {
      'content-type': pieces.type,
      'content-length': to - from,
      ...(isRange && { 'content-range': contentRange({ from, to }, pieces.bytes) }),
    },
    bytes: () => pieces.read(from, to),
  }
}

/** Several ranges in one body (RFC 9110, 14.6). */
function several(pieces: Pieces, ranges: readonly ByteRange[]): Body {
  const { type, bytes } = pieces
  const boundary = randomBytes(18).toString('hex')
  const heads = ranges.map((range) =>
    Buffer.from(
      `\r\n--${boundary}\r\nContent-Type: ${type}\r\nContent-Range: ${contentRange(range, bytes)}\r\n\r\n`,
    ),
  )
  const end = Buffer.from(`\r\n--${boundary}--\r\n`)
  const length = ranges.reduce(
    (sum, { from, to }, index) => sum + heads[index]!.length + to - from,
    end.length,
  )
  return {
    headers: { 'content-type': `multipart/byteranges; boundary=${boundary}`, 'content-length': length },
    async *bytes() {
      for (const [index, { from, to }] of ranges.entries()) {
        yield heads[index]!
        yield* pieces.read(from, to)
      }
      yield end
    },
  }
}

/** Bytes `from` (inclusive) to `to` (exclusive). */
export interface ByteRange {
  readonly from: number
  readonly to: number
}

/** The most ranges in one request. Readers of columns ask for fewer. */
const MOST_RANGES = 200

/**
 * The ranges that a `Range` header asks for, cut to the length of the content (RFC 9110, 14.1.2).
 * @returns undefined if everything is to be sent: there is no header, it has another unit, or it is malformed, in which
 * case RFC 9110, 14.2 says to ignore it; `none` if no range is within the content or there are too many (416)
 */
export function rangesIn(
  header: string | undefined,
  length: number,
): readonly ByteRange[] | 'none' | undefined {
  const match = /^bytes=(.+)$/i.exec(header?.trim() ?? '')
  if (!match) return undefined
  const ranges: ByteRange[] = []
  const specs = match[1]!.split(',')
  if (specs.length > MOST_RANGES) return 'none'
  for (const spec of specs) {
    const [, first, last] = /^\s*(\d*)-(\d*)\s*$/.exec(spec) ?? []
    if (first === undefined || (first === '' && last === '')) return undefined
    if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined
    const from = first === '' ? Math.max(length - Number(last), 0) : Number(first)
    const to = first === '' || last === '' ? length : Math.min(Number(last) + 1, length)
    if (from < to) ranges.push({ from, to })
  }
  return ranges.length > 0 ? ranges : 'none'
}

/** Whether `If-Range` allows to send a range: its tag must be strong and the same (RFC 9110, 13.1.5). */
export function isSame(ifRange: string | undefined, tag: string): boolean {
  return ifRange === undefined || (ifRange.trim() === tag && !tag.startsWith('W/'))
}

/** The header `Content-Range` for a range. */
function contentRange({ from, to }: ByteRange, length: number): string {
  return `bytes ${from}-${to - 1}/${length}`
}
