import type { Hash } from 'node:crypto'
import { addAbortSignal, PassThrough } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Upload } from '../../../engine/index.ts'
import { fromHttp, REPLACING } from '../../../engine/options.ts'
import type { Config } from '../../config/schema.ts'
import { parseJson } from '../../http/body.ts'
import { ServerError } from '../../http/errors.ts'
import type { Metrics, Outcome } from '../../metrics/metrics.ts'
import { Gate, type Lifecycle, Transfer } from '../transfer.ts'
import {
  type BodyType,
  checkDeclaredLength,
  fileOfForm,
  guessedType,
  peek,
  uploadType,
} from './upload-body.ts'
import { uploadOptions } from './upload-options.ts'

/** Fetches the rows that a JSON body asks for instead of bringing its own. */
export type FetchSeries = (wanted: unknown, signal: AbortSignal) => Promise<Upload>

/** A JSON body that asks for series is short, so a body with more bytes than this must contain rows. */
const PEEK_BYTES = 64 * 1024

/** The services that downloads and uploads both use. */
export interface TransferParts {
  readonly config: Config
  readonly lifecycle: Lifecycle
  readonly metrics: Metrics
}

/** Receives uploads. Limits how many run at once, and aborts those whose client sends nothing or too slowly. */
export class Uploads {
  readonly gate: Gate
  readonly #parts: TransferParts

  constructor(parts: TransferParts) {
    const { uploads, uploadsPerAccount, queue } = parts.config.limits
    this.#parts = parts
    this.gate = new Gate('uploads', {
      places: uploads,
      placesPerAccount: uploadsPerAccount,
      queue,
      wait: parts.config.timeouts.queue,
    })
  }

  /**
   * Reads the body of a request as an upload, and does `work` with it.
   * @param hash gets the bytes of the file, as they come; of a form also its name, but nothing of its boundary
   */
  async receive<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    fetchSeries: FetchSeries,
    work: (upload: Upload) => Promise<T>,
    hash?: Hash,
  ): Promise<T> {
    const { config, metrics } = this.#parts
    checkDeclaredLength(request, config.limits.uploadBytes)
    const type = uploadType(request.headers)
    const options = uploadOptions(fromHttp(request.query as object, REPLACING))
    const transfer = new Transfer(request, reply, this.#parts)
    let bytes = 0
    let outcome: Outcome = 'failed'
    let format = type.format
    transfer.onClose(() => metrics.uploadEnded(format ?? 'csv', outcome, bytes))
    try {
      await transfer.enter(this.gate)
      const body = this.#body(request, transfer, (chunk) => {
        bytes += chunk.byteLength
        request.trace.bytes = bytes
      })
      const told = await fileIn(body, type, hash)
      format = told.format
      const upload =
        told.format === 'json' && !told.gzip
          ? await jsonUpload(told.body, fetchSeries, transfer.signal)
          : { format: told.format, gzip: told.gzip, body: told.body }
      const encoded = told.encoding && { options: { encoding: told.encoding, ...options.options } }
      const done = await work({ ...upload, ...options, ...encoded, signal: transfer.signal })
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
      const body = this.#body(request, transfer, () => {})
      for await (const _ of (await fileIn(body, uploadType(request.headers), hash)).body);
    } catch (error) {
      throw transfer.reason ?? error
    }
  }

  /**
   * Aborts an upload that is too slow, because it would occupy its place for up to an hour. Only the time in which we
   * wait for the client counts. The rate is not checked before that time is twice the stall limit.
   */
  #demandRate(transfer: Transfer, clientOwes: () => boolean, bytes: () => number): void {
    const { limits, timeouts } = this.#parts.config
    const least = limits.uploadBytesPerSecond
    if (least === 0) return
    const step = Math.min(1_000, timeouts.stall / 4)
    let waited = 0
    const timer = setInterval(() => {
      if (clientOwes()) waited += step
      if (waited < 2 * timeouts.stall || bytes() >= (least * waited) / 1000) return
      clearInterval(timer)
      transfer.abort(
        new ServerError(
          'request_timeout',
          `The body arrives at less than ${least} bytes a second. Nothing was changed.`,
          { headers: { connection: 'close' } },
        ),
      )
    }, step).unref()
    transfer.onClose(() => clearInterval(timer))
  }

  /**
   * The bytes of a body as they come. Aborts if none come for the time of the stall limit although we wait for them.
   */
  #body(
    request: FastifyRequest,
    transfer: Transfer,
    look: (chunk: Uint8Array) => void,
  ): AsyncIterable<Uint8Array> {
    const { raw } = request
    const limit = this.#parts.config.timeouts.stall
    // A separate stream can be ended without ending the connection, which is still needed to send the error.
    const body = addAbortSignal(transfer.signal, new PassThrough())
    raw.once('error', (error) => body.destroy(error))
    raw.pipe(body)
    transfer.watch(
      () => !raw.readableEnded && body.readableLength === 0,
      () =>
        transfer.abort(
          new ServerError(
            'request_timeout',
            `No data of the body has arrived for ${limit / 1000} seconds. Nothing was changed.`,
            { headers: { connection: 'close' } },
          ),
        ),
    )
    this.#demandRate(
      transfer,
      () => !raw.readableEnded && body.readableLength === 0,
      () => request.trace.bytes ?? 0,
    )
    return (async function* () {
      for await (const chunk of body) {
        look(chunk)
        yield chunk as Uint8Array
      }
    })()
  }
}

/** The file in a body, with its format by the headers, its name or its first bytes. */
async function fileIn(source: AsyncIterable<Uint8Array>, type: BodyType, hash?: Hash) {
  const file = type.boundary === undefined ? undefined : await fileOfForm(source, type.boundary)
  const { format, gzip, encoding } = file?.type ? partType(file.type) : type
  hash?.update(file ? `${file.name}\n` : '')
  const body = hashed(file?.body ?? source, hash)
  if (format) return { format, gzip, encoding, body }
  const peeked = await peek(body, PEEK_BYTES)
  const guessed = guessedType(peeked.head, file?.name)
  return { format: guessed.format, gzip: gzip || guessed.gzip, encoding, body: peeked.body }
}

async function* hashed(body: AsyncIterable<Uint8Array>, hash: Hash | undefined) {
  for await (const chunk of body) {
    hash?.update(chunk)
    yield chunk
  }
}

/** The type of a file in a form. One that is unknown is none, because programs guess it by the file's name. */
function partType(type: string): BodyType {
  try {
    return uploadType({ 'content-type': type })
  } catch {
    return { format: undefined, gzip: false }
  }
}

/** A short JSON body may ask for series of a provider instead of bringing rows. */
async function jsonUpload(
  source: AsyncIterable<Uint8Array>,
  fetchSeries: FetchSeries,
  signal: AbortSignal,
): Promise<Upload> {
  const { head, whole, body } = await peek(source, PEEK_BYTES)
  if (whole) {
    const value = parseJson(head)
    if (asksForSeries(value)) return fetchSeries(value, signal)
  }
  return { format: 'json', body }
}

function asksForSeries(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !('rows' in value) &&
    ('provider' in value || 'series' in value)
  )
}
