import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Metrics } from '../metrics/metrics.ts'

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
