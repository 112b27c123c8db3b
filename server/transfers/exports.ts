import { buffer } from 'node:stream/consumers'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LRUCache } from 'lru-cache'
import type { ByteStream, EncodeOptions, Engine, Query } from '../../engine/index.ts'
import { Users } from '../../engine/util/shared.ts'
import type { Usage } from '../accounts/plans.ts'
import { matchesTag } from '../http/headers.ts'
import type { Trace } from '../http/metrics.ts'
import {
  type Announced,
  type Answer,
  answerCache,
  between,
  bodyStream,
  codingFor,
  type Download,
  type Envelope,
  entityTag,
  gather,
  headersOf,
  isCounted,
  isInPieces,
  keptAs,
  knownEnvelope,
  logInfinities,
  notModified,
  OF_ALL_ROWS,
  SMALL_ANSWER,
  watched,
} from './download.ts'
import { type Coding, FORMAT_FACTS } from './formats.ts'
import { type ExportFile, ExportFiles, type Save, sendPieces, type Written } from './pieces.ts'
import { Gate, Transfer, type TransferParts } from './transfer.ts'

interface ExportParts extends TransferParts {
  readonly engine: Engine
  readonly usage: Usage
  /** The release, which is a part of each entity tag: another one may write different bytes for the same rows. */
  readonly version: string
}

/** Rows on their way to a client. */
interface Sending extends Written {
  readonly etag: string
  /** The headers that describe the body. */
  readonly headers: Readonly<Record<string, string>>
  readonly coding: Coding | undefined
  readonly transfer: Transfer
  /** Called when the first byte is there. */
  readonly inTime: () => void
}

/**
 * Sends the rows of queries. It limits how many downloads run at once, counts rows against the plan, compresses as the
 * client accepts it, and cuts the connection when the client stops reading.
 */
export class Exports {
  readonly gate: Gate
  readonly answers: LRUCache<string, Answer> | undefined
  readonly files: ExportFiles
  readonly #parts: ExportParts

  constructor(parts: ExportParts) {
    const { exports, exportsPerAccount, queue } = parts.config.limits
    this.#parts = parts
    this.answers = answerCache(parts.config.limits.cachedAnswerBytes)
    this.files = new ExportFiles(parts.engine.temporary, parts.config.limits.exportFileBytes)
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
    const key = keptAs(download, coding)
    const answer = key && this.answers?.get(key)
    if (!answer) return false
    reply.headers({ ...OF_ALL_ROWS, etag: answer.etag })
    if (matchesTag(request.headers['if-none-match'], answer.etag)) {
      notModified(reply)
      return true
    }
    const { trace } = request
    trace.stage('kept')
    if (request.headers.range !== undefined && request.method === 'GET') {
      const read = async function* (from: number, to: number) {
        yield answer.body.subarray(from, to)
      }
      const whole = { ...answer, bytes: answer.body.byteLength, read }
      await this.#sendPieces(new Transfer(request, reply, this.#parts), download, answer.etag, whole)
      return true
    }
    if (request.method !== 'HEAD') {
      if (download.meteredRows !== undefined)
        (await this.#parts.usage.reserve(request.account, answer.rows)).settle(answer.rows)
      this.#begin(download, trace, answer)
      this.#parts.metrics.exportEnded(download.format, trace, 'whole')
    }
    sendWhole(request, reply, download, answer)
    return true
  }

  /**
   * Answers a request with a download: only the headers for HEAD, 304 if the client already has the content. Everything
   * that can be refused is refused before the first byte; a failure after it ends the connection.
   */
  async send(request: FastifyRequest, reply: FastifyReply, download: Download): Promise<FastifyReply> {
    const { query, format } = download
    const coding = codingFor(request, format)
    const etag = entityTag(download, coding, this.#parts.version)
    reply.headers({ ...OF_ALL_ROWS, ...(!query.volatile && { etag }) })
    if (!query.volatile && matchesTag(request.headers['if-none-match'], etag)) {
      query[Symbol.dispose]()
      return notModified(reply)
    }
    const transfer = new Transfer(request, reply, this.#parts)
    const users = new Users(() => query[Symbol.dispose]())
    transfer.onClose(users.enter())
    try {
      const inTime = transfer.firstByteInTime()
      const isMade = () => this.files.has(etag)
      if (!query.volatile && isInPieces(request, download, { etag, coding, isMade })) {
        const make = (signal: AbortSignal, save: Save) =>
          this.#make(request, download, signal, save).finally(users.enter())
        const patience = this.#parts.config.timeouts.firstByte / 2
        const file = await this.files.get(etag, make, patience, transfer.signal)
        if (file) {
          inTime()
          transfer.use(file)
          const tag = FORMAT_FACTS[format].exact ? etag : `"${file.id}"`
          return await this.#sendPieces(transfer, download, tag, file)
        }
      }
      const opened = await this.#open(transfer, download, coding)
      const headers = {
        'content-type': download.contentType ?? FORMAT_FACTS[format].contentType,
        ...(coding && { 'content-encoding': coding }),
      }
      if (opened) {
        return await this.#sendOpened(download, { ...opened, etag, headers, coding, transfer, inTime })
      }
      inTime()
      return reply.headers({ ...headers, ...headersOf(request, download) }).send()
    } catch (error) {
      const reason = transfer.reason ?? error
      transfer.abort(reason as Error)
      throw reason
    }
  }

  /** Sends rows whose reading has begun: at once if they are few, and otherwise while they are read. */
  async #sendOpened(download: Download, sending: Sending): Promise<FastifyReply> {
    const { stream, headers, coding, transfer } = sending
    const { request, reply } = transfer
    const keep = (whole: Buffer) => this.#keep(request, download, sending, whole)
    const onWhole = (whole: Buffer) => {
      keep(whole).catch((error) => request.log.error({ err: error }, 'an answer could not be kept'))
    }
    const gathered = await gather(sending.bytes, SMALL_ANSWER, keptAs(download, coding) ? onWhole : undefined)
    sending.inTime()
    if (gathered.whole) {
      const answer = await keep(gathered.whole)
      this.#begin(download, request.trace, answer)
      transfer.onClose(() => {
        const outcome = reply.raw.writableFinished ? 'whole' : 'left'
        this.#parts.metrics.exportEnded(download.format, request.trace, outcome)
      })
      // A smaller body fits into the buffers of any socket, so it needs no watching.
      if (answer.body.byteLength > 16 * 1024) transfer.watchSocket()
      return sendWhole(request, reply, download, answer)
    }
    reply.headers({ ...headers, ...headersOf(request, download) })
    if (stream.size !== undefined && !coding && !download.envelope)
      reply.header('content-length', stream.size)
    const body = bodyStream(gathered.pieces, stream.coding ? undefined : coding)
    return reply.send(watched(download.format, stream, transfer, body, this.#parts.metrics))
  }

  /** Notes that a complete answer begins. */
  #begin({ format }: Announced, trace: Trace, { rows, body }: Answer): void {
    Object.assign(trace, { rows, bytes: body.byteLength })
    this.#parts.metrics.exportStarted(format, trace)
  }

  /** Makes an answer of a whole body, and keeps it if it has the rows that were counted. */
  async #keep(
    { log }: FastifyRequest,
    download: Download,
    { stream, matches, etag, headers, coding }: Sending,
    whole: Buffer,
  ): Promise<Answer> {
    const { query } = download
    const body = stream.coding || !coding ? whole : await buffer(bodyStream([whole], coding))
    const answer = { etag, headers, body, rows: stream.rows(), matches }
    const counted = matches ?? query.knownRowCount
    const key = keptAs(download, coding)
    if (counted === undefined || query.resultRows(counted) === answer.rows) {
      if (key) this.answers?.set(key, answer)
    } else log.error({ rows: answer.rows, counted }, 'an answer does not have the rows that were counted')
    logInfinities(query, whole, stream.coding, log).catch((error) =>
      log.warn({ err: error }, 'it could not be found out whether infinities were read'),
    )
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
    return this.#within(request, reply, async (transfer) => {
      transfer.use(download.query)
      const opened = await this.#open(transfer, download)
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
    query: Query,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return this.#within(request, reply, async (transfer) => {
      transfer.use(query)
      await transfer.enter(this.gate)
      return work(transfer.signal)
    })
  }

  /** Prepares a query, which takes time for SQL, until the client leaves or the deadline passes. */
  prepare<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return this.#within(request, reply, ({ signal }) => work(signal))
  }

  /** Does work that ends before the answer begins. */
  async #within<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (transfer: Transfer) => Promise<T>,
  ): Promise<T> {
    const transfer = new Transfer(request, reply, this.#parts)
    const inTime = transfer.firstByteInTime()
    try {
      return await work(transfer)
    } catch (error) {
      throw transfer.reason ?? error
    } finally {
      inTime()
    }
  }

  /** Waits for a place, counts the rows if needed, and opens the stream of bytes; gives no stream for HEAD. */
  async #open(transfer: Transfer, download: Download, coding?: Coding): Promise<Written | undefined> {
    const { query } = download
    const { request, reply, signal } = transfer
    await transfer.enter(this.gate)
    request.trace.stage('queue')
    const mustCount = isCounted(download)
    if (request.method === 'HEAD') {
      const count = mustCount ? await query.count({ signal }) : query.knownRowCount
      if (count !== undefined) reply.header('row-count', count)
      return undefined
    }
    const text = knownEnvelope(download)
    const open = async () => {
      const stream = await this.#bytes(download, text, signal, coding)
      // Disposed here because nobody reads it to its end if the client has left meanwhile.
      transfer.use(stream)
      return stream
    }
    // The rows are counted and read at the same time, unless their number decides whether the plan allows them.
    const early = (await this.#countsFirst(request, download)) ? undefined : await open()
    const matches = mustCount ? await early?.matches : query.knownRowCount
    const count = early ? matches : await query.count({ signal })
    if (count !== undefined) reply.header('row-count', count)
    if (download.meteredRows !== undefined) {
      const rows = query.resultRows(count ?? download.meteredRows)
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
  async #countsFirst({ account }: FastifyRequest, { query, meteredRows }: Download): Promise<boolean> {
    if (meteredRows === undefined) return false
    const remaining = await this.#parts.usage.remaining(account)
    if (remaining === Number.POSITIVE_INFINITY) return false
    return query.knownRowCount === undefined || query.resultRows(query.knownRowCount) > remaining
  }

  #bytes(
    download: Download,
    text: EncodeOptions['envelope'],
    signal: AbortSignal,
    coding?: Coding,
  ): Promise<ByteStream> {
    const { query, format, name: sheetName, odata, encoding, paged, envelope } = download
    return query.bytes(format, {
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
  }

  /** Saves the bytes of a download to be read in pieces. */
  async #make(
    { account }: FastifyRequest,
    download: Download,
    signal: AbortSignal,
    save: Save,
  ): Promise<ExportFile | undefined> {
    using _place = await this.gate.enter(account.id, signal)
    const text = knownEnvelope(download)
    await using stream = await this.#bytes(download, text, signal)
    const matches = isCounted(download) ? await stream.matches : download.query.knownRowCount
    return await save(written(stream, matches, text ? undefined : download.envelope))
  }

  /** Answers with pieces of bytes that are all there. */
  #sendPieces(
    transfer: Transfer,
    download: Announced,
    tag: string,
    whole: Pick<ExportFile, 'bytes' | 'rows' | 'matches' | 'read'>,
  ): Promise<FastifyReply> {
    const { bytes, rows, matches } = whole
    const { reply } = transfer
    reply.headers(headersOf(transfer.request, download))
    if (matches !== undefined) reply.header('row-count', matches)
    return sendPieces(this.#parts, transfer, {
      tag,
      type: FORMAT_FACTS[download.format].contentType,
      bytes,
      read: (from, to) => whole.read(from, to),
      rowsOf: (ranges) =>
        download.meteredRows === undefined
          ? undefined
          : Math.ceil(ranges.reduce((sum, { from, to }) => sum + to - from, 0) * (rows / Math.max(bytes, 1))),
    })
  }
}

/** @param envelope the text around the rows, if the stream does not contain it */
function written(stream: ByteStream, matches: number | undefined, envelope: Envelope | undefined): Written {
  return { stream, matches, bytes: envelope ? between(stream, envelope, matches) : stream }
}

/** Sends a complete answer, with its length. */
function sendWhole(
  request: FastifyRequest,
  reply: FastifyReply,
  download: Announced,
  { headers, body, matches }: Answer,
): FastifyReply {
  reply.headers({ ...headers, ...headersOf(request, download), 'content-length': body.byteLength })
  if (matches !== undefined) reply.header('row-count', matches)
  return reply.send(request.method === 'HEAD' ? undefined : body)
}
