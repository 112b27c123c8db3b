import type { Pool } from 'undici'
import type { UpstreamAnswer, UpstreamRequest } from '../connector.ts'
import { Failure, notUnderstood } from '../failures.ts'
import { addressOf, isBelow, rootOf } from './address.ts'
import { decodeText, unpack } from './body.ts'
import type { Handler } from './layers.ts'

export interface Timeouts {
  /** Limit for setting up the connection. */
  readonly connectMs: number
  /** From sending the request until the status and the headers of the answer. */
  readonly headersMs: number
  /** From the headers until the last byte, even if bytes keep trickling in. */
  readonly bodyMs: number
}

export interface TransportOptions {
  readonly base: URL
  readonly timeouts: Timeouts
  /** Limit for an answer, packed and unpacked. */
  readonly maxBytes: number
}

const REDIRECTS = 3

const HEADERS = {
  accept: 'application/json, */*;q=0.5',
  'accept-encoding': 'gzip, br, deflate',
  'user-agent': 'parquetry',
}

/** HTTP to one provider over its own pool of connections. Every failure is a `Failure`. */
export function openTransport(options: TransportOptions): { send: Handler; close: () => Promise<void> } {
  let pool: Promise<Pool> | undefined
  const opened = () => {
    // If loading fails, as without a free file descriptor, the next request tries again.
    pool ??= openPool(options).catch((error: unknown) => {
      pool = undefined
      throw error
    })
    return pool
  }
  return {
    send: async ({ request }) => follow(await opened(), options, request),
    close: async () => (await pool?.catch(() => undefined))?.destroy(),
  }
}

/** Loads undici when the first request is sent: it takes as long to load as the rest of the connectors. */
async function openPool({ base, timeouts }: TransportOptions): Promise<Pool> {
  const { Pool } = await import('undici')
  return new Pool(base.origin, {
    connections: 32,
    pipelining: 1,
    connect: { timeout: timeouts.connectMs },
    // The two timeouts are measured here, because undici's body timeout starts anew with every byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

async function follow(
  pool: Pool,
  options: TransportOptions,
  request: UpstreamRequest,
): Promise<UpstreamAnswer> {
  let address = addressOf(options.base, request)
  for (let hops = 0; hops <= REDIRECTS; hops++) {
    const answer = await exchange(pool, options, address, request)
    const location = answer.status >= 300 && answer.status < 400 ? answer.headers['location'] : undefined
    if (location === undefined) return answer
    const target = URL.parse(location, address)
    if (target === null || !isBelow(rootOf(options.base, request), target)) {
      throw notUnderstood('The provider redirects to another address')
    }
    address = target
  }
  throw notUnderstood(`The provider redirects more than ${REDIRECTS} times`)
}

async function exchange(
  pool: Pool,
  options: TransportOptions,
  address: URL,
  request: UpstreamRequest,
): Promise<UpstreamAnswer> {
  const { timeouts, maxBytes } = options
  const controller = new AbortController()
  const hasBody = request.json !== undefined
  let timer = setTimeout(() => controller.abort(), timeouts.headersMs)
  let stage = 'headers'
  try {
    const response = await pool.request({
      path: `${address.pathname}${address.search}`,
      method: request.method ?? 'GET',
      headers: {
        ...HEADERS,
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
        ...request.headers,
      },
      body: hasBody ? JSON.stringify(request.json) : null,
      signal: controller.signal,
    })
    clearTimeout(timer)
    stage = 'body'
    timer = setTimeout(() => controller.abort(), timeouts.bodyMs)
    const headers = Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [
        name.toLowerCase(),
        [value].flat().join(', '),
      ]),
    )
    const packed = await collect(response.body, Number(headers['content-length'] ?? 0), maxBytes)
    const bytes = await unpack(packed, headers['content-encoding'] ?? '', maxBytes)
    return { status: response.statusCode, headers, text: decodeText(bytes, headers['content-type'] ?? '') }
  } catch (error) {
    throw asFailure(error, controller.signal.aborted ? stage : undefined)
  } finally {
    clearTimeout(timer)
  }
}

async function collect(body: AsyncIterable<Buffer>, announced: number, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => new Failure('oversized', { what: `The answer is over ${maxBytes} bytes` })
  const chunks: Buffer[] = []
  let size = 0
  // Throwing out of the loop destroys the stream, and with it the connection.
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxBytes || announced > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** undici's codes for a connection that was never established. */
const UNCONNECTED = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

function asFailure(error: unknown, lateStage: string | undefined): Failure {
  if (error instanceof Failure) return error
  if (lateStage !== undefined) return new Failure('slow', { what: `The provider was too slow: ${lateStage}` })
  const code = String((error as NodeJS.ErrnoException).code ?? '')
  if (error instanceof AggregateError || UNCONNECTED.test(code)) {
    return new Failure('unconnected', { what: 'The provider can not be reached', cause: error })
  }
  return new Failure('cut', { what: 'The connection to the provider broke', cause: error })
}
