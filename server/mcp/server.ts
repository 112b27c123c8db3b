import { ReadableStream } from 'node:stream/web'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { Ajv } from 'ajv'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { withOptions } from '../client/errors.ts'
import { Client, ParquetryError } from '../client/index.ts'
import { rawQuery } from '../http/addresses.ts'
import { faultSentence } from '../http/answer-errors.ts'
import { apiKeyIn } from '../http/input.ts'
import { ownVersion } from '../version.ts'
import { describeDataset, exportLink, findDatasets, queryDataset, runSql } from './dataset-tools.ts'
import { addResources, addSubscriptions } from './resources.ts'
import { findSeries, listProviders, listReleases, readSeries } from './series-tools.ts'
import { datasetId, type Tool, text } from './tool.ts'

const TOOLS: readonly Tool[] = [
  findDatasets,
  describeDataset,
  queryDataset,
  runSql,
  exportLink,
  listProviders,
  findSeries,
  readSeries,
  listReleases,
]

const INSTRUCTIONS =
  'Parquetry holds tables and reads economic series of many providers. Begin with find_datasets, or with list_providers ' +
  'for series. Describe a dataset before you query it. All tools are read-only and have the permissions of the key.'

const ajv = new Ajv({ strict: false, useDefaults: false, allErrors: true, verbose: true })
const checks = new Map(TOOLS.map((tool) => [tool.name, ajv.compile(tool.arguments)]))

/**
 * A Model Context Protocol server with the tools, which call the API through `client`.
 * @param isLasting whether the connection lasts, so that it can tell of changes
 */
export function mcpServer(client: Client, isLasting = false): Server {
  const server = new Server(
    { name: 'parquetry', title: 'Parquetry', version: ownVersion() },
    {
      capabilities: { tools: {}, resources: { ...(isLasting && { subscribe: true }) } },
      instructions: INSTRUCTIONS,
    },
  )
  addResources(server, client)
  if (isLasting) addSubscriptions(server, client)
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: TOOLS.map(({ name, title, description, arguments: schema }) => ({
      name,
      title,
      description,
      inputSchema: schema as unknown as { type: 'object' },
      annotations: { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true },
    })),
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const tool = TOOLS.find(({ name }) => name === params.name)
    if (!tool) return failure(`There is no tool ${JSON.stringify(params.name)}.`)
    const given = params.arguments ?? {}
    const check = checks.get(tool.name)!
    if (!check(given)) {
      return failure(check.errors!.map((error) => faultSentence(error, `The call of ${tool.name}`)).join(' '))
    }
    try {
      const { dataset } = given as { dataset?: number | string }
      const named =
        dataset === undefined ? given : { ...given, dataset: await datasetId(client, dataset, signal) }
      const answer = await tool.run(client, named as never, signal)
      return { content: [{ type: 'text', text: text(answer) }] }
    } catch (error) {
      // The message says what was wrong, so that the agent can correct its call.
      if (error instanceof ParquetryError) return failure(inArguments(error))
      throw error
    }
  })
  return server
}

/** The message of an error with options as arguments of a tool. */
function inArguments({ message, details }: ParquetryError): string {
  return withOptions(message, details.hints, (name, value) => {
    const argument = name.replace('$', '')
    return value === '' ? argument : `${argument}: ${JSON.stringify(value)}`
  })
}

function failure(message: string) {
  return { isError: true, content: [{ type: 'text' as const, text: message }] }
}

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
    const passed = new Request(`${request.publicUrl}${request.url}`, {
      method: 'POST',
      headers: request.headers as Record<string, string>,
    })
    const answer = await transport.handleRequest(passed, { parsedBody: request.body })
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
  const inject: typeof fetch = async (input, init = {}) => {
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
    fetch: inject,
  })
}
