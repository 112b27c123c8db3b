import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ByteStream, Format, Query } from '../../engine/index.ts'
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
  readonly around?: readonly [before: string, after: string]
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
      const stream = await this.#open(request, reply, download, transfer)
      inTime()
      const { contentType, extension } = FORMAT_FACTS[format]
      reply.headers({
        'content-type': contentType,
        'content-disposition': attachment(download.name, extension),
        'server-timing': request.trace.serverTiming,
        ...(coding && { 'content-encoding': coding }),
      })
      return reply.send(stream && this.#body(request, reply, { ...download, coding, stream, transfer }))
    } catch (error) {
      const reason = transfer.reason ?? error
      transfer.abort(reason as Error)
      throw reason
    }
  }

  /** Waits for a place, counts what must be counted, and opens the stream of bytes; none for HEAD. */
  async #open(
    request: FastifyRequest,
    reply: FastifyReply,
    download: Download,
    transfer: Transfer,
  ): Promise<ByteStream | undefined> {
    const { query, window } = download
    const { signal } = transfer
    const place = await this.gate.enter(request.account.id, signal)
    transfer.onClose(() => place[Symbol.dispose]())
    request.trace.stage('queue')
    const mustCount = window.top !== undefined || window.last !== undefined
    if (request.method === 'HEAD') {
      const count = mustCount ? await query.count({ signal }) : query.knownRowCount
      if (count !== undefined) reply.header('row-count', count)
      return undefined
    }
    const open = async () => {
      const stream = await query.bytes(download.format, { signal, sheetName: download.name })
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
    return stream
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
    sending: Download & { coding: Coding | undefined; stream: ByteStream; transfer: Transfer },
  ): Readable {
    const { format, stream, transfer } = sending
    const { trace } = request
    const { metrics } = this.#parts
    const body = bodyStream(between(stream, sending.around), sending.coding)
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
  #entityTag({ query, format }: Download, coding: Coding | undefined): string {
    const opaque = [query.etag, this.#release, format, ...(coding ? [coding] : [])].join('-')
    const strong = FORMAT_FACTS[format].exact && coding === undefined
    return `${strong ? '' : 'W/'}"${opaque}"`
  }
}

async function* between(rows: ByteStream, around: Download['around']): AsyncGenerator<Uint8Array> {
  if (around) yield Buffer.from(around[0])
  yield* rows
  if (around) yield Buffer.from(around[1])
}
