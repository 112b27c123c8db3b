import { isDeepStrictEqual } from 'node:util'
import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import type { JsonSchema } from '../records/schema.ts'
import { ERROR_RESPONSES, errors, NOT_MODIFIED, pathParameters } from './describe.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The OpenAPI document of all routes, made when it is first asked for. */
    openApiDocument(): JsonSchema
  }
}

/** The groups of operations, each with the paths that belong to it. */
const TAGS = [
  ['Repositories', 'Containers of datasets, public or private.', /^\/repositories(\/:id)?$/],
  ['Members', 'Who may read and write in a repository.', /^\/repositories\/:id\/members/],
  [
    'Datasets',
    'Tables: their names and columns.',
    /^\/datasets(\/:id(\/(columns|copy|profile|\w+\.json))?)?$/,
  ],
  ['Data', "Tables' rows: download, replace, append.", /^\/(datasets\/:id\/(data|parquet)|preview|links)/],
  ['SQL', 'One SELECT over datasets.', /^\/sql/],
  [
    'Versions',
    'What tables held before, and going back to it.',
    /^\/datasets\/:id\/(versions|changes|revisions|restore|undo)/,
  ],
  ['Providers', 'Series of other institutions, through one interface.', /^\/(providers|series|search)/],
  ['Sources', 'Datasets that follow series, and are refreshed on a schedule.', /^\/datasets\/:id\/source/],
  ['User keys', 'Your own keys for providers, which raise the limits there.', /^\/user-keys/],
  ['Account', 'Your account, its limits and its keys.', /^\/account(\/|$)/],
  ['Accounts', 'All accounts, for admins.', /^\/(accounts|plans)/],
  ['Service', 'The service itself.', /^\/(healthz|readyz|metrics|openapi|docs)/],
] as const

/** The group of a path. @throws Error if none has it, at the first request for the document */
function tagOf(path: string): string {
  const found = TAGS.find(([, , paths]) => paths.test(path))
  if (!found) throw new Error(`${path} belongs to no group of operations`)
  return found[0]
}

const ABOUT = `Query tables with OData and download them in seven formats; read economic series from many providers.

Errors are JSON: \`{"error": "<sentence>", "code": "<stable_code>"}\`. A query parameter that is unknown, or given twice,
is an error.

PUT and DELETE may be repeated. To repeat the creation of a repository or a dataset, or an upload, send it with an
\`Idempotency-Key\`, a text of your choice: a request that was carried out isn't carried out again within a day, but
answered again. \`If-Match\` with the \`ETag\` of a record makes a change only if the record is still the same.`

/** The ways to send a key, those in a header first. */
const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'The API key as a Bearer token. If there is an Authorization header, only that is used.',
  },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'The API key as the user name, with any password.',
  },
  header: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The API key.' },
  apiKey: {
    type: 'apiKey',
    in: 'query',
    name: 'apiKey',
    description: 'The API key, for programs that can send no header. Addresses are often logged.',
  },
} as const

/**
 * Makes `openApiDocument()` give the OpenAPI 3.1 document of the routes that are added afterwards. `prefix` is the path
 * under which the service is mounted in another application.
 */
export async function describeRoutes(app: FastifyInstance, version: string, prefix = ''): Promise<void> {
  const components = new Components()
  const responses = new Map<string, Record<string, unknown>>()
  await app.register(swagger, {
    decorator: 'openApiDocument',
    convertConstToEnum: false,
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Parquetry', version, description: ABOUT, license: { name: 'MIT', identifier: 'MIT' } },
      servers: [{ url: prefix || '/' }],
      security: Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [] })),
      tags: TAGS.map(([name, description]) => ({ name, description })),
      components: { securitySchemes: SECURITY_SCHEMES },
    },
    transform: ({ schema, url, route }) => {
      const { operationId, response } = (schema ?? {}) as FastifySchema
      if (!schema || schema.hide) return { schema: { hide: true }, url }
      if (operationId) responses.set(operationId, responsesOf(response as object, route, components))
      return asSwagger(schema, url, tagOf(url.slice(prefix.length)), route, components)
    },
    transformObject: (given) => {
      const { openapiObject: document } = given as unknown as { openapiObject: MadeDocument }
      for (const path of Object.values(document.paths)) {
        // HEAD is another method of the GET route, whose operation describes it.
        delete path['head']
        for (const operation of Object.values(path))
          operation.responses = responses.get(operation.operationId)
      }
      Object.assign(document.components, components.all)
      return document as never
    },
  })
}

interface MadeDocument {
  readonly paths: Record<string, Record<string, { readonly operationId: string; responses: unknown }>>
  readonly components: object
}

/** What operations refer to instead of repeating it. */
class Components {
  readonly #schemas = new Map<string, object>()
  readonly #responses = new Map<string, object>()

  get all() {
    return { schemas: Object.fromEntries(this.#schemas), responses: Object.fromEntries(this.#responses) }
  }

  /** A part of the document, in which every schema that has a name of its own is a reference. */
  in(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((one) => this.in(one))
    const { component, documented, ...schema } = value as { component?: string; documented?: object }
    // Of two forms of a body, generators of clients understand only one.
    if ('then' in schema) return this.in(schema.then)
    const described = mapValues(sized({ ...schema, ...documented }), (part) => this.in(part))
    if (component === undefined) return described
    const known = this.#schemas.get(component)
    if (known && !isDeepStrictEqual(known, described)) {
      throw new Error(`two schemas are named ${component}`)
    }
    this.#schemas.set(component, described)
    return { $ref: `#/components/schemas/${component}` }
  }

  /** A reference to the response of a status that is the same everywhere. */
  response(status: string, response: object): object {
    const name = `Error${status}`
    this.#responses.set(name, this.in(response) as object)
    return { $ref: `#/components/responses/${name}` }
  }
}

/** The schema of a route in the form that @fastify/swagger expects. */
function asSwagger(
  schema: FastifySchema,
  url: string,
  tag: string,
  { config }: RouteOptions,
  components: Components,
) {
  const { requestBody, body, querystring, response: _, ...rest } = schema
  return {
    url: url.replace('*', ':series_id'),
    schema: {
      ...rest,
      tags: [tag],
      ...(querystring !== undefined && { querystring: components.in(querystring) }),
      ...(body !== undefined && { body: components.in(body) }),
      ...(requestBody && {
        body: { content: components.in(requestBody.content) },
        description: `${schema.description}\n\n${requestBody.description}`,
      }),
      ...(config?.public && { security: [] }),
      params: components.in(pathParameters(url)),
    },
  }
}

/**
 * The responses of a route: its own, and errors that follow from what it is. They are kept from @fastify/swagger, which
 * would read their examples as schemas and drop every field that has the name of a keyword, for example `nullable`.
 */
function responsesOf(
  response: object,
  { config, method, url }: RouteOptions,
  components: Components,
): Record<string, unknown> {
  const gets = [method].flat().includes('GET')
  const all = {
    ...errors(400, 414, 431, 500, 503),
    ...(!config?.public && errors(401, 429)),
    ...(((!gets && config?.reads !== true) || url.includes('/:id')) && errors(403)),
    ...(/[:*]/.test(url) && errors(404)),
    ...(gets ? !config?.public && { 304: NOT_MODIFIED } : errors(413, 415)),
    ...response,
  }
  return Object.fromEntries(
    Object.entries(all).map(([status, one]) => [
      status,
      one === ERROR_RESPONSES[status] ? components.response(status, one) : components.in(one),
    ]),
  )
}

const MOST_INT32 = 2 ** 31 - 1

/** Says of an integer that may be larger than 32 bits that it is, for generators of clients in typed languages. */
function sized(schema: { readonly type?: unknown; readonly maximum?: number }): object {
  const isInteger = [schema.type].flat().includes('integer')
  return isInteger && !((schema.maximum ?? Infinity) <= MOST_INT32) ? { ...schema, format: 'int64' } : schema
}

function mapValues(record: object, map: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))
}
