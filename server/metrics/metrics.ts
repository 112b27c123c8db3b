import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

const SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/** How a download or an upload ended. */
export type Outcome = 'whole' | 'failed' | 'left' | 'stalled'

/** Metrics for Prometheus. Labels are routes and codes, never text that a user wrote. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #requests = this.#counter('http_requests_total', 'Requests answered.', [
    'method',
    'route',
    'status',
  ])
  readonly #duration = this.#histogram('http_request_seconds', 'From arrival to the last byte.', [
    'method',
    'route',
  ])
  readonly #exports = this.#counter('exports_total', 'Downloads of datasets that started.', [
    'format',
    'outcome',
  ])
  readonly #exportRows = this.#counter('export_rows_total', 'Rows sent.', ['format'])
  readonly #exportBytes = this.#counter('export_bytes_total', 'Bytes sent, as compressed.', ['format'])
  readonly #firstByte = this.#histogram('export_first_byte_seconds', 'From arrival to the first byte.', [
    'format',
  ])
  readonly #exportDuration = this.#histogram('export_seconds', 'From arrival to the last byte.', ['format'])
  readonly #uploads = this.#counter('uploads_total', 'Uploads that started.', ['format', 'outcome'])
  readonly #uploadBytes = this.#counter('upload_bytes_total', 'Bytes of uploads received.', ['format'])
  readonly #refused = this.#counter('refused_total', 'Requests refused on purpose.', ['code'])

  /** Metrics with their labels already looked up, since every request needs them. There is one per route and status. */
  readonly #ofRoutes = new Map<string, { requests: Counter.Internal; duration: Histogram.Internal<string> }>()

  constructor() {
    collectDefaultMetrics({ register: this.#registry, prefix: 'parquetry_' })
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }

  request(method: string, route: string, status: number, seconds: number): void {
    const name = `${method} ${status} ${route}`
    let figures = this.#ofRoutes.get(name)
    if (!figures) {
      figures = {
        requests: this.#requests.labels({ method, route, status }),
        duration: this.#duration.labels({ method, route }),
      }
      this.#ofRoutes.set(name, figures)
    }
    figures.requests.inc()
    figures.duration.observe(seconds)
  }

  refused(code: string): void {
    this.#refused.inc({ code })
  }

  exportStarted(format: string, firstByteSeconds: number): void {
    this.#firstByte.observe({ format }, firstByteSeconds)
  }

  exportEnded(format: string, end: { outcome: Outcome; rows: number; bytes: number; seconds: number }): void {
    this.#exports.inc({ format, outcome: end.outcome })
    this.#exportRows.inc({ format }, end.rows)
    this.#exportBytes.inc({ format }, end.bytes)
    this.#exportDuration.observe({ format }, end.seconds)
  }

  uploadEnded(format: string, outcome: Outcome, bytes: number): void {
    this.#uploads.inc({ format, outcome })
    this.#uploadBytes.inc({ format }, bytes)
  }

  /** Adds a metric whose values are looked up whenever the metrics are requested. Each value has its own label. */
  gauge(
    name: string,
    help: string,
    read: () => readonly GaugeValue[] | Promise<readonly GaugeValue[]>,
  ): void {
    const gauge: Gauge<string> = new Gauge({
      name: `parquetry_${name}`,
      help,
      labelNames: ['of'],
      registers: [this.#registry],
      collect: async () => {
        gauge.reset()
        for (const { of, value } of await read()) gauge.set({ of }, value)
      },
    })
  }

  #counter(name: string, help: string, labelNames: readonly string[]): Counter<string> {
    return new Counter({ name: `parquetry_${name}`, help, labelNames, registers: [this.#registry] })
  }

  #histogram(name: string, help: string, labelNames: readonly string[]): Histogram<string> {
    return new Histogram({
      name: `parquetry_${name}`,
      help,
      labelNames,
      buckets: SECONDS,
      registers: [this.#registry],
    })
  }
}

export interface GaugeValue {
  readonly of: string
  readonly value: number
}
