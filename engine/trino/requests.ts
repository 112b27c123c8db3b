import { setTimeout as wait } from 'node:timers/promises'
import { TrinoFailure } from './failure.ts'

/** How long one request may take. Trino answers each within about a second, even if nothing has happened yet. */
const REQUEST_MS = 20_000
/** How often a request is made again while Trino or a proxy before it says that it is busy. */
const TRIES = 5
/** How an answer may come: rows in the answer itself, or segments of them, which may be packed (`spooled.ts`). */
const ENCODINGS = 'json+zstd, json'
const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504])
const PAUSE_MS = 100

/** Where a Trino is, and who asks it. */
export class TrinoAddress {
  readonly origin: string
  readonly headers: Readonly<Record<string, string>>

  /** @param url `http://user:password@host:port/catalog` */
  constructor(url: string) {
    const { origin, pathname, username, password } = new URL(url)
    const user = decodeURIComponent(username) || 'parquetry'
    this.origin = origin
    this.headers = {
      'x-trino-user': user,
      'x-trino-source': 'parquetry',
      'x-trino-catalog': decodeURIComponent(pathname.slice(1)),
      'x-trino-time-zone': 'UTC',
      // Without it, times are rounded to milliseconds.
      'x-trino-client-capabilities': 'PARAMETRIC_DATETIME',
      'x-trino-query-data-encoding': ENCODINGS,
      ...(password !== '' && {
        authorization: `Basic ${Buffer.from(`${user}:${decodeURIComponent(password)}`).toString('base64')}`,
      }),
    }
  }
}

/** The requests that one query makes. */
export class TrinoRequests {
  readonly #address: TrinoAddress
  readonly #signal: AbortSignal
  readonly #background: (work: Promise<unknown>) => void
  /** The most bytes of the answer. */
  readonly maxBytes: number
  #bytes = 0

  /** @param background is told of requests that nobody waits for */
  constructor(
    address: TrinoAddress,
    signal: AbortSignal,
    maxBytes: number,
    background: (work: Promise<unknown>) => void,
  ) {
    this.#address = address
    this.#signal = signal
    this.maxBytes = maxBytes
    this.#background = background
  }

  async statement(sql: string): Promise<unknown> {
    const { origin, headers } = this.#address
    return this.#json(await this.#send(`${origin}/v1/statement`, { method: 'POST', headers, body: sql }))
  }

  async next(uri: string): Promise<unknown> {
    return this.#json(await this.#send(uri, { headers: this.#headersFor(uri) }))
  }

  /** Counts bytes of the answer. @throws TrinoFailure `many` */
  take(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > this.maxBytes) {
      throw new TrinoFailure('many', `more than ${this.maxBytes} bytes`)
    }
  }

  async #json(answer: Response): Promise<unknown> {
    const text = await answer.text()
    this.take(text.length)
    return JSON.parse(text)
  }

  /** The bytes of a segment, which may be in another place than Trino. */
  async segment(uri: string, headers: Readonly<Record<string, readonly string[]>>): Promise<Buffer> {
    const given = Object.entries(headers).map(([name, values]) => [name, values.join(', ')] as const)
    const own = this.#headersFor(uri)
    const answer = await this.#send(uri, { headers: { ...own, ...Object.fromEntries(given) } })
    return Buffer.from(await answer.arrayBuffer())
  }

  /** Says that a segment was read, so that it can be removed. */
  acknowledge(uri: string): void {
    this.#background(this.#forget(uri, 'GET'))
  }

  /** Ends the query, whatever becomes of the signal. */
  cancel(uri: string): void {
    this.#background(this.#forget(uri, 'DELETE'))
  }

  async #forget(uri: string, method: string): Promise<void> {
    try {
      const answer = await fetch(uri, {
        method,
        headers: this.#headersFor(uri),
        signal: AbortSignal.timeout(REQUEST_MS / 4),
      })
      await answer.body?.cancel()
    } catch {
      // Trino ends queries that nobody follows, and removes segments that nobody fetches, by itself.
    }
  }

  /** A password goes to the configured address only. */
  #headersFor(uri: string): Readonly<Record<string, string>> {
    return URL.canParse(uri) && new URL(uri).origin === this.#address.origin ? this.#address.headers : {}
  }

  async #send(uri: string, init: RequestInit): Promise<Response> {
    for (let tried = 1; ; tried++) {
      const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(REQUEST_MS)])
      const answer = await fetch(uri, { ...init, signal, redirect: 'error' })
      if (answer.ok) return answer
      await answer.body?.cancel()
      if (!BUSY.has(answer.status) || tried === TRIES) {
        const kind = BUSY.has(answer.status) ? 'busy' : 'broken'
        throw new TrinoFailure(kind, `status ${answer.status} from ${new URL(uri).origin}`)
      }
      await wait(PAUSE_MS * 2 ** (tried - 1), undefined, { signal: this.#signal })
    }
  }
}
