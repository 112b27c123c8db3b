import type { Client } from 'pg'

const CHANNEL = 'parquetry_changed'
/** How long to wait before connecting again after the connection was lost. */
const PAUSE_MS = 500

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
    const client = new pg.Client({ connectionString: this.#url, keepAlive: true })
    const lost = () => {
      if (this.#client === client) this.#client = undefined
      client.removeAllListeners('end')
      this.#onChange()
      this.#startLater()
    }
    client.on('error', () => {})
    client.on('notification', () => this.#onChange())
    await client.connect()
    await client.query(`LISTEN ${CHANNEL}`)
    client.once('end', lost)
    if (this.#ended) return client.end()
    this.#client = client
    this.#onChange()
  }

  async end(): Promise<void> {
    this.#ended = true
    clearTimeout(this.#timer)
    const client = this.#client
    this.#client = undefined
    client?.removeAllListeners('end')
    await client?.end()
  }

  #startLater(): void {
    if (this.#ended) return
    this.#timer = setTimeout(() => {
      this.start().catch(() => this.#startLater())
    }, PAUSE_MS).unref()
  }
}
