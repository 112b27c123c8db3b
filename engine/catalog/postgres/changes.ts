import type { Client } from 'pg'

const CHANNEL = 'parquetry_changed'
/** How long to wait before connecting again after the connection was lost. */
const PAUSE_MS = 500
/** After this time without an answer, the connection is taken for lost. */
const PATIENCE_MS = 5_000

/**
 * Listens on a connection of its own for notifications that some process has changed the database. Notifications that
 * were sent while the connection was lost are missed, so a lost connection counts as a change of everything.
 */
export class Changes {
  /** Sends a notification. In a transaction, PostgreSQL delivers it when the transaction is committed. */
  static readonly TELL = `NOTIFY ${CHANNEL}`
  readonly #url: string
  readonly #onChange: () => void
  #client: Client | undefined
  #timer: NodeJS.Timeout | undefined
  #asking: Promise<boolean> | undefined
  #next: Promise<boolean> | undefined
  #ended = false

  constructor(url: string, onChange: () => void) {
    this.#url = url
    this.#onChange = onChange
  }

  /** Whether the connection stands, so that changes are heard. */
  get areHeard(): boolean {
    return this.#client !== undefined
  }

  async start(): Promise<void> {
    const { default: pg } = await import('pg')
    const client = new pg.Client({
      connectionString: this.#url,
      keepAlive: true,
      connectionTimeoutMillis: PATIENCE_MS,
      query_timeout: PATIENCE_MS,
    })
    client.on('error', () => {})
    client.on('notification', () => this.#onChange())
    await client.connect()
    await client.query(`LISTEN ${CHANNEL}`)
    client.once('end', () => this.#lose(client))
    if (this.#ended) return client.end()
    this.#client = client
    this.#onChange()
  }

  /**
   * Resolves when every change has been heard that was committed before the call; false if that can't be told. The
   * server sends what it has to notify before it answers, so an answer to any question shows it. Callers who wait at the
   * same time share one question.
   */
  caughtUp(): Promise<boolean> {
    this.#next ??= (async () => {
      // A question that is already under way may have been answered before the change that the caller must see.
      await this.#asking
      this.#next = undefined
      this.#asking = this.#ask()
      return this.#asking
    })()
    return this.#next
  }

  async end(): Promise<void> {
    this.#ended = true
    clearTimeout(this.#timer)
    const client = this.#client
    this.#client = undefined
    client?.removeAllListeners('end')
    await client?.end()
  }

  async #ask(): Promise<boolean> {
    const client = this.#client
    if (!client) return false
    try {
      await client.query('SELECT 1')
      return true
    } catch {
      this.#lose(client)
      client.end().catch(() => {})
      return false
    }
  }

  #lose(client: Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    client.removeAllListeners('end')
    this.#onChange()
    this.#startLater()
  }

  #startLater(): void {
    if (this.#ended) return
    this.#timer = setTimeout(() => {
      this.start().catch(() => this.#startLater())
    }, PAUSE_MS).unref()
  }
}
