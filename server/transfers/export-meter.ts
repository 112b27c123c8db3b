import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { ByteStream } from '../../engine/index.ts'
import type { Metrics, Outcome } from '../metrics/metrics.ts'
import type { Answer } from './answer-cache.ts'
import type { Announced } from './download.ts'
import type { Transfer } from './transfer.ts'

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
