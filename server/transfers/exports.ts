import { buffer } from 'node:stream/consumers'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LRUCache } from 'lru-cache'
import type { ByteStream, EncodeOptions, Engine, Query } from '../../engine/index.ts'
import type { Semaphore } from '../../engine/util/semaphore.ts'
import { Users } from '../../engine/util/shared.ts'
import type { Usage } from '../accounts/plans.ts'
import { matchesTag } from '../http/headers.ts'
import type { Trace } from '../http/metrics.ts'
import {
  type Answer,
  answerCache,
  answerName,
  headersOf,
  SMALL_ANSWER,
  sendWhole,
  type Whole,
} from './answers.ts'
import { gather, watched } from './body.ts'
import { bodyStream, codingFor } from './compression.ts'
import { type Download, isCounted, type LazyQuery } from './download.ts'
import { entityTag, notModified } from './entity-tag.ts'
import { between, type Envelope, knownEnvelope } from './envelope.ts'
import { type Coding, FORMAT_FACTS } from './formats.ts'
import { type ExportFile, ExportFiles, isInPieces, type Save, sendPieces, type Written } from './pieces.ts'
import { Spools } from './spool.ts'
import { Transfer, type TransferParts, transferSlots } from './transfer.ts'

interface ExportParts extends TransferParts {
  readonly engine: Engine
  readonly usage: Usage
  /** The release, which is a part of each entity tag: another one may write different bytes for the same rows. */
  readonly version: string
}

/** A download that nobody has kept. */
interface Sending {
  readonly download: Download
  readonly query: Query
  readonly coding: Coding | undefined
  readonly transfer: Transfer
  /** Undefined if the next answer to the same query may have other rows, so that nothing of this one may be kept. */
  readonly etag: string | undefined
  /** The headers that describe the body. */
  readonly headers: Readonly<Record<string, string>>
  /** Called when the first byte is there. */
  readonly inTime: () => void
}

/** The headers of all answers about rows, even of those without a body. */
const OF_ALL_ROWS = { vary: 'Accept, Accept-Encoding', 'cache-control': 'private, no-cache' }

/**
 * Sends the rows of queries. It limits how many downloads run at once, counts rows against the plan, compresses as the
 * client accepts it, and cuts the connection when the client stops reading.
 */
export class Exports {
  readonly slots: Semaphore
  readonly answers: LRUCache<string, Answer> | undefined
  readonly files: ExportFiles
  readonly #spools: Spools
  readonly #parts: ExportParts

  constructor(parts: ExportParts) {
    this.#parts = parts
    this.answers = answerCache(parts.config.limits.cachedAnswerBytes)
    this.files = new ExportFiles(parts.engine.temporary, parts.config.limits.exportFileBytes)
    this.#spools = new Spools(parts.engine.temporary, parts.config.limits.spoolBytes)
    this.slots = transferSlots('downloads', parts.config)
  }

  /**
   * Answers a request with rows: only the headers for HEAD, 304 if the client already has the content. If an answer to
   * the same query of the same version is kept, it is sent again. Everything that can be refused is refused before the
   * first byte; a failure after it ends the connection.
   */
  async send(request: FastifyRequest, reply: FastifyReply, download: Download): Promise<FastifyReply> {
    const { query: lazy, format, contentType = FORMAT_FACTS[format].contentType } = download
    const coding = codingFor(request, format)
    const answer =
      lazy.key === undefined ? undefined : this.answers?.get(answerName(lazy.key, download, coding))
    if (answer) return this.#sendAgain(request, reply, download, answer)
    return this.#withTransfer(request, reply, async (transfer, inTime) => {
      const query = await lazy.open(transfer.signal)
      const users = new Users(() => query[Symbol.dispose]())
      transfer.onClose(users.enter())
      request.trace.stage('plan')
      const answer = this.answers?.get(answerName(query.key(format), download, coding))
      if (answer) {
        inTime()
        return this.#sendAgain(request, reply, download, answer)
      }
      const etag = query.volatile ? undefined : entityTag(query, download, coding, this.#parts.version)
      reply.headers({ ...OF_ALL_ROWS, ...(etag !== undefined && { etag }) })
      if (etag !== undefined && matchesTag(request.headers['if-none-match'], etag)) return notModified(reply)
      const headers = { 'content-type': contentType, ...(coding && { 'content-encoding': coding }) }
      const sending = { download, query, coding, transfer, etag, headers, inTime }
      const file = await this.#file(sending, users)
      if (!file) return this.#sendRows(sending)
      inTime()
      transfer.use(file)
      const tag = FORMAT_FACTS[format].exact ? etag! : `"${query.etag}-${file.id}"`
      return this.#sendPieces(transfer, download, tag, file)
    })
  }

  /** Sends a kept answer. It is counted and measured as if it were new, but waits for no slot, since it takes no time. */
  async #sendAgain(
    request: FastifyRequest,
    reply: FastifyReply,
    download: Download,
    answer: Answer,
  ): Promise<FastifyReply> {
    reply.headers({ ...OF_ALL_ROWS, etag: answer.etag })
    if (matchesTag(request.headers['if-none-match'], answer.etag)) return notModified(reply)
    const { trace } = request
    trace.stage('kept')
    if (request.headers.range !== undefined && request.method === 'GET') {
      const read = async function* (from: number, to: number) {
        yield answer.body.subarray(from, to)
      }
      const whole = { ...answer, bytes: answer.body.byteLength, read }
      return this.#sendPieces(new Transfer(request, reply, this.#parts), download, answer.etag, whole)
    }
    if (request.method !== 'HEAD') {
      if (download.metered)
        (await this.#parts.usage.reserve(request.account, answer.rows)).settle(answer.rows)
      this.#begin(download, trace, answer)
      this.#parts.metrics.exportEnded(download.format, trace, 'whole')
    }
    return sendWhole(request, reply, download, answer, true)
  }

  /** The file of an answer that is read in pieces, if there is one or it can be made. */
  async #file({ download, query, coding, transfer, etag }: Sending, users: Users) {
    const { request, signal } = transfer
    if (etag === undefined) return undefined
    const isMade = () => this.files.has(etag)
    if (!isInPieces(request, download, { etag, coding, isMade })) return undefined
    const make = (making: AbortSignal, save: Save) =>
      this.#make(request, download, query, making, save).finally(users.enter())
    return this.files.get(etag, make, this.#parts.config.timeouts.firstByte / 2, signal)
  }

  /** Sends rows as they are read: at once if they are few. */
  async #sendRows(sending: Sending): Promise<FastifyReply> {
    const { download, query, coding, transfer, headers, inTime } = sending
    const { request, reply } = transfer
    const inPieces = this.#mayBeInPieces(sending)
    const opened = await this.#open(transfer, query, download, coding)
    if (!opened) {
      inTime()
      return reply.headers({ ...headers, ...headersOf(request, download, inPieces) }).send()
    }
    const keep = (whole: Buffer) => this.#keep(sending, opened, whole)
    const onWhole = (whole: Buffer) => {
      keep(whole).catch((error) => request.log.error({ err: error }, 'an answer could not be kept'))
    }
    const isCached = sending.etag !== undefined && this.answers !== undefined
    const gathered = await gather(opened.bytes, SMALL_ANSWER, isCached ? onWhole : undefined)
    inTime()
    if (gathered.whole) {
      const answer = await keep(gathered.whole)
      this.#begin(download, request.trace, answer)
      transfer.onClose(() => {
        const outcome = reply.raw.writableFinished ? 'whole' : 'left'
        this.#parts.metrics.exportEnded(download.format, request.trace, outcome)
      })
      // A smaller body fits into the buffers of any socket, so it needs no watching.
      if (answer.body.byteLength > 16 * 1024) transfer.watchSocket()
      return sendWhole(request, reply, download, answer, isCached || inPieces)
    }
    const { stream } = opened
    reply.headers({ ...headers, ...headersOf(request, download, inPieces) })
    if (stream.size !== undefined && !coding && !download.envelope)
      reply.header('content-length', stream.size)
    const body = bodyStream(gathered.pieces, stream.coding ? undefined : coding)
    return reply.send(watched(download.format, stream, transfer, body, this.#parts.metrics))
  }

  /** Whether a client that gets only a part can have the rest. A new file of another format would have other bytes. */
  #mayBeInPieces({ download: { format }, etag }: Sending): boolean {
    return etag !== undefined && FORMAT_FACTS[format].exact && this.files.mayMake(etag)
  }

  /** Notes that a complete answer begins. */
  #begin({ format }: Download, trace: Trace, { rows, body }: Whole): void {
    Object.assign(trace, { rows, bytes: body.byteLength })
    this.#parts.metrics.exportStarted(format, trace)
  }

  /** Makes an answer of a whole body, and keeps it if it has the rows that were counted. */
  async #keep(
    { download, query, etag, headers, coding, transfer }: Sending,
    { stream, matches }: Written,
    whole: Buffer,
  ): Promise<Whole> {
    const body = stream.coding || !coding ? whole : await buffer(bodyStream([whole], coding))
    const rows = stream.rows()
    const hint = rows === 0 ? query.hint : undefined
    const answer = { headers: { ...headers, ...(hint && { hint }) }, body, rows, matches }
    const counted = matches ?? query.knownRowCount
    if (counted !== undefined && query.resultRows(counted) !== answer.rows) {
      const { log } = transfer.request
      log.error({ rows: answer.rows, counted }, 'an answer does not have the rows that were counted')
    } else if (etag !== undefined) {
      this.answers?.set(answerName(query.key(download.format), download, coding), { ...answer, etag })
    }
    return answer
  }

  /**
   * Reads a few rows into memory, already formatted, with the limits and the counting of a download.
   * @param most reading ends as soon as there are more bytes than this
   */
  async read(
    request: FastifyRequest,
    reply: FastifyReply,
    download: Download,
    most: number,
  ): Promise<Buffer> {
    return this.#withTransfer(request, reply, async (transfer) => {
      const query = await download.query.open(transfer.signal)
      transfer.use(query)
      const opened = await this.#open(transfer, query, download)
      const chunks: Uint8Array[] = []
      let bytes = 0
      for await (const chunk of opened?.stream ?? []) {
        chunks.push(Buffer.from(chunk))
        bytes += chunk.byteLength
        if (bytes > most) break
      }
      request.trace.rows = opened?.stream.rows() ?? 0
      return Buffer.concat(chunks)
    })
  }

  /** Does something with a query that gives no rows, with the limits of a download. */
  run<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    { open }: LazyQuery,
    work: (query: Query, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return this.#withTransfer(request, reply, async (transfer) => {
      const query = await open(transfer.signal)
      transfer.use(query)
      request.trace.stage('plan')
      await transfer.enter(this.slots)
      return work(query, transfer.signal)
    })
  }

  /** Prepares what takes time, such as the columns of SQL, until the client leaves or the deadline passes. */
  prepare<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return this.#withTransfer(request, reply, ({ signal }) => work(signal))
  }

  /** Does work for a request, whose transfer is aborted if that fails. */
  async #withTransfer<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (transfer: Transfer, inTime: () => void) => Promise<T>,
  ): Promise<T> {
    const transfer = new Transfer(request, reply, this.#parts)
    const inTime = transfer.firstByteInTime()
    try {
      return await work(transfer, inTime)
    } catch (error) {
      const reason = transfer.reason ?? error
      transfer.abort(reason as Error)
      throw reason
    } finally {
      inTime()
    }
  }

  /** Waits for a slot, counts the rows if needed, and opens the stream of bytes; gives no stream for HEAD. */
  async #open(
    transfer: Transfer,
    query: Query,
    download: Download,
    coding?: Coding,
  ): Promise<Written | undefined> {
    const { request, reply, signal } = transfer
    await transfer.enter(this.slots)
    request.trace.stage('queue')
    const mustCount = isCounted(download)
    if (request.method === 'HEAD') {
      const count = mustCount ? await query.count({ signal }) : query.knownRowCount
      if (count !== undefined) reply.header('row-count', count)
      return undefined
    }
    const text = knownEnvelope(query, download.envelope)
    const open = async () => {
      const stream = await this.#bytes(query, download, text, signal, coding)
      // Disposed here because nobody reads it to its end if the client has left meanwhile.
      transfer.use(stream)
      return stream
    }
    // The rows are counted and read at the same time, unless their number decides whether the plan allows them.
    const early = download.metered && (await this.#countsFirst(request, query)) ? undefined : await open()
    const matches = mustCount ? await early?.matches : query.knownRowCount
    const count = early ? matches : await query.count({ signal })
    if (count !== undefined) reply.header('row-count', count)
    if (download.metered) {
      const rows = query.resultRows(count ?? query.mostRows ?? 0)
      const reserved = await this.#parts.usage.reserve(request.account, rows)
      transfer.onClose(() => reserved.settle(request.trace.rows ?? 0))
    }
    const stream = early ?? (await open())
    request.trace.stage('rows')
    return written(stream, count, text ? undefined : download.envelope)
  }

  /**
   * Whether the rows must be counted before the first of them is read. This is so if the plan limits rows and the
   * largest possible number is unknown or more than what is left of the limit: the true number may still be within it.
   */
  async #countsFirst({ account }: FastifyRequest, query: Query): Promise<boolean> {
    const remaining = await this.#parts.usage.remaining(account)
    if (remaining === Number.POSITIVE_INFINITY) return false
    return query.knownRowCount === undefined || query.resultRows(query.knownRowCount) > remaining
  }

  async #bytes(
    query: Query,
    download: Download,
    text: EncodeOptions['envelope'],
    signal: AbortSignal,
    coding?: Coding,
  ): Promise<ByteStream> {
    const { format, name: sheetName, odata, encoding, paged, envelope } = download
    const stream = await query.bytes(format, {
      ...encoding,
      signal,
      sheetName,
      odata,
      ...(paged && { paged }),
      envelope: text,
      // Text around the rows must be compressed together with them, so the engine can only compress if it writes both.
      coding: coding === 'gzip' && (!envelope || text) ? coding : undefined,
      counted: isCounted(download),
    })
    // A slow client must not keep one of the few processes for SQL.
    return query.isStatement ? this.#spools.spool(stream) : stream
  }

  /** Saves the bytes of a download to be read in pieces. */
  async #make(
    { account }: FastifyRequest,
    download: Download,
    query: Query,
    signal: AbortSignal,
    save: Save,
  ): Promise<ExportFile | undefined> {
    using _slot = await this.slots.enter(account.id, signal)
    const text = knownEnvelope(query, download.envelope)
    await using stream = await this.#bytes(query, download, text, signal)
    const matches = isCounted(download) ? await stream.matches : query.knownRowCount
    return await save(written(stream, matches, text ? undefined : download.envelope))
  }

  /** Answers with pieces of bytes that are all there. */
  #sendPieces(
    transfer: Transfer,
    download: Download,
    tag: string,
    whole: Pick<ExportFile, 'bytes' | 'rows' | 'matches' | 'read'>,
  ): Promise<FastifyReply> {
    const { bytes, rows, matches } = whole
    const { reply } = transfer
    reply.headers(headersOf(transfer.request, download, true))
    if (matches !== undefined) reply.header('row-count', matches)
    return sendPieces(this.#parts, transfer, {
      tag,
      type: FORMAT_FACTS[download.format].contentType,
      bytes,
      read: (from, to) => whole.read(from, to),
      rowsOf: (ranges) =>
        !download.metered
          ? undefined
          : Math.ceil(ranges.reduce((sum, { from, to }) => sum + to - from, 0) * (rows / Math.max(bytes, 1))),
    })
  }
}

/** @param envelope the text around the rows, if the stream does not contain it */
function written(stream: ByteStream, matches: number | undefined, envelope: Envelope | undefined): Written {
  return { stream, matches, bytes: envelope ? between(stream, envelope, matches) : stream }
}
