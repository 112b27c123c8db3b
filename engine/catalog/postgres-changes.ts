import type { Client } from 'pg'

const CHANNEL = 'parquetry_changed'
/** How long to wait before a lost connection is made anew. */
const PAUSE_MS = 500

/**
 * Hears, over a connection of its own, that somebody has changed something. What was said while the connection was lost
 * is not known: then everything may have changed.
 */
export class Changes {
  /** Said in a transaction, it is heard when that is committed. */
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

  /** Whether changes are heard at the moment. */
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
