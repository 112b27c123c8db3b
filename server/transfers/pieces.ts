import { randomBytes, randomUUID } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { ByteStream } from '../../engine/index.ts'
import { SingleFlight } from '../../engine/util/shared.ts'
import type { Usage } from '../accounts/plans.ts'
import { ServerError } from '../http/errors.ts'
import type { Download } from './download.ts'
import { type Coding, FORMAT_FACTS } from './formats.ts'
import type { Transfer } from './transfer.ts'

/** Bytes of which a client may ask for ranges. */
export interface Pieces {
  /** The entity tag, with its quotes. */
  readonly tag: string
  readonly type: string
  readonly bytes: number
  /** Bytes `from` (inclusive) to `to` (exclusive). */
  readonly read: (from: number, to: number) => AsyncIterable<Uint8Array>
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
  const requested = isSame(headers['if-range'] as string | undefined, tag)
    ? rangesIn(headers.range, bytes)
    : undefined
  if (requested === 'none') {
    throw new ServerError(
      'range_not_satisfiable',
      `The file has ${bytes} bytes; none of the ranges is within it.`,
      { headers: { 'content-range': `bytes */${bytes}` } },
    )
  }
  const ranges = requested ?? [{ from: 0, to: bytes }]
  const rows = method === 'HEAD' ? undefined : pieces.rowsOf(ranges)
  // It may refuse, and then nothing may say what bytes these are.
  const reservation = rows === undefined ? undefined : await usage.reserve(account, rows)
  const body = ranges.length === 1 ? single(pieces, ranges[0]!) : several(pieces, ranges)
  if (requested?.length === 1) reply.header('content-range', contentRange(requested[0]!, bytes))
  reply.code(requested ? 206 : 200).headers(body.headers)
  if (method === 'HEAD') return reply.send()

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

function single({ type, read }: Pieces, { from, to }: ByteRange): Body {
  return { headers: { 'content-type': type, 'content-length': to - from }, bytes: () => read(from, to) }
}

/** Several ranges in one body (RFC 9110, 14.6). */
function several({ type, bytes, read }: Pieces, ranges: readonly ByteRange[]): Body {
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
        yield* read(from, to)
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

/**
 * Whether an answer is read in pieces: its client asks for a range, or by HEAD for the length that it needs to do so.
 * @param isMade whether there is a file with these bytes
 */
export function isInPieces(
  { method, headers }: FastifyRequest,
  { format, contentType }: Download,
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

/** Whether `If-Range` allows to send a range: its tag must be strong and the same (RFC 9110, 13.1.5). */
function isSame(ifRange: string | undefined, tag: string): boolean {
  return ifRange === undefined || (ifRange.trim() === tag && !tag.startsWith('W/'))
}

function contentRange({ from, to }: ByteRange, length: number): string {
  return `bytes ${from}-${to - 1}/${length}`
}

/** How long a file is kept after its last use. */
const KEPT_MS = 5 * 60_000
const MOST_FILES = 1_000
const READ_BYTES = 256 * 1024

/** The bytes of an answer, which are those of the stream and the text around them. */
export interface Written {
  readonly bytes: AsyncIterable<Uint8Array>
  readonly stream: ByteStream
  /** How many rows match, if they were counted. */
  readonly matches: number | undefined
}

export type Save = (written: Written) => Promise<ExportFile | undefined>

/** All bytes of an export in a temporary file, which is removed when nobody uses it any more. */
export class ExportFile implements AsyncDisposable {
  readonly id = randomUUID()
  readonly bytes: number
  readonly rows: number
  readonly matches: number | undefined
  readonly #file: FileHandle
  readonly #remove: () => Promise<void>
  #users = 1

  constructor(file: FileHandle, bytes: number, { stream, matches }: Written, remove: () => Promise<void>) {
    this.#file = file
    this.bytes = bytes
    this.rows = stream.rows()
    this.matches = matches
    this.#remove = remove
  }

  /** Keeps the file for one more user, who disposes it; false if it has been removed. */
  hold(): boolean {
    if (this.#users === 0) return false
    this.#users += 1
    return true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#users -= 1
    if (this.#users === 0) await this.#remove()
  }

  /** Bytes `from` (inclusive) to `to` (exclusive). */
  async *read(from: number, to: number): AsyncGenerator<Uint8Array, void, undefined> {
    for (let at = from; at < to; ) {
      const length = Math.min(READ_BYTES, to - at)
      const { buffer, bytesRead } = await this.#file.read(Buffer.allocUnsafeSlow(length), { position: at })
      if (bytesRead === 0) throw new Error('a temporary file is shorter than it was')
      at += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  }
}

/**
 * Writes exports to temporary files, for clients that read them in pieces or resume them. Each is written once for all
 * who ask for it, and removed some minutes after its last use, or earlier if others need the room.
 */
export class ExportFiles {
  readonly #directory: string
  readonly #most: number
  #bytes = 0
  readonly #writing = new SingleFlight<ExportFile | undefined>()
  readonly #tooLarge = new LRUCache<string, true>({ max: MOST_FILES, ttl: KEPT_MS })
  readonly #files = new LRUCache<string, ExportFile>({
    max: MOST_FILES,
    ttl: KEPT_MS,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (file) => void file[Symbol.asyncDispose](),
  })

  /** @param most the most bytes of all files together; 0 makes none */
  constructor(directory: string, most: number) {
    this.#directory = directory
    this.#most = most
  }

  has(tag: string): boolean {
    return this.#files.has(tag)
  }

  /** Whether a file of this tag is there or could be, as far as is known. */
  mayMake(tag: string): boolean {
    return this.#most > 0 && !this.#tooLarge.has(tag)
  }

  /**
   * Gives the file of an entity tag, held for the caller, who disposes it; undefined if it is too large, or not written
   * in time. It is then not tried again for some minutes.
   * @param make produces the bytes and saves them, unless there is such a file or another caller has it made already
   * @param patience the most milliseconds for making it
   */
  async get(
    tag: string,
    make: (signal: AbortSignal, save: Save) => Promise<ExportFile | undefined>,
    patience: number,
    signal: AbortSignal,
  ): Promise<ExportFile | undefined> {
    if (!this.mayMake(tag)) return undefined
    const once = async (abandoned: AbortSignal) => {
      const late = AbortSignal.timeout(patience)
      const file = await make(AbortSignal.any([abandoned, late]), (written) => this.#save(written)).catch(
        (error: NodeJS.ErrnoException) => {
          if (late.aborted || error.code === 'ENOSPC') return undefined
          throw error
        },
      )
      if (file) this.#files.set(tag, file)
      else this.#tooLarge.set(tag, true)
      return file
    }
    for (;;) {
      const file = this.#files.get(tag) ?? (await this.#writing.run(tag, once, signal))
      if (!file || file.hold()) return file
    }
  }

  clear(): void {
    this.#files.clear()
  }

  /** Writes a file; gives undefined if there is no room for it. */
  async #save(written: Written): Promise<ExportFile | undefined> {
    const path = join(this.#directory, `export-${randomUUID()}`)
    const file = await open(path, 'wx+', 0o600)
    let bytes = 0
    const remove = async () => {
      this.#bytes -= bytes
      await file.close()
      await rm(path, { force: true })
    }
    try {
      for await (const piece of written.bytes) {
        bytes += piece.byteLength
        this.#bytes += piece.byteLength
        while (this.#bytes > this.#most && this.#files.size > 0) {
          this.#files.pop()
          await setImmediate()
        }
        if (this.#bytes > this.#most) {
          await remove()
          return undefined
        }
        await file.appendFile(piece)
        written.stream.recycle(piece)
      }
      return new ExportFile(file, bytes, written, remove)
    } catch (error) {
      await remove()
      throw error
    }
  }
}
