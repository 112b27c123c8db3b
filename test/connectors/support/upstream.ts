import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request as it arrived. */
export interface Hit {
  readonly method: string
  /** As sent, percent-encoded. */
  readonly url: string
  /** Decoded, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What a route answers: a text or bytes as they are, anything else as JSON. */
export interface Reply {
  readonly status?: number
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Writes the answer itself: to hang, to drip, to cut off. */
  readonly raw?: (response: ServerResponse) => void
}

export type Route = Reply | ((hit: Hit) => Reply | Promise<Reply>)

/** Keys are `/path` for any method or `POST /path`, decoded, without the query; `*` answers what no other key does. */
export type Routes = Readonly<Record<string, Route>>

export interface Upstream {
  /** `http://127.0.0.1:port`, without a slash at the end. */
  readonly url: string
  /** Everything that arrived, oldest first. */
  readonly requests: Hit[]
  /** Replaced to change what the provider answers from now on. */
  routes: Routes
  close(): Promise<void>
}

/** A real HTTP server on 127.0.0.1 that plays a provider. What no route answers is a 404 in JSON. */
export async function startUpstream(routes: Routes = {}): Promise<Upstream> {
  const requests: Hit[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const url = request.url ?? '/'
    const [path = '/', search = ''] = url.split('?', 2)
    const hit: Hit = {
      method: request.method ?? 'GET',
      url,
      path: decodeURIComponent(path),
      query: new URLSearchParams(search),
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    }
    requests.push(hit)
    const { routes } = upstream
    const route = routes[`${hit.method} ${hit.path}`] ?? routes[hit.path] ?? routes['*'] ?? NOT_FOUND
    answer(response, typeof route === 'function' ? await route(hit) : route)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const upstream: Upstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    routes,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return upstream
}

const NOT_FOUND: Reply = { status: 404, body: { message: 'not found' } }

function answer(response: ServerResponse, reply: Reply): void {
  if (reply.raw !== undefined) {
    reply.raw(response)
    return
  }
  const { body } = reply
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  const type = reply.type ?? (isRaw ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8')
  response.writeHead(reply.status ?? 200, { 'content-type': type, ...reply.headers })
  response.end(isRaw || body === undefined ? body : JSON.stringify(body))
}
