import type { Hash } from 'node:crypto'
import { addAbortSignal, PassThrough } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { httpWords } from '../../engine/errors.ts'
import type { Upload } from '../../engine/index.ts'
import { guessedFormat, uploadFormatOf } from '../../engine/ingest/upload-format.ts'
import { fromHttp, UPLOADING } from '../../engine/options.ts'
import { isGrouped, SMALL_BYTES } from '../../engine/store/groups.ts'
import { counted } from '../../engine/util/counted.ts'
import type { Semaphore } from '../../engine/util/semaphore.ts'
import { ServerError } from '../http/errors.ts'
import type { Outcome } from '../http/metrics.ts'
import { alone, archiveOf, filesOfForm } from './form.ts'
import { type BodyType, partType, uploadOptions, uploadType } from './formats.ts'
import { Transfer, type TransferParts, transferSlots } from './transfer.ts'

/** Fetches the rows that a JSON body asks for instead of bringing its own. */
export type FetchSeries = (body: unknown, signal: AbortSignal) => Promise<Upload>

interface BodyOptions {
  /** Which file of an archive is to be read. */
  readonly entry: string | undefined
  readonly hash: Hash | undefined
}

interface ReceiveOptions {
  /** Gets the bytes of the file, as they come; of a form also its name, but nothing of its boundary. */
  readonly hash?: Hash | undefined
  /** Whether the rows may be committed together with those of others, if they are few. */
  readonly mayGroup?: boolean
}

/** Receives uploads. Limits how many run at once, and aborts those whose client sends nothing or too slowly. */
export class Uploads {
  readonly slots: Semaphore
  /** Those of small uploads, which are committed together, so that many of them may wait at once. */
  readonly smallSlots: Semaphore
  readonly #parts: TransferParts

  constructor(parts: TransferParts) {
    this.#parts = parts
    this.slots = transferSlots('uploads', parts.config)
    this.smallSlots = transferSlots('small uploads', parts.config)
  }

  /** Reads the body of a request as an upload, and does `work` with it. */
  async receive<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    fetchSeries: FetchSeries,
    work: (upload: Upload) => Promise<T>,
    { hash, mayGroup = false }: ReceiveOptions = {},
  ): Promise<T> {
    const { config, metrics } = this.#parts
    checkDeclaredLength(request, config.limits.uploadBytes)
    const type = uploadType(request.headers)
    const options = uploadOptions(fromHttp(request.query as object, UPLOADING))
    const transfer = new Transfer(request, reply, this.#parts)
    let outcome: Outcome = 'failed'
    let format = type.format
    transfer.onClose(() => metrics.uploadEnded(format ?? 'csv', outcome, request.trace.bytes ?? 0))
    try {
      const isUsual = Object.keys(options).every((name) => name === 'missing')
      const isSmall = mayGroup && isUsual && isDeclaredSmall(request, type)
      await transfer.enter(isSmall ? this.smallSlots : this.slots)
      const entry = options.options?.entry
      const file = await fileIn(this.#body(transfer), type, { entry, hash })
      format = file.format
      // A JSON body that asks for series is small, too.
      const { head, whole, body } = await peek(file.body, SMALL_BYTES)
      const isRead = whole && isGrouped(format) && !file.gzip
      const series = isRead && format === 'json' ? seriesIn(head) : undefined
      if (series && isSmall) await transfer.enter(this.slots)
      const named = options.fileColumn && file.name ? { fileName: file.name } : {}
      const upload = series
        ? await fetchSeries(series, transfer.signal)
        : { format: file.format, gzip: file.gzip, body: isRead ? head : body }
      const encoded = file.encoding && { options: { encoding: file.encoding, ...options.options } }
      const done = await work({
        ...upload,
        ...named,
        ...options,
        ...encoded,
        words: httpWords,
        signal: transfer.signal,
      })
      outcome = 'whole'
      return done
    } catch (error) {
      outcome = transfer.stalled ? 'stalled' : request.raw.aborted ? 'left' : 'failed'
      throw transfer.reason ?? error
    }
  }

  /** Reads the body of a request whose rows are saved already. */
  async skip(request: FastifyRequest, reply: FastifyReply, hash: Hash | undefined): Promise<void> {
    checkDeclaredLength(request, this.#parts.config.limits.uploadBytes)
    const transfer = new Transfer(request, reply, this.#parts)
    try {
      const { entry } = fromHttp(request.query as object, UPLOADING)
      const { body } = await fileIn(this.#body(transfer), uploadType(request.headers), { entry, hash })
      for await (const _ of body);
    } catch (error) {
      throw transfer.reason ?? error
    }
  }

  /**
   * Aborts an upload that is too slow, because it would occupy its place for up to an hour. Only the time in which we
   * wait for the client counts. The rate is not checked before that time is twice the stall limit.
   */
  #demandRate(transfer: Transfer, clientOwes: () => boolean): void {
    const { limits, timeouts } = this.#parts.config
    const { trace } = transfer.request
    const least = limits.uploadBytesPerSecond
    if (least === 0) return
    const step = Math.min(1_000, timeouts.stall / 4)
    let waited = 0
    const timer = setInterval(() => {
      if (clientOwes()) waited += step
      if (waited < 2 * timeouts.stall || (trace.bytes ?? 0) >= (least * waited) / 1000) return
      clearInterval(timer)
      transfer.abort(tooSlow(`The body arrives at less than ${counted(least, 'byte')} a second.`))
    }, step).unref()
    transfer.onClose(() => clearInterval(timer))
  }

  /**
   * The bytes of a body as they come, which the trace counts. Aborts if none come for the time of the stall limit
   * although we wait for them.
   */
  #body(transfer: Transfer): AsyncIterable<Uint8Array> {
    const limit = this.#parts.config.timeouts.stall
    const { clientOwes, chunks } = bodyOf(transfer)
    transfer.watch(clientOwes, () =>
      transfer.abort(tooSlow(`No data of the body has arrived for ${counted(limit / 1000, 'second')}.`)),
    )
    this.#demandRate(transfer, clientOwes)
    return chunks
  }
}

/** The body of a request as it comes, whether it is the client's turn to send more, and what ends it. */
export function bodyOf({ request, signal }: Transfer) {
  const { raw, trace } = request
  // A separate stream can be ended without ending the connection, which is still needed to send the error.
  const body = addAbortSignal(signal, new PassThrough())
  raw.once('error', (error) => body.destroy(error))
  raw.pipe(body)
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      trace.bytes = (trace.bytes ?? 0) + chunk.byteLength
      yield chunk
    }
  }
  return {
    chunks: chunks(),
    clientOwes: () => !raw.readableEnded && body.readableLength === 0,
    end: (error?: Error) => void body.destroy(error),
  }
}

/**
 * The file in a body, with its format by the headers, its name or its first bytes. The files of a form are an archive if
 * all are to be read.
 */
async function fileIn(source: AsyncIterable<Uint8Array>, type: BodyType, { entry, hash }: BodyOptions) {
  const files = type.boundary === undefined ? undefined : filesOfForm(source, type.boundary)
  const file = (await files?.next())?.value
  if (files && file && entry === '*' && uploadFormatOf(file.name)?.format !== 'zip')
    return { format: 'zip', gzip: false, body: hashed(archiveOf(file, files), hash), name: '' } as const
  const { format, gzip, encoding } = file?.type ? partType(file.type) : type
  hash?.update(file ? `${file.name}\n` : '')
  const body = hashed(file && files ? alone(file, files) : source, hash)
  if (format) return { format, gzip, encoding, body, name: file?.name }
  const peeked = await peek(body, SMALL_BYTES)
  const guessed = guessedFormat(peeked.head, file?.name)
  return { format: guessed.format, gzip: gzip || guessed.gzip, encoding, body: peeked.body, name: file?.name }
}

async function* hashed(body: AsyncIterable<Uint8Array>, hash: Hash | undefined) {
  for await (const chunk of body) {
    hash?.update(chunk)
    yield chunk
  }
}

/** A short JSON body may ask for series of a provider instead of bringing rows: what it asks for. */
function seriesIn(body: Buffer): object | undefined {
  let value: unknown
  try {
    value = JSON.parse(body.toString())
  } catch {
    // The engine says what is wrong with it.
  }
  if (typeof value !== 'object' || value === null) return undefined
  return !('rows' in value) && ('provider' in value || 'series' in value) ? value : undefined
}

/** Whether a body is small by its headers, and of a format whose small uploads are committed together. */
function isDeclaredSmall(
  { headers }: FastifyRequest,
  { format, gzip, boundary, encoding }: BodyType,
): boolean {
  const length = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY)
  return length < SMALL_BYTES && isGrouped(format) && !gzip && !boundary && !encoding
}

/** @param outcome what has become of the rows */
export function tooSlow(problem: string, outcome = 'Nothing was changed.'): ServerError {
  return new ServerError('request_timeout', `${problem} ${outcome}`, {
    headers: { connection: 'close' },
  })
}

/** @throws ServerError `body_too_large` */
function checkDeclaredLength(request: FastifyRequest, most: number): void {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared <= most) return
  throw new ServerError('body_too_large', `The body has ${declared} bytes; the limit is ${most}.`)
}

/**
 * Reads the first bytes of a body, so that the caller can look at them and still read the whole body, once from its
 * first byte on. `whole` says that `head` is all of it.
 */
async function peek(source: AsyncIterable<Uint8Array>, bytes: number) {
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
