import type { Names } from '../../engine/options.ts'
import { errorOf, invalidOption, ParquetryError, requireKnown } from './errors.ts'

export interface ClientOptions {
  /** URL of the server, for example `https://data.example.org`. It may have a path. */
  readonly url: string | URL
  /** The account's API key. Sent as the user name of Basic authentication, never in a URL. */
  readonly key?: string | undefined
  /** Replaces the platform's `fetch`, for proxies and tests. */
  readonly fetch?: typeof fetch
  readonly retry?: RetryOptions
}

/** What every call takes. */
export interface CallOptions {
  /** Aborting it ends the request, or the pause before the next attempt. The call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** Which part of a list is wanted. */
export interface PageOptions extends CallOptions {
  readonly limit?: number
  readonly offset?: number
}

/**
 * The type of `fetch`'s `body` option. DOM's name for it, BodyInit, doesn't exist in projects with only Node's types.
 */
export type Body = NonNullable<RequestInit['body']>

export interface Request extends CallOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path segments, which are percent-encoded one by one. */
  readonly path: readonly (string | number)[]
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
  readonly body?: Body
  readonly idempotencyKey?: string | undefined
  readonly ifMatch?: string | undefined
}

const KNOWN: Names<ClientOptions> = {
  url: true,
  key: true,
  fetch: true,
  retry: { attempts: true, longestPause: true },
}

/** Sends requests with the key, and repeats those that are safe to repeat. */
export class Transport {
  readonly #base: URL
  readonly #fetch: typeof fetch
  readonly #retry: RetryOptions
  #key: string | undefined

  constructor(options: ClientOptions) {
    const { url, key, fetch: given, retry = {} } = options
    requireKnown(options, KNOWN)
    this.#base = new URL(url)
    if (!this.#base.pathname.endsWith('/')) this.#base.pathname += '/'
    this.#fetch = given ?? ((input, init) => fetch(input, init))
    this.#retry = retry
    this.#key = key
  }

  /** Replaces the key for all further requests. */
  set key(key: string) {
    this.#key = key
  }

  /** Resolves with the response if its status is 200-299 or 304. @throws ParquetryError */
  async send(request: Request): Promise<Response> {
    const { method, path, query, headers, json, body, idempotencyKey, ifMatch, signal, ...unknown } = request
    for (const [name, value] of Object.entries(unknown)) {
      if (value !== undefined) throw invalidOption(`Unknown option ${JSON.stringify(name)}.`)
    }
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#attempt(request)
      if (outcome instanceof Response) return outcome
      const seconds = retryDelay(outcome, attempt, request, this.#retry)
      if (seconds === undefined) throw outcome
      await pause(seconds, signal)
    }
  }

  /** Resolves with the body of the response, parsed as JSON; undefined if it has none (204). @throws ParquetryError */
  async json<T>(request: Request): Promise<T> {
    const response = await this.send(request)
    if (response.status === 204) return undefined as T
    try {
      return (await response.json()) as T
    } catch (cause) {
      request.signal?.throwIfAborted()
      throw new ParquetryError(`The answer of ${this.#base.host} is not complete JSON.`, {
        status: 0,
        code: cause instanceof SyntaxError ? 'not_understood' : 'interrupted',
        cause,
      })
    }
  }

  async #attempt(request: Request): Promise<Response | ParquetryError> {
    const {
      method = 'GET',
      signal,
      json,
      body = json === undefined ? undefined : JSON.stringify(json, written),
    } = request
    const headers = new Headers(request.headers)
    if (request.idempotencyKey !== undefined) headers.set('idempotency-key', request.idempotencyKey)
    if (request.ifMatch !== undefined) headers.set('if-match', request.ifMatch)
    if (json !== undefined) headers.set('content-type', 'application/json')
    if (this.#key !== undefined) headers.set('authorization', basic(this.#key))
    const init: RequestInit & { duplex?: 'half' } = { method, headers, redirect: 'manual' }
    if (body !== undefined) init.body = body
    // `fetch` requires this for streams.
    if (body instanceof ReadableStream) init.duplex = 'half'
    if (signal) init.signal = signal
    const address = this.address(request)
    try {
      const response = await this.#fetch(address, init)
      return response.ok || response.status === 304 ? response : await errorOf(response)
    } catch (cause) {
      signal?.throwIfAborted()
      return new ParquetryError(`${this.#base.host} can't be reached.`, {
        status: 0,
        code: 'unreachable',
        cause,
      })
    }
  }

  /** Path and query string of a request, relative to the server's URL. */
  pathOf(request: Pick<Request, 'path' | 'query'>): string {
    const { pathname, search } = this.address(request)
    return pathname.slice(this.#base.pathname.length - 1) + search
  }

  /** The URL of a request. @throws TypeError if a path segment is `.` or `..` */
  address({ path, query = {} }: Pick<Request, 'path' | 'query'>): URL {
    // The URL standard resolves these segments even if they are percent-encoded, which would address another resource.
    const climbing = path.find((segment) => segment === '.' || segment === '..')
    if (climbing !== undefined) throw new TypeError(`'${climbing}' can't be a part of an address.`)
    const url = new URL(this.#base)
    url.pathname += path.map((segment) => encodeURIComponent(segment)).join('/')
    url.search = Object.entries(query)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}=${encodeURIComponent(value!)}`)
      .join('&')
    return url
  }
}

/** Numbers for which JSON has no word, or JavaScript's writer none, as the server reads them. */
function written(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint')
    return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(`${value}`)
  if (typeof value !== 'number' || Number.isFinite(value)) return value
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'INF' : '-INF'
}

/** The calls of one kind of resource. */
export class Calls {
  protected readonly transport: Transport

  constructor(transport: Transport) {
    this.transport = transport
  }
}

/** The header for a key, in UTF-8 (RFC 7617, 2.1); `btoa` alone takes the characters of Latin-1 for bytes. */
function basic(key: string): string {
  const bytes = new TextEncoder().encode(`${key}:`)
  return `Basic ${btoa(String.fromCharCode(...bytes))}`
}

export interface RetryOptions {
  /** The maximum number of attempts, including the first. 1 turns retries off. Default 4. */
  readonly attempts?: number
  /**
   * The longest pause between two attempts, in seconds. If the server asks for a longer one, the error is thrown at
   * once, with `retryAfter`. Default 60.
   */
  readonly longestPause?: number
}

const FIRST_PAUSE = 0.25

/** Error codes with which the server says that it did not begin with the request. */
const REFUSED = new Set(['busy', 'overloaded', 'shutting_down'])

/**
 * How many seconds to wait before the next attempt; undefined if there must be none.
 *
 * Idempotent requests (RFC 9110, 9.2.2) are sent again after 429, after 503 and when there was no answer. A POST or
 * PATCH without an `Idempotency-Key` is sent again only if the server has said that it did not begin with it, because a
 * repeated append would duplicate rows.
 * Streams can't be read a second time, so they are never sent again.
 */
export function retryDelay(
  error: ParquetryError,
  attempt: number,
  request: Pick<Request, 'method' | 'body' | 'idempotencyKey'>,
  { attempts = 4, longestPause = 60 }: RetryOptions,
): number | undefined {
  if (attempt >= attempts || !repeatable(error, request)) return undefined
  if (error.retryAfter !== undefined && error.retryAfter > longestPause) return undefined
  const backoff = Math.min(FIRST_PAUSE * 2 ** (attempt - 1), longestPause)
  // Jitter, so that clients that were refused at the same time don't all return at the same time.
  return (error.retryAfter ?? backoff / 2) + (Math.random() * backoff) / 2
}

function repeatable(
  error: ParquetryError,
  { method, body, idempotencyKey: key }: Pick<Request, 'method' | 'body' | 'idempotencyKey'>,
): boolean {
  if (body instanceof ReadableStream) return false
  if ((method === 'POST' || method === 'PATCH') && key === undefined)
    return error.status === 429 || (error.status === 503 && REFUSED.has(error.code))
  return error.status === 503 || error.status === 429 || error.code === 'unreachable'
}

/** Waits. Rejects with the signal's reason if it is aborted. */
export function pause(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const abort = () => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, seconds * 1000)
    signal?.addEventListener('abort', abort, { once: true })
  })
}
