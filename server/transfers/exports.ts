import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ByteStream, Format, Query } from '../../engine/index.ts'
import type { Plans } from '../accounts/plans.ts'
import type { Reservation, Usage } from '../accounts/usage.ts'
import type { Outcome } from '../metrics/metrics.ts'
import { type Answer, Answers, SMALL_ANSWER } from './answers.ts'
import { bodyStream } from './compress.ts'
import {
  type Announced,
  between,
  codingFor,
  type Download,
  entityTag,
  headersOf,
  keptAs,
  notModified,
  OF_ALL_ROWS,
} from './download.ts'
import { FORMAT_FACTS } from './formats.ts'
import { Gate } from './gate.ts'
import { type Coding, matchesTag } from './negotiate.ts'
import { encoded, gather } from './small-body.ts'
import { Transfer } from './transfer.ts'
import type { TransferParts } from './uploads.ts'

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
  readonly answers: Answers
  readonly #parts: ExportParts
  /** Part of each entity tag, since another release may write the same rows as other bytes. */
  readonly #release: string

  constructor(parts: ExportParts, release: string) {
    const { exports, exportsPerAccount, queue } = parts.config.limits
    this.#parts = parts
    this.#release = release
    this.answers = new Answers(parts.config.limits.cachedAnswerBytes)
    this.gate = new Gate('downloads', {
      places: exports,
      placesPerAccount: exportsPerAccount,
      queue,
      wait: parts.config.timeouts.queue,
    })
  }

  /**
   * Answers a request with what was sent to the same question before, where it is still there: counted, measured and
   * with the headers as if it were made anew. It waits for no place, since it takes no time. Gives whether it did.
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
   * Answers a request with a download: headers alone for HEAD, 304 where the client has it. Whatever can be refused
   * is, before the first byte; after it a failure ends the connection.
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
      const { stream, matches } = opened
      const keep = async (whole: Buffer) => {
        const answer = {
          etag,
          headers,
          body: stream.coding ? whole : await encoded(whole, coding),
          rows: stream.rows(),
          matches,
        }
        this.answers.keep(keptAs(download, coding), answer)
        return answer
      }
      const gathered = await gather(between(stream, download.around, matches), SMALL_ANSWER, (whole) => {
        keep(whole).catch((error) => request.log.error({ err: error }, 'an answer could not be kept'))
      })
      inTime()
      const { trace } = request
      if (gathered.whole) {
        const answer = await keep(gathered.whole)
        const { body } = answer
        trace.rows = answer.rows
        trace.bytes = body.byteLength
        trace.firstByte = trace.elapsed
        transfer.onClose(() => this.#measureWhole(request, format, reply))
        // Less of it fits into any socket.
        if (body.byteLength > 16 * 1024) this.#watch(reply, transfer)
        return this.#sendWhole(request, reply, download, answer)
      }
      reply.headers({ ...headers, ...headersOf(request, download) })
      const body = bodyStream(gathered.pieces, stream.coding ? undefined : coding)
      return reply.send(this.#watched(request, reply, { format, stream, transfer, body }))
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
    coding?: Coding,
  ): Promise<{ stream: ByteStream; matches: number | undefined } | undefined> {
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
    const open = async () => {
      const { format, name: sheetName, odata, encoding } = download
      // What stands around the rows is compressed with them, so not where they are encoded.
      const inPieces = coding === 'gzip' && !around ? coding : undefined
      const stream = await query.bytes(format, { ...encoding, signal, sheetName, odata, coding: inPieces })
      // Nobody reads it to its end where counting fails or the client has left meanwhile.
      transfer.onClose(() => stream[Symbol.asyncDispose]())
      return stream
    }
    // Counting and the first rows don't wait for each other, unless their number decides whether they may be had.
    const early = (await this.#countsFirst(request, download)) ? undefined : open()
    early?.catch(() => {})
    const count = mustCount || !early ? await query.count({ signal }) : query.knownRowCount
    if (count !== undefined) reply.header('row-count', count)
    const reservation = await this.#reserve(request, download, count)
    transfer.onClose(() => reservation?.settle(request.trace.rows ?? 0))
    const stream = await (early ?? open())
    request.trace.stage('rows')
    return { stream, matches: count }
  }

  /** Sends an answer that is whole, with its length. */
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

  /** Counts a download of one piece. With `reply` it may not have reached its end. */
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
   * Whether the rows must be counted before the first of them is sent: where the plan limits them, and as many as there
   * are at most would be set aside that others may need.
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

  /** Ends the connection when the client takes nothing any more. */
  #watch({ raw }: FastifyReply, transfer: Transfer): void {
    transfer.watch(
      () => raw.writableNeedDrain || (raw.writableEnded && raw.writableLength > 0),
      () => raw.destroy(),
    )
  }

  /** The body as Fastify sends it, watched until its end. */
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
    this.#watch(reply, transfer)
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
}
