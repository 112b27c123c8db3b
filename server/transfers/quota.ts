import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { ByteStream } from '../../engine/index.ts'
import type { Plans } from '../accounts/plans.ts'
import type { Reservation, Usage } from '../accounts/usage.ts'
import type { Metrics, Outcome } from '../metrics/metrics.ts'
import type { Answer } from './answer-cache.ts'
import type { Announced, Download } from './download.ts'
import type { Transfer } from './transfer.ts'

interface QuotaParts {
  readonly usage: Usage
  readonly plans: Plans
}

/**
 * Whether the rows must be counted before the first of them is read. This is so if the plan limits rows and the
 * largest possible number is unknown or more than what is left of the limit: the true number may still be within it.
 */
export async function countsFirst(
  { plans, usage }: QuotaParts,
  { account }: FastifyRequest,
  { query, meteredRows }: Download,
): Promise<boolean> {
  if (meteredRows === undefined) return false
  const limit = plans.limits(account.plan).exportedRows
  if (limit === null) return false
  if (query.knownRowCount === undefined) return true
  return query.resultRows(query.knownRowCount) > (await usage.remaining(account.id, limit))
}

/** Reserves the rows of a download, of which `count` match, if its rows count against the plan. */
export async function reserve(
  { plans, usage }: QuotaParts,
  { account }: FastifyRequest,
  { query, meteredRows }: Download,
  count: number | undefined,
): Promise<Reservation | undefined> {
  if (meteredRows === undefined) return undefined
  const limit = plans.limits(account.plan).exportedRows
  return usage.reserve(account, limit, query.resultRows(count ?? meteredRows))
}

/** Counts rows that are there already. */
export async function spend(
  { plans, usage }: QuotaParts,
  { account }: FastifyRequest,
  rows: number,
): Promise<void> {
  const reservation = await usage.reserve(account, plans.limits(account.plan).exportedRows, rows)
  reservation.settle(rows)
}

/** Measures downloads: the time to the first byte, rows, bytes, and how they ended. */
export class ExportMeter {
  readonly #metrics: Metrics

  constructor(metrics: Metrics) {
    this.#metrics = metrics
  }

  /** Notes the first byte of a download, and what is sent if that is known already. */
  begins({ trace }: FastifyRequest, { format }: Announced, whole?: Answer): void {
    trace.firstByte = trace.elapsed
    if (whole) Object.assign(trace, { rows: whole.rows, bytes: whole.body.byteLength })
    this.#metrics.exportStarted(format, trace.firstByte / 1000)
  }

  /** Notes the end of a download. */
  ends({ trace }: FastifyRequest, { format }: Announced, outcome: Outcome): void {
    const { rows = 0, bytes = 0, elapsed } = trace
    this.#metrics.exportEnded(format, { outcome, rows, bytes, seconds: elapsed / 1000 })
  }

  /** Gives the body for Fastify to send, and measures and watches it until its end. */
  watched(download: Announced, stream: ByteStream, transfer: Transfer, body: Readable): Readable {
    const { request } = transfer
    const { trace } = request
    let failed = false
    const { raw } = transfer.reply
    const sent: Uint8Array[] = []
    trace.bytes = 0
    body.on('data', (chunk: Uint8Array) => {
      // Nothing waits in the socket, so all chunks given to it have been sent and their memory can be used again.
      if (raw.writableLength === 0) for (const one of sent.splice(0)) stream.recycle(one)
      sent.push(chunk)
      if (trace.firstByte === undefined) this.begins(request, download)
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
    transfer.watchSocket()
    transfer.onClose(() => {
      if (raw.writableFinished) for (const one of sent.splice(0)) stream.recycle(one)
      if (raw.writableFinished) this.ends(request, download, 'whole')
      else this.ends(request, download, failed ? 'failed' : transfer.stalled ? 'stalled' : 'left')
    })
    return body
  }
}
