import type { Client, ClientBase } from 'pg'
import { EngineError } from '../../errors.ts'
import { withTimeout } from '../../util/concurrency.ts'
import { query } from './statements.ts'

const CHANNEL = 'parquetry_changed'
/** PostgreSQL takes payloads of less than 8,000 bytes. */
const LONGEST = 7_000
/** How long to wait before connecting again after the connection was lost. */
const PAUSE_MS = 500
/** After this time without an answer, the connection is taken for lost. What is cached is then read. */
const PATIENCE_MS = 2_000

/**
 * Listens on a connection of its own for notifications that some process has changed the database. Notifications that
 * were sent while the connection was lost are missed, so a lost connection counts as a change of everything.
 */
export class Changes {
  readonly #url: string
  readonly #onChange: (changes?: readonly string[]) => void
  #client: Client | undefined
  #timer: NodeJS.Timeout | undefined
  #asking: Promise<boolean> | undefined
  #next: Promise<boolean> | undefined
  #ended = false

  /** @param onChange called with the names of what has changed, without names if it may be everything */
  constructor(url: string, onChange: (changes?: readonly string[]) => void) {
    this.#url = url
    this.#onChange = onChange
  }

  /**
   * Tells all processes, if the transaction is committed.
   * @param changes the names of what it changes; undefined: it may be everything
   */
  static async tell(t: Pick<ClientBase, 'query'>, changes: readonly string[] | undefined): Promise<void> {
    if (changes?.length === 0) return
    const names = changes ? JSON.stringify(changes) : ''
    await query(t, 'SELECT pg_notify(?, ?)', [CHANNEL, names.length > LONGEST ? '' : names])
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
    client.on('notification', ({ payload }) => this.#onChange(payload ? JSON.parse(payload) : undefined))
    try {
      await client.connect()
      await client.query(`LISTEN ${CHANNEL}`)
    } catch (error) {
      client.end().catch(() => {})
      throw error
    }
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
      // An empty query is answered like any other, for half of the processor time.
      await client.query('')
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

/** Runs work of the same name one after the other. */
export class KeyedMutex {
  /** By name, what ends when all work that came so far has ended. */
  readonly #last = new Map<string, Promise<void>>()

  /** @throws EngineError `locked` if the turn did not come within so many milliseconds */
  async run<T>(name: string, patience: number, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name)
    const ended = Promise.withResolvers<void>()
    const last = before ? before.then(() => ended.promise) : ended.promise
    this.#last.set(name, last)
    try {
      if (before) await withTimeout(patience, before, late)
      return await work()
    } finally {
      ended.resolve()
      if (this.#last.get(name) === last) this.#last.delete(name)
    }
  }
}

function late(): EngineError {
  return new EngineError('locked', 'Others are writing the same. Try again.')
}
