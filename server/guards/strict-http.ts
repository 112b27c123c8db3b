import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { answerClientError } from '../http/answer-errors.ts'
import { ServerError } from '../http/errors.ts'

/** A name or an address, with or without a port (RFC 9110, 7.2). */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(?::\d*)?$/i

/** Refuses requests that Node's parser accepts but that a proxy in front of us may understand in another way. */
export function refuseAmbiguousRequests(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const problem = problemOf(raw)
    if (problem === undefined) done()
    else done(new ServerError('bad_request', problem, { headers: { connection: 'close' } }))
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
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]!.length === 4 && rawHeaders[index]!.toLowerCase() === 'host') hosts++
  }
  return hosts > 1 ? 'There is more than one Host header.' : undefined
}

/** The share of the room for the headers that the request line may take: 128 KiB of the default of 160. */
const LINE_SHARE = 0.8

/** Refuses long request lines. Node limits only the line and the headers together. */
export function refuseLongLines(app: FastifyInstance, headerBytes: number): void {
  const most = Math.floor(headerBytes * LINE_SHARE)
  app.addHook('onRequest', ({ method, originalUrl, raw }, _reply, done) => {
    if (`${method} ${originalUrl} HTTP/${raw.httpVersion}`.length <= most) done()
    else done(new ServerError('uri_too_long', `The request line is longer than ${most} bytes. ${REMEDY}`))
  })
}

const REMEDY = 'A long query of rows can be sent as the body of POST /datasets/{id}/data/$query.'

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
