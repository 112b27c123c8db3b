import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An object that can be read by ranges. */
export interface Readable {
  readonly bytes: number
  /** Reads bytes `from` (inclusive) to `to` (exclusive). */
  read(from: number, to: number): Promise<Uint8Array>
}

/**
 * An HTTP server for DuckDB in the same process, on 127.0.0.1: objects under a path that nobody else can guess. It gives
 * sizes and ranges, and nothing else. It is DuckDB's proxy, too, so whatever address DuckDB may ask for, the question
 * arrives here.
 */
export class RangeEndpoint {
  readonly #server: Server
  readonly #path = `/${randomBytes(24).toString('base64url')}/`
  readonly #find: (name: string) => Readable | undefined

  /** @param find the object with a name; undefined if it is not read at present */
  static async open(find: (name: string) => Readable | undefined): Promise<RangeEndpoint> {
    const endpoint = new RangeEndpoint(find)
    await new Promise<void>((listening, failed) => {
      endpoint.#server.once('error', failed).listen(0, '127.0.0.1', listening)
    })
    return endpoint
  }

  private constructor(find: (name: string) => Readable | undefined) {
    this.#find = find
    this.#server = createServer((request, answer) => {
      this.#answer(request, answer).catch(() => refuse(answer, 424))
    })
    // A connection that DuckDB keeps must not end just when DuckDB uses it again.
    this.#server.keepAliveTimeout = 0
    this.#server.on('connection', (socket) => socket.unref())
    this.#server.unref()
  }

  /** `http://127.0.0.1:port`. */
  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The addresses of all objects begin with it. */
  get base(): string {
    return this.origin + this.#path
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #answer(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    // A proxy is asked for whole addresses.
    const path = request.url?.replace(this.origin, '') ?? ''
    const object = path.startsWith(this.#path) ? this.#find(path.slice(this.#path.length)) : undefined
    if (!object) return refuse(answer, 404)
    const { bytes } = object
    const headers = { 'accept-ranges': 'bytes', 'content-type': 'application/octet-stream' }
    if (request.method === 'HEAD') {
      answer.writeHead(200, { ...headers, 'content-length': bytes }).end()
      return
    }
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    if (request.method !== 'GET' || first === undefined) return refuse(answer, 405)
    const from = Number(first)
    const to = Math.min(Number(last) + 1, bytes)
    if (from >= to) return refuse(answer, 416)
    const data = await object.read(from, to)
    const range = `bytes ${from}-${to - 1}/${bytes}`
    answer.writeHead(206, { ...headers, 'content-length': to - from, 'content-range': range }).end(data)
  }
}

function refuse(answer: ServerResponse, status: number): void {
  answer.writeHead(status, { 'content-length': 0 }).end()
}
