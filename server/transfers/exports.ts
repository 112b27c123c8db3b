import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ByteStream, Format, ODataJson, Query } from '../../engine/index.ts'
import type { Plans } from '../accounts/plans.ts'
import type { Reservation, Usage } from '../accounts/usage.ts'
import type { Outcome } from '../metrics/metrics.ts'
import { bodyStream } from './compress.ts'
import { FORMAT_FACTS } from './formats.ts'
import { Gate } from './gate.ts'
import { attachment, type Coding, chooseCoding, matchesTag } from './negotiate.ts'
import { Transfer } from './transfer.ts'
import type { TransferParts } from './uploads.ts'

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
  /** Text that stands before and after the rows. */
  readonly around?: Around
  /** How json is written, where not as ours. */
  readonly odata?: ODataJson
  /** Where it is not the format's own. Such an answer is no file to save. */
  readonly contentType?: string
  /** What else the bytes depend on, for the entity tag. */
  readonly variant?: string
}

/** Text that stands before and after the rows. */
export interface Around {
  /** A function is given the number of rows that match, which are counted for it. */
  readonly before: string | ((matches: number) => string)
  /** Given the number of rows sent. */
  readonly after: string | ((rows: number) => string)
}

/** What downloads work with. */
interface ExportParts extends TransferParts {
  readonly usage: Usage
  readonly plans: Plans
}

/**
 * Sends the rows of queries: as many at once as the limits allow, counted against the plan, compressed as the client
 * likes, and cut when nobody reads.
 */
export class Exports {
  readonly gate: Gate
  readonly #parts: ExportParts
  /** Part of each entity tag, since another release may write the same rows as other bytes. */
  readonly #release: string

  constructor(parts: ExportParts, release: string) {
    const { exports, exportsPerAccount, queue } = parts.config.limits
    this.#parts = parts
    this.#release = release
    this.gate = new Gate('downloads', {
      places: exports,
      placesPerAccount: exportsPerAccount,
      queue,
      wait: parts.config.timeouts.queue,
    })
  }

  /**
   * Answers a request with a download: headers alone for HEAD, 304 where the client has it. Whatever can be refused
   * is, before the first byte; after it a failure ends the connection.
   */
  async send(request: FastifyRequest, reply: FastifyReply, download: Download): Promise<FastifyReply> {
    const { query, format } = download
    const coding = FORMAT_FACTS[format].compressible
      ? chooseCoding(request.headers['accept-encoding'])
      : undefined
    const tag = this.#entityTag(download, coding)
    reply.headers({ etag: tag, vary: 'Accept-Encoding', 'cache-control': 'private, no-cache' })
    if (matchesTag(request.headers['if-none-match'], tag)) {
      query[Symbol.dispose]()
      return reply.code(304).send()
    }
    const { lifecycle, config } = this.#parts
    const transfer = new Transfer(request, reply, lifecycle, config.timeouts)
    transfer.onClose(() => query[Symbol.dispose]())
    try {
      const inTime = transfer.firstByteBy(config.timeouts.firstByte)
      const opened = await this.#open(request, reply, download, transfer)
      inTime()
      const { contentType, extension } = FORMAT_FACTS[format]
      reply.headers({
        'content-type': download.contentType ?? contentType,
        ...(!download.contentType && { 'content-disposition': attachment(download.name, extension) }),
        'server-timing': request.trace.serverTiming,
        ...(coding && { 'content-encoding': coding }),
      })
      return reply.send(opened && this.#body(request, reply, { ...download, coding, ...opened, transfer }))
    } catch (error) {
      const reason = transfer.reason ?? error
      transfer.abort(reason as Error)
      throw reason
    }
  }

  /** Reads a few rows into memory, in their format, with the limits and the counting of a download. */
  async read(request: FastifyRequest, reply: FastifyReply, download: Download): Promise<Buffer> {
    return this.#within(request, reply, download.query, async (transfer) => {
      const opened = await this.#open(request, reply, download, transfer)
      const chunks: Uint8Array[] = []
      for await (const chunk of opened?.stream ?? []) chunks.push(Buffer.from(chunk))
      request.trace.rows = opened?.stream.rows() ?? 0
      return Buffer.concat(chunks)
    })
  }

  /** How many rows match, with the limits of a download. */
  async count(request: FastifyRequest, reply: FastifyReply, query: Query): Promise<number> {
    return this.#within(request, reply, query, async (transfer) => {
      const { signal } = transfer
      const place = await this.gate.enter(request.account.id, signal)
      transfer.onClose(() => place[Symbol.dispose]())
      return query.count({ signal })
    })
  }

  /** Does work that ends before the answer begins; the query is disposed with the connection. */
  async #within<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    query: Query,
    work: (transfer: Transfer) => Promise<T>,
  ): Promise<T> {
    const { lifecycle, config } = this.#parts
    const transfer = new Transfer(request, reply, lifecycle, config.timeouts)
    transfer.onClose(() => query[Symbol.dispose]())
    const inTime = transfer.firstByteBy(config.timeouts.firstByte)
    try {
      return await work(transfer)
    } catch (error) {
      throw transfer.reason ?? error
    } finally {
      inTime()
    }
  }

  /** Waits for a place, counts what must be counted, and opens the stream of bytes; none for HEAD. */
  async #open(
    request: FastifyRequest,
    reply: FastifyReply,
    download: Download,
    transfer: Transfer,
  ): Promise<{ stream: ByteStream; matches: number | undefined } | undefined> {
    const { query, window, around } = download
    const { signal } = transfer
    const place = await this.gate.enter(request.account.id, signal)
    transfer.onClose(() => place[Symbol.dispose]())
    request.trace.stage('queue')
    const mustCount =
      window.top !== undefined || window.last !== undefined || typeof around?.before === 'function'
    if (request.method === 'HEAD') {
      const count = mustCount ? await query.count({ signal }) : query.knownRowCount
      if (count !== undefined) reply.header('row-count', count)
      return undefined
    }
    const open = async () => {
      const { format, name: sheetName, odata } = download
      const stream = await query.bytes(format, { signal, sheetName, ...(odata && { odata }) })
      // Nobody reads it to its end where counting fails or the client has left meanwhile.
      transfer.onClose(() => stream[Symbol.asyncDispose]())
      return stream
    }
    // Counting and the first rows don't wait for each other, unless their number decides whether they may be had.
    const early = this.#mayExceed(request, download) ? undefined : open()
    early?.catch(() => {})
    const count = mustCount || !early ? await query.count({ signal }) : query.knownRowCount
    if (count !== undefined) reply.header('row-count', count)
    const reservation = this.#reserve(request, download, count)
    transfer.onClose(() => reservation?.settle(request.trace.rows ?? 0))
    const stream = await (early ?? open())
    request.trace.stage('rows')
    return { stream, matches: count }
  }

  /** Whether the plan may not allow as many rows as could come out. */
  #mayExceed({ account }: FastifyRequest, { query, meteredRows }: Download): boolean {
    if (meteredRows === undefined) return false
    const limit = this.#parts.plans.limits(account.plan).exportedRows
    const most = query.resultRows(query.knownRowCount ?? meteredRows)
    return most > this.#parts.usage.remaining(account.id, limit)
  }

  #reserve(
    { account }: FastifyRequest,
    { query, meteredRows }: Download,
    count: number | undefined,
  ): Reservation | undefined {
    if (meteredRows === undefined) return undefined
    const limit = this.#parts.plans.limits(account.plan).exportedRows
    return this.#parts.usage.reserve(account, limit, query.resultRows(count ?? meteredRows))
  }

  /** The stream as Fastify sends it, watched until its end. */
  #body(
    request: FastifyRequest,
    reply: FastifyReply,
    sending: Download & {
      coding: Coding | undefined
      stream: ByteStream
      matches: number | undefined
      transfer: Transfer
    },
  ): Readable {
    const { format, stream, transfer } = sending
    const { trace } = request
    const { metrics } = this.#parts
    const body = bodyStream(between(stream, sending.around, sending.matches), sending.coding)
    let failed = false
    const { raw } = reply
    const sent: Uint8Array[] = []
    trace.bytes = 0
    body.on('data', (chunk: Uint8Array) => {
      // Nothing waits in the socket, so whatever was given to it has left.
      if (raw.writableLength === 0) for (const one of sent.splice(0)) stream.recycle(one)
      sent.push(chunk)
      if (trace.firstByte === undefined) {
        trace.firstByte = trace.elapsed
        metrics.exportStarted(format, trace.firstByte / 1000)
      }
      trace.bytes! += chunk.byteLength
      trace.rows = stream.rows()
    })
    // Paused, because it's Fastify who starts the flow, and not before the headers.
    body.pause()
    body.on('error', () => {
      failed = true
      // Without chunks the end of the connection is the end of the body: only a reset tells the client.
      if (request.raw.httpVersion === '1.0') request.raw.socket.resetAndDestroy()
    })
    transfer.watch(
      () => raw.writableNeedDrain || (raw.writableEnded && raw.writableLength > 0),
      () => raw.destroy(),
    )
    transfer.onClose(() => {
      const outcome: Outcome = raw.writableFinished
        ? 'whole'
        : failed
          ? 'failed'
          : transfer.stalled
            ? 'stalled'
            : 'left'
      metrics.exportEnded(format, {
        outcome,
        rows: trace.rows ?? 0,
        bytes: trace.bytes ?? 0,
        seconds: trace.elapsed / 1000,
      })
    })
    return body
  }

  /** Strong where equal tags mean equal bytes, weak where compression or a container may differ (RFC 9110, 8.8.1). */
  #entityTag({ query, format, variant }: Download, coding: Coding | undefined): string {
    const opaque = [query.etag, this.#release, format, variant, coding].filter(Boolean).join('-')
    const strong = FORMAT_FACTS[format].exact && coding === undefined
    return `${strong ? '' : 'W/'}"${opaque}"`
  }
}

async function* between(
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
