import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** What happens to a request on its way; undefined lets it through. */
export interface Fault {
  /** Answered in the store's place. */
  readonly status?: number
  /** The connection is cut after so many bytes of the answer, or before any. */
  readonly cutAnswerAt?: number
  /** The connection is cut after so many bytes of what is sent. */
  readonly cutRequestAt?: number
  /** One bit of the answer is another one. */
  readonly flipAnswer?: boolean
  /** One bit of what is sent is another one. */
  readonly flipRequest?: boolean
  /** Nothing ever comes. */
  readonly silence?: boolean
}

/** A proxy before an S3 server that spoils what it is told to. The host is signed, so it is passed on as it came. */
export class FaultyLine implements AsyncDisposable {
  /** Asked for each request. */
  fault: (asked: IncomingMessage) => Fault | undefined = () => undefined
  readonly asked: string[] = []
  /** Milliseconds that pass before each request goes on. */
  delay = 0
  readonly #to: number
  readonly #server: Server

  static async before(port: number): Promise<FaultyLine> {
    const line = new FaultyLine(port)
    await new Promise<void>((done) => line.#server.listen(0, '127.0.0.1', done))
    return line
  }

  private constructor(to: number) {
    this.#to = to
    this.#server = createServer((asked, answer) => {
      this.#pass(asked, answer).catch(() => asked.socket.destroy())
    })
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async #pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    this.asked.push(`${asked.method} ${asked.url}`)
    const { status, cutAnswerAt, cutRequestAt, flipAnswer, flipRequest, silence } = this.fault(asked) ?? {}
    if (silence) return
    if (this.delay > 0) await wait(this.delay)
    const sent: Buffer[] = []
    let bytes = 0
    for await (const piece of asked) {
      sent.push(piece)
      bytes += piece.length
      if (cutRequestAt !== undefined && bytes >= cutRequestAt) return void asked.socket.destroy()
    }
    if (status !== undefined) return void answer.writeHead(status).end()
    const body = Buffer.concat(sent)
    if (flipRequest) flip(body)
    const { method, url, headers } = asked
    const onwards = request({ host: '127.0.0.1', port: this.#to, method, path: url, headers })
    onwards.end(body)
    const got = await new Promise<IncomingMessage>((done, failed) => {
      onwards.once('response', done).once('error', failed)
    })
    const pieces: Buffer[] = []
    for await (const piece of got) pieces.push(piece)
    const data = Buffer.concat(pieces)
    if (flipAnswer) flip(data)
    answer.writeHead(got.statusCode!, got.headers)
    if (cutAnswerAt === undefined) answer.end(data)
    else answer.write(data.subarray(0, cutAnswerAt), () => asked.socket.destroy())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
  }
}

/** Turns one bit in the middle. */
function flip(data: Buffer): void {
  if (data.length > 0) data[data.length >> 1]! ^= 1
}
