import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net'

/** A line before a PostgreSQL server whose connections are cut when it is told to. */
export class PostgresLine implements AsyncDisposable {
  /**
   * Cuts a connection that has sent this text when it commits: before the server gets to know of it, or before the
   * client gets the answer.
   */
  cutCommit: { readonly of: string; readonly at: 'request' | 'answer' } | undefined
  /** How many statements were sent to the server. */
  statements = 0
  readonly #socket: string
  readonly #server: Server
  readonly #open = new Set<Socket>()

  /** @param url of a server that listens on a socket in a folder */
  static async before(url: string): Promise<PostgresLine> {
    const folder = new URL(url).searchParams.get('host')!
    const line = new PostgresLine(`${folder}/.s.PGSQL.5432`)
    await new Promise<void>((done) => line.#server.listen(0, '127.0.0.1', done))
    return line
  }

  private constructor(socket: string) {
    this.#socket = socket
    this.#server = createServer((client) => this.#pass(client))
  }

  /** The address of a database over this line. */
  url(database: string): string {
    const { port } = this.#server.address() as AddressInfo
    return `postgres://postgres:a-secret-password@127.0.0.1:${port}${new URL(database).pathname}`
  }

  #pass(client: Socket): void {
    const server = createConnection(this.#socket)
    const cut = () => {
      client.destroy()
      server.destroy()
      this.#open.delete(client)
    }
    this.#open.add(client)
    for (const end of [client, server]) end.on('error', cut).on('close', cut)
    let isMeant = false
    const count = statementCounter()
    client.on('data', (data) => {
      this.statements += count(data)
      isMeant ||= this.cutCommit !== undefined && data.includes(this.cutCommit.of)
      if (isMeant && this.cutCommit?.at === 'request' && data.includes('COMMIT')) cut()
      else server.write(data)
    })
    server.on('data', (data) => {
      if (isMeant && this.cutCommit?.at === 'answer' && data.includes('COMMIT\0')) cut()
      else client.write(data)
    })
  }

  /** Cuts all connections. On new ones each statement is sent with its text, so that it can be found. */
  cut(): void {
    for (const client of this.#open) client.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    await new Promise((done) => this.#server.close(done))
  }
}

/** Counts the statements in what a client sends: messages of a letter and a length, after a first one without a letter. */
function statementCounter(): (data: Buffer) => number {
  let rest = Buffer.alloc(0)
  let isFirst = true
  return (data) => {
    rest = Buffer.concat([rest, data])
    let statements = 0
    for (;;) {
      const letter = isFirst ? 0 : 1
      if (rest.length < letter + 4) return statements
      const length = letter + rest.readUInt32BE(letter)
      if (rest.length < length) return statements
      // Query and Execute.
      if (letter === 1 && 'QE'.includes(String.fromCharCode(rest[0]!))) statements += 1
      rest = rest.subarray(length)
      isFirst = false
    }
  }
}
