import { deflateSync, gzipSync } from 'node:zlib'
import type { Reply } from './upstream.ts'

export interface Fault {
  readonly name: string
  /** What is sent; `key` is the key that was sent along, which some services repeat. */
  readonly reply: (key: string) => Reply
  /** The status of our answer. */
  readonly status: number
  /** The same for a provider that takes a key, where that makes a difference. */
  readonly keyed?: number
  /** The same for providers of SDMX, where it is another: their services say by it that there is nothing. */
  readonly sdmx?: number
  /** The same for single providers whose service means something by such an answer. */
  readonly but?: Readonly<Record<string, number>>
  /** Whether it takes the time limit to see it. */
  readonly slow?: true
}

const LEAK = 'http://10.9.8.7:9999/internal?token=canary-token'
const page = (key: string) => `<!DOCTYPE html><html><h1>Blocked</h1><p>${key} ${LEAK}</p></html>`
const html =
  (status: number) =>
  (key: string): Reply => ({ status, type: 'text/html', body: page(key) })
const told = (key: string) => ({ message: `No: ${key} ${LEAK}`, error: `No: ${key}` })
const json =
  (status: number) =>
  (key: string): Reply => ({ status, body: told(key) })
const raw = (reply: Reply['raw']) => (): Reply => ({ raw: reply! })
const bytes =
  (body: Buffer | string, headers: Record<string, string> = {}) =>
  (): Reply => ({
    type: 'application/json',
    body: typeof body === 'string' ? Buffer.from(body) : body,
    headers,
  })

/** Larger than the limit that the test sets. */
const LARGE = Buffer.alloc(300_000, ' ')

/**
 * How the answers of a provider go wrong, each with the status that ours then has. 404: it says that there is no
 * such thing; 500: it answered what is no answer; 503: it fails or lets nobody in; 504: it is too slow, or too large.
 */
export const FAULTS: readonly Fault[] = [
  { name: 'a page with 200', reply: html(200), status: 500 },
  { name: 'a page with 400', reply: html(400), status: 404 },
  { name: 'a page with 401', reply: html(401), status: 503 },
  { name: 'a page with 403', reply: html(403), status: 503 },
  { name: 'a page with 404', reply: html(404), status: 404 },
  { name: 'a page with 408', reply: html(408), status: 504 },
  { name: 'a page with 410', reply: html(410), status: 404 },
  { name: 'a page with 413', reply: html(413), status: 504 },
  { name: 'a page with 414', reply: html(414), status: 404 },
  { name: 'a page with 429', reply: html(429), status: 429 },
  { name: 'a page with 451', reply: html(451), status: 503 },
  { name: 'a page with 500', reply: html(500), status: 503 },
  { name: 'a page with 502', reply: html(502), status: 503 },
  { name: 'a page with 503', reply: html(503), status: 503 },
  { name: 'a page with 504', reply: html(504), status: 504 },
  { name: 'a page with 599', reply: html(599), status: 503 },
  { name: 'JSON with 400', reply: json(400), status: 500, sdmx: 404, but: { 'us-treasury': 404 } },
  { name: 'JSON with 401', reply: json(401), status: 503, keyed: 400 },
  { name: 'JSON with 403', reply: json(403), status: 503, keyed: 400 },
  { name: 'JSON with 404', reply: json(404), status: 404 },
  { name: 'JSON with 429', reply: json(429), status: 429 },
  { name: 'JSON with 500', reply: json(500), status: 503 },
  {
    name: '429 and when to come back',
    reply: () => ({ status: 429, headers: { 'retry-after': '120' }, body: {} }),
    status: 429,
  },
  {
    name: '503 and when to come back',
    reply: () => ({ status: 503, headers: { 'retry-after': '120' }, body: {} }),
    status: 503,
  },
  { name: 'no body', reply: bytes(''), status: 500, sdmx: 404 },
  { name: '204', reply: () => ({ status: 204 }), status: 500, sdmx: 404, but: { census: 404 } },
  { name: 'an empty object', reply: bytes('{}'), status: 500, but: { alphavantage: 404, statcan: 404 } },
  {
    name: 'an empty list',
    reply: bytes('[]'),
    status: 500,
    but: { alphavantage: 404, statcan: 404, 'us-treasury': 404 },
  },
  { name: 'JSON that is cut off', reply: bytes('{"data": [{"value": "1'), status: 500 },
  {
    name: 'gzip that is cut off',
    reply: bytes(gzipSync(LARGE).subarray(0, 40), { 'content-encoding': 'gzip' }),
    status: 500,
  },
  { name: 'brotli that is none', reply: bytes('not brotli', { 'content-encoding': 'br' }), status: 500 },
  { name: 'an unknown packing', reply: bytes('{}', { 'content-encoding': 'compress' }), status: 500 },
  { name: 'a mark and no more', reply: bytes('\uFEFF'), status: 500, sdmx: 404 },
  {
    name: 'UTF-16 that calls itself UTF-8',
    reply: bytes(Buffer.from('<html>', 'utf16le')),
    status: 500,
  },
  {
    name: 'a redirect to another host',
    reply: () => ({ status: 302, headers: { location: LEAK }, body: '' }),
    status: 500,
  },
  {
    name: 'more bytes than may be',
    reply: bytes(LARGE),
    status: 504,
  },
  {
    name: 'a small packing of more bytes than may be',
    reply: bytes(deflateSync(LARGE), { 'content-encoding': 'deflate' }),
    status: 504,
  },
  { name: 'a connection that closes', reply: raw((response) => void response.destroy()), status: 503 },
  {
    name: 'a connection that closes in the body',
    reply: raw((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      response.write('{"data":')
      setTimeout(() => response.destroy(), 5)
    }),
    status: 503,
  },
  { name: 'silence', reply: raw(() => undefined), status: 504, slow: true },
  {
    name: 'a body that drips',
    reply: raw((response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write(' '), 10)
      response.on('close', () => clearInterval(drip))
    }),
    status: 504,
    slow: true,
  },
]
