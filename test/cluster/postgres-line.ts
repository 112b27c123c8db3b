import { Line } from './line.ts'

/** A line before a PostgreSQL server, which knows what statements are sent. */
export class PostgresLine extends Line {
  /**
   * Cuts a connection that has sent this text when it commits: before the server gets to know of it, or before the
   * client gets the answer.
   */
  cutCommit: { readonly of: string; readonly at: 'request' | 'answer' } | undefined
  /** Once this text has been sent, nothing passes any more, not even the answer. */
  silentAfter: string | undefined
  /** How many statements were sent to the server. */
  statements = 0

  /** @param url of a server that listens on a socket in a folder */
  static async before(url: string): Promise<PostgresLine> {
    const folder = new URL(url).searchParams.get('host')!
    const line = new PostgresLine({ path: `${folder}/.s.PGSQL.5432` })
    await line.listen()
    return line
  }

  /** The address of a database over this line. */
  url(database: string): string {
    return `postgres://postgres:a-secret-password@127.0.0.1:${this.port}${new URL(database).pathname}`
  }

  /**
   * On new connections each statement is sent with its text, so cut the old ones if a statement is to be found by it.
   */
  protected override watch() {
    let isMeant = false
    const count = statementCounter()
    return {
      sent: (data: Buffer) => {
        this.statements += count(data)
        isMeant ||= this.cutCommit !== undefined && data.includes(this.cutCommit.of)
        if (this.silentAfter !== undefined && data.includes(this.silentAfter)) {
          // By then it is on its way.
          queueMicrotask(() => (this.silent = true))
        }
        return !(isMeant && this.cutCommit?.at === 'request' && data.includes('COMMIT'))
      },
      answered: (data: Buffer) => !(isMeant && this.cutCommit?.at === 'answer' && data.includes('COMMIT\0')),
    }
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
