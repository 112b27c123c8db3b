import { createRequire } from 'node:module'
import type { Counter, Gauge, Histogram } from 'prom-client'

const SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/** How a download or an upload ended. */
export type Outcome = 'whole' | 'failed' | 'left' | 'stalled'

/** Metrics for Prometheus. Labels are routes and codes, never text that a user wrote. */
export class Metrics {
  readonly #gauges: () => readonly GaugeOptions[]
  #made: ReturnType<typeof makeFigures> | undefined
  /** Metrics with their labels already looked up, since every request needs them. There is one per route and status. */
  readonly #ofRoutes = new Map<string, { requests: Counter.Internal; duration: Histogram.Internal<string> }>()

  /** @param gauges metrics whose values are looked up whenever the metrics are requested */
  constructor(gauges: () => readonly GaugeOptions[]) {
    this.#gauges = gauges
  }

  /** Made when the first request has been answered, because their library takes long to load. */
  get #figures() {
    this.#made ??= makeFigures(this.#gauges())
    return this.#made
  }

  get contentType(): string {
    return this.#figures.registry.contentType
  }

  text(): Promise<string> {
    return this.#figures.registry.metrics()
  }

  request(method: string, route: string, status: number, seconds: number): void {
    const name = `${method} ${status} ${route}`
    let figures = this.#ofRoutes.get(name)
    if (!figures) {
      figures = {
        requests: this.#figures.requests.labels({ method, route, status }),
        duration: this.#figures.duration.labels({ method, route }),
      }
      this.#ofRoutes.set(name, figures)
    }
    figures.requests.inc()
    figures.duration.observe(seconds)
  }

  refused(code: string): void {
    this.#figures.refused.inc({ code })
  }

  exportStarted(format: string, firstByteSeconds: number): void {
    this.#figures.firstByte.observe({ format }, firstByteSeconds)
  }

  exportEnded(format: string, end: { outcome: Outcome; rows: number; bytes: number; seconds: number }): void {
    this.#figures.exports.inc({ format, outcome: end.outcome })
    this.#figures.exportRows.inc({ format }, end.rows)
    this.#figures.exportBytes.inc({ format }, end.bytes)
    this.#figures.exportDuration.observe({ format }, end.seconds)
  }

  uploadEnded(format: string, outcome: Outcome, bytes: number): void {
    this.#figures.uploads.inc({ format, outcome })
    this.#figures.uploadBytes.inc({ format }, bytes)
  }
}

export interface GaugeOptions {
  readonly name: string
  readonly help: string
  /** The values by their labels; what is not a number is left out. */
  readonly read: () => object | Promise<object>
}

function makeFigures(gauges: readonly GaugeOptions[]) {
  const client = createRequire(import.meta.url)('prom-client') as typeof import('prom-client')
  const registry = new client.Registry()
  const named = (name: string, help: string, ...labelNames: readonly string[]) => ({
    name: `parquetry_${name}`,
    help,
    labelNames,
    registers: [registry],
  })
  const counter = (...of: Parameters<typeof named>): Counter<string> => new client.Counter(named(...of))
  const histogram = (...of: Parameters<typeof named>): Histogram<string> =>
    new client.Histogram({ ...named(...of), buckets: SECONDS })
  client.collectDefaultMetrics({ register: registry, prefix: 'parquetry_' })
  for (const { name, help, read } of gauges) {
    const gauge: Gauge<string> = new client.Gauge({
      ...named(name, help, 'of'),
      collect: async () => {
        gauge.reset()
        for (const [of, value] of Object.entries(await read())) {
          if (typeof value === 'number') gauge.set({ of }, value)
        }
      },
    })
  }
  return {
    registry,
    requests: counter('http_requests_total', 'Requests answered.', 'method', 'route', 'status'),
    duration: histogram('http_request_seconds', 'From arrival to the last byte.', 'method', 'route'),
    exports: counter('exports_total', 'Downloads of datasets that started.', 'format', 'outcome'),
    exportRows: counter('export_rows_total', 'Rows sent.', 'format'),
    exportBytes: counter('export_bytes_total', 'Bytes sent, as compressed.', 'format'),
    firstByte: histogram('export_first_byte_seconds', 'From arrival to the first byte.', 'format'),
    exportDuration: histogram('export_seconds', 'From arrival to the last byte.', 'format'),
    uploads: counter('uploads_total', 'Uploads that started.', 'format', 'outcome'),
    uploadBytes: counter('upload_bytes_total', 'Bytes of uploads received.', 'format'),
    refused: counter('refused_total', 'Requests refused on purpose.', 'code'),
  }
}
