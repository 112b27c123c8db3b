import type { FastifyInstance } from 'fastify'

/**
 * `POST /mcp`: the Model Context Protocol over streamable HTTP, without sessions. `GET /llms.txt` describes the
 * service.
 */
export function mcpRoutes(app: FastifyInstance): void {
  app.get('/llms.txt', {
    config: { public: true },
    schema: { hide: true },
    handler: async (_request, reply) =>
      reply.header('content-type', 'text/plain; charset=utf-8').send(LLMS_TXT),
  })

  // Without sessions there is nothing to GET, which would open a stream of notifications, and nothing to DELETE.
  app.post('/mcp', {
    config: { reads: true },
    schema: { hide: true },
    // Loaded only when needed: the protocol's library is a fifth of what a start would load.
    handler: async (request, reply) => (await import('./server.ts')).answer(app, request, reply),
  })
}

/** The content of `/llms.txt`, which describes the service to language models (llmstxt.org). */
const LLMS_TXT = `# Parquetry

> Tables in Parquet behind an HTTP API, queried by OData, exported as csv, tsv, json, ndjson, xlsx, parquet and arrow; and economic series of many providers through one interface.

Every request, except for the pages below, needs an API key: as the user name of Basic authentication with an empty password, as a Bearer token, or in the header X-API-Key. Errors are JSON: {"error": "<sentence>", "code": "<stable_code>"}.

The quickest way for an agent is the Model Context Protocol: POST /mcp (streamable HTTP, no sessions), or the command \`parquetry mcp\` over stdio. Its tools are read-only: find_datasets, describe_dataset, query_dataset, run_sql, export_link, list_providers, find_series, read_series, list_releases.

## Requests

- GET /datasets: all datasets, with their columns unless they have many
- GET /datasets/{id}: one dataset, with all columns
- GET /datasets/{id}/data?$filter=…&$apply=…&$select=…&$orderby=…&$top=…&$format=csv|json|ndjson|parquet|xlsx|tsv|arrow: rows; with $top, $last or $count=true, the header Row-Count has the number of matching rows
- POST /sql {"sql": "SELECT …"}: rows of one SELECT over all datasets, as "owner"."repository"."dataset"
- GET /providers, GET /providers/{slug}/browse?path=…&series=true, GET /providers/{slug}/series/{series_id}: series
- POST /links {"path": "/datasets/3/data?$format=xlsx"}: a URL that downloads without a key for five minutes, or for expiresIn seconds

Column names are case-sensitive; names that are not identifiers must be in double quotes: "Body Mass (g)" gt 5000. Text must be in single quotes: species eq 'Gentoo'.

## Pages

- [OpenAPI 3.1](/openapi.json): every path with its parameters, records and errors
- [Reference](/docs): the same for people
`
