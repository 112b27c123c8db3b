import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ByteStream, Format, Query } from '../../engine/index.ts'
import type { Plans } from '../accounts/plans.ts'
import type { Reservation, Usage } from '../accounts/usage.ts'
import type { Outcome } from '../metrics/metrics.ts'
import { type Answer, AnswerCache, SMALL_ANSWER } from './answer-cache.ts'
import { bodyStream } from './compress.ts'
import {
  type Announced,
  type Around,
  between,
  codingFor,
  type Download,
  entityTag,
  headersOf,
  keptAs,
  knownAround,
  notModified,
  OF_ALL_ROWS,
} from './download.ts'
import { FORMAT_FACTS } from './formats.ts'
import { Gate } from './gate.ts'
import { type Coding, matchesTag } from './negotiate.ts'
import { encoded, gather } from './small-body.ts'
import { Transfer } from './transfer.ts'
import type { TransferParts } from './uploads.ts'

/** The services that downloads use. */
interface ExportParts extends TransferParts {
  readonly usage: Usage
  readonly plans: Plans
}

/** A stream of rows, and the text around them if the stream does not contain it. */
interface Opened {
  readonly stream: ByteStream
  /** How many rows match, if they were counted. */
  readonly matches: number | undefined
  readonly around: Around | undefined
}

/**
 * Sends the rows of queries. It limits how many downloads run at once, counts rows against the plan, compresses as the
 * client accepts it, and cuts the connection when the client stops reading.
 */
export class Exports {
  readonly gate: Gate
  readonly answers: AnswerCache
  readonly #parts: ExportParts
  /** A part of each entity tag, because another release may write different bytes for the same rows. */
  readonly #release: string

  constructor(parts: ExportParts, release: string) {
    const { exports, exportsPerAccount, queue } = parts.config.limits
    this.#parts = parts
    this.#release = release
    this.answers = new AnswerCache(parts.config.limits.cachedAnswerBytes)
    this.gate = new Gate('downloads', {
      places: exports,
      placesPerAccount: exportsPerAccount,
      queue,
      wait: parts.config.timeouts.queue,
    })
  }

  /**
   * Answers a request with a kept answer to the same question, if there is one. It is counted, measured and gets
   * headers as if it were new, but waits for no place, since it takes no time. Gives whether there was a kept answer.
   */
  async sendAgain(request: FastifyRequest, reply: FastifyReply, download: Announced): Promise<boolean> {
    const coding = codingFor(request, download.format)
    const answer = this.answers.get(keptAs(download, coding))
    if (!answer) return false
    reply.headers({ ...OF_ALL_ROWS, etag: answer.etag })
    if (matchesTag(request.headers['if-none-match'], answer.etag)) {
      notModified(reply)
      return true
    }
    const { trace } = request
    trace.stage('kept')
    if (request.method !== 'HEAD') {
      if (download.meteredRows !== undefined) await this.#spend(request, answer.rows)
      trace.rows = answer.rows
      trace.bytes = answer.body.byteLength
      this.#measureWhole(request, download.format)
    }
    this.#sendWhole(request, reply, download, answer)
    return true
  }

  /**
   * Answers a request with a download: only the headers for HEAD, 304 if the client already has the content. Everything
   * that can be refused is refused before the first byte; a failure after it ends the connection.
   */
  async send(request: FastifyRequest, reply: FastifyReply, download: Download): Promise<FastifyReply> {
    const { query, format } = download
    const coding = codingFor(request, format)
    const etag = entityTag(download, coding, this.#release)
    reply.headers({ ...OF_ALL_ROWS, etag })
    if (matchesTag(request.headers['if-none-match'], etag)) {
      query[Symbol.dispose]()
      return notModified(reply)
    }
    const { lifecycle, config } = this.#parts
    const transfer = new Transfer(request, reply, lifecycle, config.timeouts)
    transfer.onClose(() => query[Symbol.dispose]())
    try {
      const inTime = transfer.firstByteBy(config.timeouts.firstByte)
      const opened = await this.#open(request, reply, download, transfer, coding)
      const headers = {
        'content-type': download.contentType ?? FORMAT_FACTS[format].contentType,
        ...(coding && { 'content-encoding': coding }),
      }
      if (!opened) {
        inTime()
        return reply.headers({ ...headers, ...headersOf(request, download) }).send()
      }
      const { stream, matches, around } = opened
      const question = keptAs(download, coding)
      const keep = async (whole: Buffer) => {
        const answer = {
          etag,
          headers,
          body: stream.coding ? whole : await encoded(whole, coding),
          rows: stream.rows(),
          matches,
        }
        this.answers.keep(question, answer)
        return answer
      }
      const onWhole = (whole: Buffer) => {
        keep(whole).catch((error) => request.log.error({ err: error }, 'an answer could not be kept'))
      }
      const pieces = between(stream, around, matches)
      const gathered = await gather(pieces, SMALL_ANSWER, question === undefined ? undefined : onWhole)
      inTime()
      const { trace } = request
      if (gathered.whole) {
        const answer = await keep(gathered.whole)
        const { body } = answer
        trace.rows = answer.rows
        trace.bytes = body.byteLength
        trace.firstByte = trace.elapsed
        transfer.onClose(() => this.#measureWhole(request, format, reply))
        // A smaller body fits into the buffers of any socket, so it needs no watching.
        if (body.byteLength > 16 * 1024) this.#watch(reply, transfer)
        return this.#sendWhole(request, reply, download, answer)
      }
      reply.headers({ ...headers, ...headersOf(request, download) })
      if (stream.size !== undefined && !coding && !download.around)
        reply.header('content-length', stream.size)
      const body = bodyStream(gathered.pieces, stream.coding ? undefined : coding)
      return reply.send(this.#watched(request, reply, { format, stream, transfer, body }))
    } catch (error) {
      const reason = transfer.reason ?? error
      transfer.abort(reason as Error)
      throw reason
    }
  }

  /** Reads a few rows into memory, already formatted, with the limits and the counting of a download. */
  async read(request: FastifyRequest, reply: FastifyReply, download: Download): Promise<Buffer> {
    return this.#within(request, reply, download.query, async (transfer) => {
      const opened = await this.#open(request, reply, download, transfer)
      const chunks: Uint8Array[] = []
      for await (const chunk of opened?.stream ?? []) chunks.push(Buffer.from(chunk))
      request.trace.rows = opened?.stream.rows() ?? 0
      return Buffer.concat(chunks)
    })
  }

  /** Counts the rows that match, with the limits of a download. */
  async count(request: FastifyRequest, reply: FastifyReply, query: Query): Promise<number> {
    return this.#within(request, reply, query, async (transfer) => {
      const { signal } = transfer
      const place = await this.gate.enter(request.account.id, signal)
      transfer.onClose(() => place[Symbol.dispose]())
      return query.count({ signal })
    })
  }

  /** Does work that ends before the answer begins; the query is disposed when the answer is closed. */
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

  /** Waits for a place, counts the rows if needed, and opens the stream of bytes; gives no stream for HEAD. */
  async #open(
    request: FastifyRequest,
    reply: FastifyReply,
    download: Download,
    transfer: Transfer,
    coding?: Coding,
  ): Promise<Opened | undefined> {
    const { query, window, around } = download
    const { signal } = transfer
    const place = await this.gate.enter(request.account.id, signal)
    transfer.onClose(() => place[Symbol.dispose]())
    request.trace.stage('queue')
    const mustCount =
      download.counted ||
      window.top !== undefined ||
      window.last !== undefined ||
      typeof around?.before === 'function'
    if (request.method === 'HEAD') {
      const count = mustCount ? await query.count({ signal }) : query.knownRowCount
      if (count !== undefined) reply.header('row-count', count)
      return undefined
    }
    const text = knownAround(download)
    const open = async () => {
      const { format, name: sheetName, odata, encoding, paged } = download
      // Text around the rows must be compressed together with them, so the engine can only compress if it writes both.
      const inPieces = coding === 'gzip' && (!around || text) ? coding : undefined
      const stream = await query.bytes(format, {
        ...encoding,
        signal,
        sheetName,
        odata,
        ...(paged && { paged }),
        around: text,
        coding: inPieces,
      })
      // Disposed here because nobody reads it to its end if counting fails or the client has left meanwhile.
      transfer.onClose(() => stream[Symbol.asyncDispose]())
      return stream
    }
    // The rows are counted and read at the same time, unless their number decides whether the plan allows them.
    const early = (await this.#countsFirst(request, download)) ? undefined : open()
    early?.catch(() => {})
    const count = mustCount || !early ? await query.count({ signal }) : query.knownRowCount
    if (count !== undefined) reply.header('row-count', count)
    const reservation = await this.#reserve(request, download, count)
    transfer.onClose(() => reservation?.settle(request.trace.rows ?? 0))
    const stream = await (early ?? open())
    request.trace.stage('rows')
    return { stream, matches: count, around: text ? undefined : around }
  }

  /** Sends a complete answer, with its length. */
  #sendWhole(
    request: FastifyRequest,
    reply: FastifyReply,
    download: Announced,
    { headers, body, matches }: Answer,
  ): FastifyReply {
    reply.headers({ ...headers, ...headersOf(request, download), 'content-length': body.byteLength })
    if (matches !== undefined) reply.header('row-count', matches)
    return reply.send(request.method === 'HEAD' ? undefined : body)
  }

  /** Adds a download in one piece to the metrics. If `reply` is given, checks if it was sent to its end. */
  #measureWhole({ trace }: FastifyRequest, format: Format, reply?: FastifyReply): void {
    const { metrics } = this.#parts
    trace.firstByte ??= trace.elapsed
    metrics.exportStarted(format, trace.firstByte / 1000)
    metrics.exportEnded(format, {
      outcome: !reply || reply.raw.writableFinished ? 'whole' : 'left',
      rows: trace.rows ?? 0,
      bytes: trace.bytes ?? 0,
      seconds: trace.elapsed / 1000,
    })
  }

  /**
   * Whether the rows must be counted before the first of them is read. This is so if the plan limits rows and the
   * largest possible number is unknown or more than what is left of the limit: the true number may still be within it.
   */
  async #countsFirst({ account }: FastifyRequest, { query, meteredRows }: Download): Promise<boolean> {
    if (meteredRows === undefined) return false
    const limit = this.#parts.plans.limits(account.plan).exportedRows
    if (limit === null) return false
    if (query.knownRowCount === undefined) return true
    return query.resultRows(query.knownRowCount) > (await this.#parts.usage.remaining(account.id, limit))
  }

  async #reserve(
    { account }: FastifyRequest,
    { query, meteredRows }: Download,
    count: number | undefined,
  ): Promise<Reservation | undefined> {
    if (meteredRows === undefined) return undefined
    const limit = this.#parts.plans.limits(account.plan).exportedRows
    return this.#parts.usage.reserve(account, limit, query.resultRows(count ?? meteredRows))
  }

  async #spend({ account }: FastifyRequest, rows: number): Promise<void> {
    const limit = this.#parts.plans.limits(account.plan).exportedRows
    const reservation = await this.#parts.usage.reserve(account, limit, rows)
    reservation.settle(rows)
  }

  /** Ends the connection when the client stops reading. */
  #watch({ raw }: FastifyReply, transfer: Transfer): void {
    transfer.watch(
      () => raw.writableNeedDrain || (raw.writableEnded && raw.writableLength > 0),
      () => raw.destroy(),
    )
  }

  /** Gives the body for Fastify to send, and measures and watches it until its end. */
  #watched(
    request: FastifyRequest,
    reply: FastifyReply,
    sending: { format: Format; stream: ByteStream; transfer: Transfer; body: Readable },
  ): Readable {
    const { format, stream, transfer, body } = sending
    const { trace } = request
    const { metrics } = this.#parts
    let failed = false
    const { raw } = reply
    const sent: Uint8Array[] = []
    trace.bytes = 0
    body.on('data', (chunk: Uint8Array) => {
      // Nothing waits in the socket, so all chunks given to it have been sent and their memory can be used again.
      if (raw.writableLength === 0) for (const one of sent.splice(0)) stream.recycle(one)
      sent.push(chunk)
      if (trace.firstByte === undefined) {
        trace.firstByte = trace.elapsed
        metrics.exportStarted(format, trace.firstByte / 1000)
      }
      trace.bytes! += chunk.byteLength
      trace.rows = stream.rows()
    })
    // The listener above has started the flow. Fastify must start it, after the headers, so it is paused.
    body.pause()
    body.on('error', () => {
      failed = true
      // HTTP/1.0 has no chunks, so the end of the connection means the end of the body. Only a reset shows the failure.
      if (request.raw.httpVersion === '1.0') request.raw.socket.resetAndDestroy()
    })
    this.#watch(reply, transfer)
    transfer.onClose(() => {
      if (raw.writableFinished) for (const one of sent.splice(0)) stream.recycle(one)
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
}
