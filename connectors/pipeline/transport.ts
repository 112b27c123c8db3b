import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'
import type { Agent } from 'undici'
import type { UpstreamAnswer, UpstreamRequest } from '../connector.ts'
import { Failure, notUnderstood } from '../failures.ts'
import { addressOf, isBelow, rootOf } from './address.ts'
import type { Handler } from './layers.ts'

export interface Timeouts {
  /** Limit for setting up the connection. */
  readonly connectMs: number
  /** From sending the request until the status and the headers of the answer. */
  readonly headersMs: number
  /** From the headers until the last byte, even if bytes keep trickling in. */
  readonly bodyMs: number
}

interface TransportOptions {
  readonly base: URL
  readonly timeouts: Timeouts
  /** Limit for an answer, packed and unpacked. */
  readonly maxBytes: number
  /** Who runs this program, as providers are told. */
  readonly contact: string | undefined
}

const REDIRECTS = 3

const HEADERS = {
  accept: 'application/json, */*;q=0.5',
  'accept-encoding': 'gzip, br, deflate',
  'user-agent': 'parquetry',
}

/** HTTP to one provider over its own connections. Every failure is a `Failure`. */
export function openTransport(options: TransportOptions): { send: Handler; close: () => Promise<void> } {
  let agent: Promise<Agent> | undefined
  const opened = () => {
    // If loading fails, as without a free file descriptor, the next request tries again.
    agent ??= openAgent(options).catch((error: unknown) => {
      agent = undefined
      throw error
    })
    return agent
  }
  return {
    send: async ({ request }) => follow(await opened(), options, request),
    close: async () => (await agent?.catch(() => undefined))?.destroy(),
  }
}

/** Loads undici when the first request is sent: it takes as long to load as the rest of the connectors. */
async function openAgent({ timeouts, maxBytes }: TransportOptions): Promise<Agent> {
  const { Agent } = await import('undici')
  return new Agent({
    connections: 32,
    pipelining: 1,
    connect: { timeout: timeouts.connectMs },
    // The two timeouts are measured here, because undici's body timeout starts anew with every byte.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: maxBytes,
  })
}

async function follow(
  agent: Agent,
  options: TransportOptions,
  request: UpstreamRequest,
): Promise<UpstreamAnswer> {
  let address = addressOf(options.base, request)
  for (let hops = 0; hops <= REDIRECTS; hops++) {
    const answer = await exchange(agent, options, address, request)
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
  agent: Agent,
  options: TransportOptions,
  address: URL,
  request: UpstreamRequest,
): Promise<UpstreamAnswer> {
  const { timeouts, maxBytes, contact } = options
  const controller = new AbortController()
  const hasBody = request.json !== undefined
  let timer = setTimeout(() => controller.abort(), timeouts.headersMs)
  let stage = 'headers'
  try {
    const response = await agent.request({
      origin: address.origin,
      path: `${address.pathname}${address.search}`,
      method: request.method ?? 'GET',
      headers: {
        ...HEADERS,
        ...(contact === undefined ? {} : { 'user-agent': `parquetry (${contact})` }),
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
      Object.entries(response.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
    )
    if (Number(headers['content-length'] ?? 0) > maxBytes) {
      response.body.destroy()
      throw tooLarge(maxBytes)
    }
    const packed = Buffer.from(await response.body.arrayBuffer())
    const bytes = await unpack(packed, headers['content-encoding'] ?? '', maxBytes)
    return { status: response.statusCode, headers, text: decodeText(bytes, headers['content-type'] ?? '') }
  } catch (error) {
    throw asFailure(error, controller.signal.aborted ? stage : undefined, maxBytes)
  } finally {
    clearTimeout(timer)
  }
}

/** undici's codes for a connection that was never established. */
const UNCONNECTED = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

function asFailure(error: unknown, lateStage: string | undefined, maxBytes: number): Failure {
  if (error instanceof Failure) return error
  if (lateStage !== undefined) return new Failure('slow', { what: `The provider was too slow: ${lateStage}` })
  const code = String((error as NodeJS.ErrnoException).code ?? '')
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return tooLarge(maxBytes)
  if (error instanceof AggregateError || UNCONNECTED.test(code)) {
    return new Failure('unconnected', { what: 'The provider can not be reached', cause: error })
  }
  return new Failure('cut', { what: 'The connection to the provider broke', cause: error })
}

function tooLarge(maxBytes: number): Failure {
  return new Failure('oversized', { what: `The answer is over ${maxBytes} bytes` })
}

const unpackers = {
  gzip: promisify(gunzip),
  br: promisify(brotliDecompress),
  deflate: promisify(inflate),
  'raw-deflate': promisify(inflateRaw),
}

/**
 * Undoes `Content-Encoding` and applies the size limit to the unpacked bytes. It also looks at the bytes, because some
 * headers are wrong: they announce gzip for plain bytes, or don't announce it, or mean deflate without its wrapper.
 */
async function unpack(body: Buffer, contentEncoding: string, maxBytes: number): Promise<Buffer> {
  const encodings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '' && each !== 'identity')
  let bytes = body
  for (const encoding of encodings.reverse()) bytes = await undo(encoding, bytes, maxBytes)
  return encodings.length === 0 && isGzip(bytes) ? undo('gzip', bytes, maxBytes) : bytes
}

async function undo(encoding: string, bytes: Buffer, maxBytes: number): Promise<Buffer> {
  if (bytes.length === 0) return bytes
  const name = encodingOf(encoding, bytes)
  if (name === undefined) return bytes
  try {
    return await unpackers[name](bytes, { maxOutputLength: maxBytes })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw tooLarge(maxBytes)
    }
    throw notUnderstood(`The answer is no valid ${name}`, cause)
  }
}

function encodingOf(encoding: string, bytes: Buffer): keyof typeof unpackers | undefined {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return isGzip(bytes) ? 'gzip' : undefined
    case 'br':
      return 'br'
    case 'deflate':
      // RFC 1950: method 8 in the low bits, and the first two bytes are a multiple of 31.
      return (bytes[0]! & 15) === 8 && bytes.length > 1 && bytes.readUInt16BE(0) % 31 === 0
        ? 'deflate'
        : 'raw-deflate'
    default:
      throw notUnderstood('The answer is packed in a way that was not asked for')
  }
}

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

/** Charsets in which bytes below 128 may be part of other characters, so that their text may look like valid UTF-8. */
const SEVEN_BIT = /^(iso-2022|utf-?7|hz|utf-?16)/i

/**
 * The text of an answer. A byte order mark decides. Without one, bytes that are valid UTF-8 are read as UTF-8 whatever
 * the header says, because text in another charset is almost never valid UTF-8. Else the declared charset applies, else
 * Windows-1252.
 */
function decodeText(bytes: Buffer, contentType: string): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  const declared = /charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1] ?? xmlEncoding(bytes) ?? ''
  for (const charset of SEVEN_BIT.test(declared) ? [declared] : ['utf-8', declared]) {
    try {
      return new TextDecoder(charset, { fatal: /^utf-?8$/i.test(charset) }).decode(bytes)
    } catch {
      // The bytes are not UTF-8, or there is no such charset.
    }
  }
  return new TextDecoder('windows-1252').decode(bytes)
}

function xmlEncoding(bytes: Buffer): string | undefined {
  return /^\s*<\?xml[^>]*?encoding=["']([^"']+)/.exec(bytes.toString('latin1', 0, 200))?.[1]
}
