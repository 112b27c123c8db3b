import Fastify, { type FastifyInstance, type FastifySchema, type RouteOptions } from 'fastify'
import * as providers from '../routes/providers/provider-records.ts'
import * as records from '../routes/records.ts'
import { SOURCE } from '../routes/source.ts'
import type { JsonSchema } from './describe.ts'
import { ERROR, ERROR_RESPONSES, errors } from './error-responses.ts'
import { pathParameters } from './path-parameters.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The OpenAPI document of all routes, made when it is first asked for. */
    openApiDocument(): Promise<JsonSchema>
  }
}

/** Schemas that become named components of the document. */
const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Error: ERROR,
  Repository: records.REPOSITORY,
  Member: records.MEMBER,
  Dataset: records.DATASET,
  DatasetSummary: records.DATASET_SUMMARY,
  Column: records.COLUMN,
  DeclaredColumns: records.DECLARED_COLUMNS,
  Account: records.ACCOUNT,
  ApiKey: records.API_KEY,
  Link: records.LINK,
  ManagedAccount: records.MANAGED_ACCOUNT,
  Plan: records.PLAN,
  NewAccount: records.NEW_ACCOUNT,
  NamedKey: records.NAMED_KEY,
  NewNamedKey: records.NEW_NAMED_KEY,
  Provider: providers.PROVIDER,
  CategoryList: providers.CATEGORIES,
  SeriesList: providers.SERIES_LIST,
  Series: providers.SERIES,
  UserKey: providers.USER_KEY,
  Source: SOURCE,
}

const REFERENCES = new Map<unknown, string>(
  Object.entries(SCHEMAS).map(([name, schema]) => [schema, `#/components/schemas/${name}`]),
)

const TAGS = [
  ['Repositories', 'Containers of datasets, public or private.'],
  ['Members', 'Who may read and write in a repository.'],
  ['Datasets', 'Tables: their names and columns.'],
  ['Data', "Tables' rows: download, replace, append."],
  ['Providers', 'Series of other institutions, through one interface.'],
  ['Sources', 'Datasets that follow series, and are refreshed on a schedule.'],
  ['User keys', 'Your own keys for providers, which raise the limits there.'],
  ['Account', 'Your account, its limits and its keys.'],
  ['Accounts', 'All accounts, for admins.'],
  ['Service', 'The service itself.'],
] as const

const ABOUT = `Tables, downloaded in seven formats and filtered with OData; and economic series of many providers.

Errors are JSON: \`{"error": "<sentence>", "code": "<stable_code>"}\`. A query parameter that is unknown, or given twice,
is an error. \`Idempotency-Key\` is ignored. POST creates something new with each call; PUT and DELETE may be repeated.`

const SECURITY_SCHEMES = {
  basic: {
    type: 'http',
    scheme: 'basic',
    description:
      'The API key is the user name, with any password. If there is an Authorization header, only that is used.',
  },
  apiKey: { type: 'apiKey', in: 'query', name: 'apiKey', description: 'The API key.' },
} as const

/**
 * Makes the OpenAPI 3.1 document from the schemas that validate the requests. Must be called before the routes are
 * registered. `prefix` is the path under which the service is mounted in another application.
 */
export function describeRoutes(app: FastifyInstance, version: string, prefix = ''): void {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    routes.push(route)
  })
  let document: Promise<JsonSchema> | undefined
  app.decorate('openApiDocument', () => (document ??= documentOf(routes, version, prefix)))
}

/**
 * @fastify/swagger describes the routes of an application that it joins before them. So that no start loads it, the
 * routes are told to an application that is made for it.
 */
async function documentOf(
  routes: readonly RouteOptions[],
  version: string,
  prefix: string,
): Promise<JsonSchema> {
  const { default: swagger } = await import('@fastify/swagger')
  const responses = new Map<string, Record<string, unknown>>()
  const app = Fastify({ exposeHeadRoutes: false })
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  await app.register(swagger, {
    convertConstToEnum: false,
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Parquetry', version, description: ABOUT, license: { name: 'MIT', identifier: 'MIT' } },
      servers: [{ url: prefix || '/' }],
      security: [{ basic: [] }, { apiKey: [] }],
      tags: TAGS.map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: SECURITY_SCHEMES,
        // A component contains its own schema in full, and references for the components inside it.
        schemas: mapEntries(SCHEMAS, (name, schema) => [name, partsWithReferences(schema as object)]),
      },
    },
    transform: ({ schema, url, route }) => {
      const { operationId, response } = (schema ?? {}) as FastifySchema
      if (operationId) responses.set(operationId, responsesOf(response as object, route))
      return asSwagger(schema, url, route)
    },
    transformObject: (given) => {
      const { openapiObject: document } = given as unknown as { openapiObject: MadeDocument }
      for (const path of Object.values(document.paths)) {
        // HEAD is another method of the GET route, whose operation describes it.
        delete path['head']
        for (const operation of Object.values(path))
          operation.responses = responses.get(operation.operationId)
      }
      const used = JSON.stringify([...responses.values()])
      const referred = Object.entries(ERROR_RESPONSES).filter(([status]) =>
        used.includes(errorReference(status)),
      )
      document.components['responses'] = mapEntries(Object.fromEntries(referred), (status, response) => [
        `Error${status}`,
        withReferences(response),
      ])
      return document as never
    },
  })
  for (const { method, url, schema, config } of routes) {
    app.route({ method, url, ...(schema && { schema }), ...(config && { config }), handler: () => {} })
  }
  await app.ready()
  return app.swagger() as JsonSchema
}

interface MadeDocument {
  readonly paths: Record<string, Record<string, { readonly operationId: string; responses: unknown }>>
  readonly components: Record<string, unknown>
}

/** The schema of a route in the form that @fastify/swagger expects. */
function asSwagger(schema: FastifySchema | undefined, url: string, { config }: RouteOptions) {
  if (!schema || schema.hide) return { schema: { hide: true }, url }
  const { requestBody, body, querystring, response: _, ...rest } = schema
  return {
    url: url.replace('*', ':series_id'),
    schema: {
      ...rest,
      ...(querystring !== undefined && { querystring: withReferences(querystring) }),
      ...(body !== undefined && { body: withReferences(body) }),
      ...(requestBody && {
        body: { content: withReferences(requestBody.content) },
        description: `${schema.description}\n\n${requestBody.description}`,
      }),
      ...(config?.public && { security: [] }),
      params: pathParameters(url),
    },
  }
}

/**
 * The responses of a route. They are kept from @fastify/swagger, which would read their examples as schemas and drop
 * every field that has the name of a keyword, for example `nullable`.
 */
function responsesOf(response: object, { config }: RouteOptions): Record<string, unknown> {
  const all = { ...errors(400, 414, 431, 500, 503), ...(!config?.public && errors(401, 429)), ...response }
  return mapEntries(all, (status, one) => [
    status,
    one === ERROR_RESPONSES[status] ? { $ref: errorReference(status) } : withReferences(one),
  ])
}

function errorReference(status: string): string {
  return `#/components/responses/Error${status}`
}

/** Replaces every schema that is a named component by a reference. */
function withReferences(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const $ref = REFERENCES.get(value)
  if ($ref !== undefined) return { $ref }
  return Array.isArray(value) ? value.map(withReferences) : partsWithReferences(value)
}

/**
 * Merges the keywords under `documented` into the schema. Requests are not validated against them, because other code
 * checks the same with better messages.
 */
function partsWithReferences(value: object): object {
  const { documented, ...checked } = value as { readonly documented?: object }
  return mapEntries({ ...checked, ...documented }, (key, part) => [key, withReferences(part)])
}

function mapEntries<To>(
  record: object,
  map: (key: string, value: unknown) => [string, To],
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => map(key, value)))
}
