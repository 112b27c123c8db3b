import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A page of an answer, without its address of the next page, or something else to do with the request. */
export type Page = object | ((response: ServerResponse) => unknown)

/** What is sent for a statement, page by page; the first answers the POST. */
export type Script = (sql: string) => readonly Page[]

/** A server on 127.0.0.1 that speaks Trino's protocol and answers as a script says. Dispose it. */
export class FakeTrino implements AsyncDisposable {
  /** The statements that were asked, with their headers. */
  readonly asked: { sql: string; headers: IncomingMessage['headers'] }[] = []
  /** Paths of cancelled queries. */
  readonly cancelled: string[] = []
  script: Script = () => []
  readonly #server: Server
  readonly #queries: (readonly Page[])[] = []

  static async start(): Promise<FakeTrino> {
    const fake = new FakeTrino()
    await new Promise<void>((done) => fake.#server.listen(0, '127.0.0.1', done))
    return fake
  }

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error) => response.destroy(error))
    })
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** For PARQUETRY_TRINO_URL. */
  get url(): string {
    return `${this.origin.replace('//', '//us%40er:pass%20word@')}/lake`
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '', headers } = request
    if (method === 'POST' && url === '/v1/statement') {
      const sql = await text(request)
      this.asked.push({ sql, headers })
      this.#queries.push(this.script(sql))
      return this.#page(this.#queries.length - 1, 0, response)
    }
    const [, query, page] = /^\/query\/(\d+)\/(\d+)$/.exec(url) ?? []
    if (query !== undefined && method === 'GET') return this.#page(Number(query), Number(page), response)
    if (query !== undefined && method === 'DELETE') {
      this.cancelled.push(url)
      response.writeHead(204).end()
      return
    }
    response.writeHead(404).end()
  }

  #page(query: number, number: number, response: ServerResponse): void {
    const pages = this.#queries[query]!
    const page = pages[number] ?? {}
    if (typeof page === 'function') {
      page(response)
      return
    }
    const nextUri = number + 1 < pages.length ? `${this.origin}/query/${query}/${number + 1}` : undefined
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: String(query), ...page, nextUri }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
  }
}
