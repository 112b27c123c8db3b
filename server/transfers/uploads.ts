import { addAbortSignal, PassThrough } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Dataset, DatasetRecord, Upload } from '../../engine/index.ts'
import type { Config } from '../config/config.ts'
import { parseJson } from '../http/body.ts'
import { ServerError } from '../http/errors.ts'
import type { Metrics, Outcome } from '../metrics/metrics.ts'
import { Gate } from './gate.ts'
import type { Lifecycle } from './lifecycle.ts'
import { Transfer } from './transfer.ts'
import { checkDeclaredLength, peek, uploadType } from './upload-body.ts'
import { uploadOptions } from './upload-options.ts'

export type WriteMode = 'replace' | 'append'

/** Fetches the rows that a JSON body asks for instead of bringing its own. */
export type FetchSeries = (wanted: unknown, signal: AbortSignal) => Promise<Upload>

/** The target of an upload, and how to write it. */
export interface Writing {
  readonly dataset: Dataset
  readonly mode: WriteMode
  /** Throws if the plan does not allow the dataset's new size. */
  readonly accept: NonNullable<Upload['accept']>
  readonly fetchSeries: FetchSeries
}

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

  /** Writes the body of a request to a dataset: all of it or nothing. */
  async receive(
    request: FastifyRequest,
    reply: FastifyReply,
    { dataset, mode, accept, fetchSeries }: Writing,
  ): Promise<DatasetRecord> {
    const { config, lifecycle, metrics } = this.#parts
    checkDeclaredLength(request, config.limits.uploadBytes)
    const type = uploadType(request)
    const options = uploadOptions(request.query as object)
    const transfer = new Transfer(request, reply, lifecycle, config.timeouts)
    let bytes = 0
    let outcome: Outcome = 'failed'
    transfer.onClose(() => metrics.uploadEnded(type.format, outcome, bytes))
    try {
      const place = await this.gate.enter(request.account.id, transfer.signal)
      transfer.onClose(() => place[Symbol.dispose]())
      const body = this.#body(request, transfer, (count) => {
        bytes += count
        request.trace.bytes = bytes
      })
      const upload =
        type.format === 'json' && !type.gzip
          ? await jsonUpload(body, fetchSeries, transfer.signal)
          : { ...type, body }
      const record = await dataset[mode]({ ...upload, ...options, signal: transfer.signal, accept })
      outcome = 'whole'
      return record
    } catch (error) {
      outcome = transfer.stalled ? 'stalled' : request.raw.aborted ? 'left' : 'failed'
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
    count: (bytes: number) => void,
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
        count(chunk.byteLength)
        yield chunk as Uint8Array
      }
    })()
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
