import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { Ajv } from 'ajv'
import { type Client, ParquetryError } from '../client/index.ts'
import { faultSentence } from '../http/answer-errors.ts'
import { ownVersion } from '../version.ts'
import { describeDataset, exportLink, findDatasets, queryDataset, runSql } from './dataset-tools.ts'
import { findSeries, listProviders, readSeries } from './series-tools.ts'
import { type Tool, text } from './tool.ts'

const TOOLS: readonly Tool[] = [
  findDatasets,
  describeDataset,
  queryDataset,
  runSql,
  exportLink,
  listProviders,
  findSeries,
  readSeries,
]

const INSTRUCTIONS =
  'Parquetry holds tables and reads economic series of many providers. Begin with find_datasets, or with list_providers ' +
  'for series. Describe a dataset before you query it. All tools are read-only and have the permissions of the key.'

const ajv = new Ajv({ strict: false, useDefaults: false, allErrors: true, verbose: true })
const checks = new Map(TOOLS.map((tool) => [tool.name, ajv.compile(tool.arguments)]))

/** A Model Context Protocol server with the tools, which call the API through `client`. */
export function mcpServer(client: Client): Server {
  const server = new Server(
    { name: 'parquetry', title: 'Parquetry', version: ownVersion() },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  )
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
      const answer = await tool.run(client, given as never, signal)
      return { content: [{ type: 'text', text: text(answer) }] }
    } catch (error) {
      // The message says what was wrong, so that the agent can correct its call.
      if (error instanceof ParquetryError) return failure(error.message)
      throw error
    }
  })
  return server
}

function failure(message: string) {
  return { isError: true, content: [{ type: 'text' as const, text: message }] }
}
