import { setTimeout as wait } from 'node:timers/promises'
import { TrinoFailure } from './failure.ts'

/** How long a statement may take to be accepted, and a query to begin: a Trino that hangs costs no more than that. */
export const BEGIN_MS = 3_000
/** How long a request for a page may take. Trino answers each within about a second, even if nothing has happened yet. */
const PAGE_MS = 5_000
/** How often a request is made again while Trino or a proxy before it says that it is busy. */
const TRIES = 5
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
  readonly #maxBytes: number
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
    this.#maxBytes = maxBytes
    this.#background = background
  }

  async statement(sql: string): Promise<unknown> {
    const { origin, headers } = this.#address
    const init = { method: 'POST', headers, body: sql }
    return this.#json(await this.#send(`${origin}/v1/statement`, init, BEGIN_MS))
  }

  async next(uri: string): Promise<unknown> {
    return this.#json(await this.#send(uri, { headers: this.#headersFor(uri) }, PAGE_MS))
  }

  async #json(answer: Response): Promise<unknown> {
    const text = await answer.text()
    this.#bytes += text.length
    if (this.#bytes > this.#maxBytes) throw new TrinoFailure('many', `more than ${this.#maxBytes} bytes`)
    return JSON.parse(text)
  }

  /** Ends the query, whatever becomes of the signal. */
  cancel(uri: string): void {
    this.#background(this.#forget(uri))
  }

  async #forget(uri: string): Promise<void> {
    try {
      const answer = await fetch(uri, {
        method: 'DELETE',
        headers: this.#headersFor(uri),
        signal: AbortSignal.timeout(PAGE_MS),
      })
      await answer.body?.cancel()
    } catch {
      // Trino ends queries that nobody follows by itself.
    }
  }

  /** A password goes to the configured address only. */
  #headersFor(uri: string): Readonly<Record<string, string>> {
    return URL.canParse(uri) && new URL(uri).origin === this.#address.origin ? this.#address.headers : {}
  }

  async #send(uri: string, init: RequestInit, milliseconds: number): Promise<Response> {
    const late = AbortSignal.timeout(milliseconds)
    for (let tried = 1; ; tried++) {
      const signal = AbortSignal.any([this.#signal, late])
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
