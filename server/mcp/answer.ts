import { ReadableStream } from 'node:stream/web'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { Client } from '../client/index.ts'
import { apiKeyIn, rawQuery } from '../http/query.ts'
import { mcpServer } from './server.ts'

/** Answers one message of the protocol. Its tools call this application with the credentials of the request. */
export async function answer(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  const server = mcpServer(clientWithin(app, request))
  try {
    await server.connect(transport)
    const asked = new Request(`${request.publicUrl}${request.url}`, {
      method: 'POST',
      headers: request.headers as Record<string, string>,
    })
    const answer = await transport.handleRequest(asked, { parsedBody: request.body })
    for (const [name, value] of answer.headers) reply.header(name, value)
    return await reply.code(answer.status).send(Buffer.from(await answer.arrayBuffer()))
  } finally {
    await server.close()
  }
}

/**
 * A client whose requests are injected into this application, without a network, with the credentials of the request.
 */
function clientWithin(app: FastifyInstance, request: FastifyRequest): Client {
  const credentials = Object.fromEntries(
    ['authorization', 'x-api-key'].flatMap((name) => {
      const value = request.headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
  const within: typeof fetch = async (input, init = {}) => {
    const url = new URL(String(input))
    const answer = await app.inject({
      method: (init.method ?? 'GET') as HTTPMethods,
      url: url.pathname + url.search,
      headers: { ...Object.fromEntries(new Headers(init.headers)), ...credentials, host: request.host },
      ...(init.body != null && { payload: init.body as string }),
      ...(init.signal && { signal: init.signal }),
      payloadAsStream: true,
    })
    // Readable.toWeb would throw an uncaught error if the reader stops before the end.
    const stream = ReadableStream.from(answer.stream()) as globalThis.ReadableStream<Uint8Array<ArrayBuffer>>
    const body = [204, 304].includes(answer.statusCode) ? null : stream
    const headers = Object.entries(answer.headers).map(([name, value]) => [name, String(value)])
    return new Response(body, { status: answer.statusCode, headers: headers as [string, string][] })
  }
  const key = apiKeyIn(rawQuery(request.url))
  return new Client({
    ...(key !== undefined && { key }),
    url: `${request.publicUrl}${app.prefix}`,
    fetch: within,
  })
}
