import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net'

type Address = { readonly path: string } | { readonly host: string; readonly port: number }

interface Pair {
  readonly client: Socket
  readonly server: Socket
}

/** A line before a server that does to connections what networks do. */
export class Line implements AsyncDisposable {
  /** Nothing arrives on either side, and nobody is told, as behind a firewall that drops packets. */
  silent = false
  /** Milliseconds that everything takes in each direction. */
  delay = 0
  readonly #to: Address
  readonly #server: Server
  readonly #open = new Set<Pair>()

  static async to(to: Address): Promise<Line> {
    const line = new Line(to)
    await line.listen()
    return line
  }

  protected constructor(to: Address) {
    this.#to = to
    this.#server = createServer((client) => this.#connect(client))
  }

  protected async listen(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done))
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Looks at what passes on a new connection; gives what is done with data from each side, false to cut the line. */
  protected watch(): { sent: (data: Buffer) => boolean; answered: (data: Buffer) => boolean } {
    return { sent: () => true, answered: () => true }
  }

  #connect(client: Socket): void {
    const server = createConnection(this.#to)
    const pair = { client, server }
    this.#open.add(pair)
    const { sent, answered } = this.watch()
    this.#pass(pair, client, server, sent)
    this.#pass(pair, server, client, answered)
  }

  #pass(pair: Pair, from: Socket, to: Socket, isGood: (data: Buffer) => boolean): void {
    from.on('data', (data) => {
      if (this.silent) return
      if (!isGood(data)) return this.#cut(pair)
      if (this.delay === 0) to.write(data)
      else setTimeout(() => to.writable && to.write(data), this.delay)
    })
    const ended = () => {
      if (!this.silent) this.#cut(pair)
    }
    from.on('error', ended).on('close', ended)
  }

  #cut(pair: Pair): void {
    pair.client.destroy()
    pair.server.destroy()
    this.#open.delete(pair)
  }

  /** Closes all connections. */
  cut(): void {
    for (const pair of this.#open) this.#cut(pair)
  }

  /** Resets the connections of clients (RST). */
  reset(): void {
    for (const { client } of this.#open) client.resetAndDestroy()
  }

  /** Resets the connections of clients, and leaves the server in the belief that they are there. */
  halfOpen(): void {
    for (const { client, server } of this.#open) {
      server.removeAllListeners('close').removeAllListeners('data').resume()
      client.removeAllListeners('close').resetAndDestroy()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.silent = false
    this.cut()
    await new Promise((done) => this.#server.close(done))
  }
}
