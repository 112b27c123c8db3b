import { createRequire } from 'node:module'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Counter, Gauge, Histogram } from 'prom-client'

/** Collects facts about a request while it runs, for its line in the log and for the metrics. */
export class Trace {
  readonly started = performance.now()
  /** Rows sent. */
  rows: number | undefined
  /** Bytes of the body, as sent. */
  bytes: number | undefined
  /** Milliseconds to the first byte of data. */
  firstByte: number | undefined
  /** Whether another route answers the request, with a trace of its own. */
  passedOn = false
  readonly #timings: [name: string, milliseconds: number][] = []
  #mark = this.started

  /** Ends a stage of the work. The time since the end of the previous stage is added to `Server-Timing`. */
  stage(name: string): void {
    const now = performance.now()
    this.#timings.push([name, now - this.#mark])
    this.#mark = now
  }

  get elapsed(): number {
    return performance.now() - this.started
  }

  /** The value of the header `Server-Timing` (W3C Server Timing). */
  get serverTiming(): string {
    return this.#timings.map(([name, duration]) => `${name};dur=${duration.toFixed(1)}`).join(', ')
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    trace: Trace
  }
}

/**
 * Logs one line for each request when its answer is closed, so also if the client left early. Headers and query strings
 * are not logged, because they may contain keys. The answer has the id of the line in `X-Request-Id`.
 */
export function traceRequests(app: FastifyInstance, metrics: Metrics): void {
  app.decorateRequest('trace', null as unknown as Trace)
  app.addHook('onRequest', (request, reply, done) => {
    request.trace = new Trace()
    reply.header('x-request-id', request.id)
    reply.raw.once('close', () => finish(request, reply, metrics))
    done()
  })
}

function finish(request: FastifyRequest, reply: FastifyReply, metrics: Metrics): void {
  const { trace } = request
  if (trace.passedOn) return
  const route = request.routeOptions.url ?? 'unknown'
  // 499, as in nginx, if the client left or the connection was cut before the end.
  const whole = reply.raw.writableFinished
  const status = whole ? reply.raw.statusCode : 499
  const milliseconds = trace.elapsed
  metrics.request(request.method, route, status, milliseconds / 1000)
  request.log.info(
    {
      account: request.account?.name,
      method: request.method,
      route,
      path: loggedPath(request, reply),
      status,
      ...(whole ? {} : { cut: true, sentStatus: reply.raw.headersSent ? reply.raw.statusCode : undefined }),
      rows: trace.rows,
      bytes: trace.bytes,
      ms: Math.round(milliseconds * 10) / 10,
      firstByteMs: trace.firstByte === undefined ? undefined : Math.round(trace.firstByte * 10) / 10,
    },
    'request',
  )
}

/**
 * The path of a request, as it may be logged. If the request succeeded, it is the path as given. Otherwise it is the
 * pattern of the route, in which only numbers are filled in, because a user may have put a key where a name should be.
 */
function loggedPath(request: FastifyRequest, { raw }: FastifyReply): string | undefined {
  if (raw.headersSent && raw.statusCode < 400) return request.url.split('?', 1)[0]
  const given = request.params as Readonly<Record<string, string>>
  return request.routeOptions.url?.replace(/:(\w+)|\*/g, (_, name = '*') =>
    /^\d{1,15}$/.test(given[name] ?? '') ? given[name]! : '…',
  )
}

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

  /** Notes the first byte of a download. */
  exportStarted(format: string, trace: Trace): void {
    trace.firstByte = trace.elapsed
    this.#figures.firstByte.observe({ format }, trace.firstByte / 1000)
  }

  /** Notes the end of a download, whose rows and bytes are those of the trace. */
  exportEnded(format: string, { rows = 0, bytes = 0, elapsed }: Trace, outcome: Outcome): void {
    this.#figures.exports.inc({ format, outcome })
    this.#figures.exportRows.inc({ format }, rows)
    this.#figures.exportBytes.inc({ format }, bytes)
    this.#figures.exportDuration.observe({ format }, elapsed / 1000)
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
