import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A proxy before nodes: each request goes to the next node, or to the one after it if nobody is there. If a node ends in
 * the middle, the client's connection is cut: the proxy can't know whether the change was made.
 */
export class NodeProxy implements AsyncDisposable {
  readonly url: string
  readonly #server: Server

  /** @param nodes the addresses that nodes have now */
  static async before(nodes: () => readonly string[]): Promise<NodeProxy> {
    let turn = 0
    const server = createServer(async (asked, answer) => {
      const body = Buffer.concat(await asked.toArray().catch(() => []))
      const at = turn++
      const urls = nodes()
      for (let tries = 0; tries < urls.length; tries++) {
        if (await pass(asked, body, answer, urls[(at + tries) % urls.length]!)) return
      }
      answer.destroy()
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    return new NodeProxy(server)
  }

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
  }
}

/** Gives false if nobody is at the address, so that another node may be asked. */
function pass(asked: IncomingMessage, body: Buffer, answer: ServerResponse, url: string): Promise<boolean> {
  const { method, headers } = asked
  return new Promise((done) => {
    const cut = ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED') return done(false)
      answer.destroy()
      done(true)
    }
    const sent = request(new URL(asked.url!, url), { method, headers, agent: false }, (got) => {
      answer.writeHead(got.statusCode!, got.headers)
      got.on('error', cut).pipe(answer)
      got.once('end', () => done(true))
    })
    sent.on('error', cut)
    sent.end(body)
  })
}
