import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { answerClientError } from '../http/answer-errors.ts'
import { ServerError } from '../http/errors.ts'

/** A name or an address, with or without a port (RFC 9110, 7.2). */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(?::\d*)?$/i

/** The share of the room for the headers that the request line may take: 128 KiB of the default of 160. */
const LINE_SHARE = 0.8
const REMEDY = 'A long query of rows can be sent as the body of POST /datasets/{id}/data/$query.'

/**
 * Refuses requests that Node's parser accepts but that a proxy in front of us may understand in another way, and long
 * request lines, because Node limits only the line and the headers together.
 */
export function refuseMalformed(app: FastifyInstance, headerBytes: number): void {
  const longest = Math.floor(headerBytes * LINE_SHARE)
  app.addHook('onRequest', ({ method, originalUrl, raw }, _reply, done) => {
    const problem = problemOf(raw)
    if (problem !== undefined) {
      done(new ServerError('bad_request', problem, { headers: { connection: 'close' } }))
    } else if (`${method} ${originalUrl} HTTP/${raw.httpVersion}`.length > longest) {
      done(new ServerError('uri_too_long', `The request line is longer than ${longest} bytes. ${REMEDY}`))
    } else done()
  })
}

function problemOf({
  headers,
  httpVersionMajor,
  httpVersionMinor,
  rawHeaders,
}: IncomingMessage): string | undefined {
  if (httpVersionMajor < 1) return 'HTTP/0.9 is not supported.'
  if (headers.host === undefined && httpVersionMinor > 0) return 'The Host header is missing.'
  if (headers.host !== undefined && !HOST.test(headers.host)) return 'The Host header is malformed.'
  const { 'transfer-encoding': coding, expect } = headers
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    return 'The Expect header is not supported, except 100-continue.'
  }
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked') {
    return `The Transfer-Encoding ${JSON.stringify(coding)} is not supported. Send chunked, and compression as Content-Encoding.`
  }
  // Names and values take turns.
  const hosts = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host')
  return hosts.length > 1 ? 'There is more than one Host header.' : undefined
}

const EXPECTS = Symbol('waits for 100 Continue')

/**
 * Sends `100 Continue` to a client that waits for it only after its key has been checked. Node would send it as soon as
 * the headers have arrived. Only for an application that has its own server.
 */
export function continueLate(app: FastifyInstance): void {
  app.server.on('checkContinue', (request, response) => {
    Object.assign(request, { [EXPECTS]: true })
    app.server.emit('request', request, response)
  })
  // Node would answer this without a body, and CONNECT not at all.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request, socket) => {
    answerClientError(new ServerError('method_not_allowed', 'CONNECT is for proxies; this is none.'), socket)
  })
  app.addHook('preParsing', (request, reply, _payload, done) => {
    if (EXPECTS in request.raw) reply.raw.writeContinue()
    done()
  })
}

/** Methods that change nothing (RFC 9110, 9.2.1). */
const SAFE = ['GET', 'HEAD', 'OPTIONS', 'TRACE']

/** Content types that a page may send to any site without a preflight request (Fetch, 4.9: "CORS-safelisted"). */
const UNASKED = ['', 'text/plain', 'multipart/form-data', 'application/x-www-form-urlencoded']

/**
 * Refuses changes that a page of another site makes a browser send. After a login by Basic authentication, a browser
 * adds the key by itself to the requests of every page, and says in `Sec-Fetch-Site` or `Origin` which page it was.
 * Other programs send neither header. A key that is sent in another way was sent by a page that knows it.
 * @param origins the origins that CORS allows, whose pages may make changes
 */
export function refuseOtherSites(app: FastifyInstance, origins: readonly string[]): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (SAFE.includes(request.method) || !mayBeBrowsersOwn(request) || isAllowed(request, origins)) done()
    else {
      done(
        new ServerError(
          'cross_site',
          'A page of another site sent this change, and the service is not configured to trust its origin.',
        ),
      )
    }
  })
}

/**
 * Whether the request may be a page's that does not know the key. A server of the Model Context Protocol has to look at
 * the origin of every request (2025-06-18, Transports: "Security Warning").
 */
function mayBeBrowsersOwn({ headers, routeOptions }: FastifyRequest): boolean {
  return /^basic\b/i.test(headers.authorization ?? '') || /\/mcp$/.test(routeOptions.url ?? '')
}

function isAllowed({ headers, method, publicUrl }: FastifyRequest, origins: readonly string[]): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  if (site === 'same-origin' || site === 'none') return true
  if (site === undefined && origin === undefined) return true
  if (origin !== undefined && origins.includes(origin)) return true
  // With `*`, a request that needs a preflight can't carry a key that the browser has added: the preflight's answer
  // forbids it.
  if (origins.includes('*') && asksFirst(method, headers['content-type'])) return true
  if (site !== undefined || origin === undefined || !URL.canParse(origin)) return false
  return new URL(origin).host === new URL(publicUrl).host
}

function asksFirst(method: string, type = ''): boolean {
  return method !== 'POST' || !UNASKED.includes(type.split(';', 1)[0]!.trim().toLowerCase())
}
