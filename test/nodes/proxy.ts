import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'

/** How often the nodes are asked whether they are ready. */
const CHECK_MS = 200

/**
 * A proxy before nodes: each request goes to the next node that is ready, or to the one after it if nobody is there. If a
 * node ends in the middle, the client's connection is cut: the proxy can't know whether the change was made. A body that is
 * committed while it comes is passed on while it comes, others when they are whole.
 */
export class NodeProxy implements AsyncDisposable {
  readonly url: string
  readonly #server: Server
  readonly #checking: NodeJS.Timeout | undefined

  /**
   * @param nodes the addresses that nodes have now
   * @param checks whether it asks the nodes if they are ready; without it, it sends requests to all
   */
  static async before(nodes: () => readonly string[], checks = false): Promise<NodeProxy> {
    let turn = 0
    const unready = new Set<string>()
    const check = async () => {
      for (const url of nodes()) {
        const isReady = await fetch(`${url}/readyz`).then(
          (answer) => answer.ok,
          () => false,
        )
        if (isReady) unready.delete(url)
        else unready.add(url)
      }
    }
    const server = createServer(async (asked, answer) => {
      const isStream = /[?&]commit=/.test(asked.url!)
      const body = isStream ? undefined : Buffer.concat(await asked.toArray().catch(() => []))
      const at = turn++
      const ready = nodes().filter((url) => !unready.has(url))
      const urls = ready.length > 0 ? ready : nodes()
      for (let tries = 0; tries < urls.length; tries++) {
        if (await pass(asked, body, answer, urls[(at + tries) % urls.length]!)) return
      }
      answer.destroy()
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    return new NodeProxy(server, checks ? setInterval(check, CHECK_MS) : undefined)
  }

  private constructor(server: Server, checking: NodeJS.Timeout | undefined) {
    this.#checking = checking
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#checking)
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
  }
}

/** Gives false if nobody is at the address, so that another node may be asked. */
function pass(
  asked: IncomingMessage,
  body: Buffer | undefined,
  answer: ServerResponse,
  url: string,
): Promise<boolean> {
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
    if (body) sent.end(body)
    // Not before somebody is there: what was read can't be sent to another node.
    else sent.once('socket', (socket) => socket.once('connect', () => pipeline(asked, sent, () => {})))
  })
}
