import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { type Client, ParquetryError } from '../client/index.ts'

const SCHEME = 'parquetry://datasets/'
const PAGE = 1_000
const JSON_TYPE = { mimeType: 'application/json' }

/** The records of datasets as resources of the protocol. */
export function addResources(server: Server, { datasets }: Client): void {
  server.setRequestHandler(ListResourcesRequestSchema, async ({ params }, { signal }) => {
    const offset = Number(params?.cursor ?? 0)
    const page = await told(datasets.list({ limit: PAGE, offset, signal }))
    const resources = page.map(({ id, name, title, description }) => ({
      uri: SCHEME + id,
      name,
      ...(title && { title }),
      ...(description && { description }),
      ...JSON_TYPE,
    }))
    return { resources, ...(page.length === PAGE && { nextCursor: String(offset + PAGE) }) }
  })
  server.setRequestHandler(ListResourceTemplatesRequestSchema, async () => ({
    resourceTemplates: [{ uriTemplate: `${SCHEME}{id}`, name: 'A dataset and its columns', ...JSON_TYPE }],
  }))
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }, { signal }) => {
    const record = await told(datasets.get(idIn(uri), { signal }))
    return { contents: [{ uri, ...JSON_TYPE, text: JSON.stringify(record) }] }
  })
}

/** Tells subscribers of each change of the rows of a dataset, as long as they are connected. */
export function addSubscriptions(server: Server, { datasets }: Client): void {
  const followed = new Map<string, AbortController>()
  const unfollow = (uri: string) => {
    followed.get(uri)?.abort()
    followed.delete(uri)
  }
  const follow = async (uri: string, since: number, { signal }: AbortController) => {
    const updated = () => server.sendResourceUpdated({ uri })
    try {
      // A filter that no row matches, because rows would count against the plan.
      for await (const _ of datasets.changes(idIn(uri), since, { follow: true, filter: 'false', signal }))
        await updated()
    } catch {
      if (signal.aborted) return
      unfollow(uri)
      // Who reads it again learns why nothing more comes.
      await updated().catch(() => {})
    }
  }
  server.setRequestHandler(SubscribeRequestSchema, async ({ params: { uri } }, { signal }) => {
    const id = idIn(uri)
    const { version } = await told(datasets.get(id, { signal }))
    // Says why if it has no versions, as a saved query.
    const { rows } = await told(datasets.changes(id, version, { signal }))
    for await (const _ of rows);
    if (followed.has(uri)) return {}
    const stop = new AbortController()
    followed.set(uri, stop)
    void follow(uri, version, stop)
    return {}
  })
  server.setRequestHandler(UnsubscribeRequestSchema, async ({ params: { uri } }) => {
    unfollow(uri)
    return {}
  })
  server.onclose = () => {
    for (const uri of [...followed.keys()]) unfollow(uri)
  }
}

/** @throws McpError */
function idIn(uri: string): number {
  const id = uri.startsWith(SCHEME) ? uri.slice(SCHEME.length) : ''
  if (/^[1-9]\d{0,14}$/.test(id)) return Number(id)
  throw new McpError(ErrorCode.InvalidParams, `There is no resource ${uri}; datasets are ${SCHEME}{id}.`)
}

/** An answer of the API, whose error the agent gets. */
async function told<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ParquetryError) throw new McpError(ErrorCode.InvalidParams, error.message)
    throw error
  }
}
