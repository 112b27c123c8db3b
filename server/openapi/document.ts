import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import type { QuerySchema } from '../http/query.ts'
import * as records from '../routes/records.ts'
import { ERROR, ERROR_RESPONSES, errors, type JsonSchema } from './describe.ts'

/** Schemas that the document names once and refers to. */
const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Error: ERROR,
  Repository: records.REPOSITORY,
  Member: records.MEMBER,
  Dataset: records.DATASET,
  Column: records.COLUMN,
  DeclaredColumns: records.DECLARED_COLUMNS,
  Account: records.ACCOUNT,
  ApiKey: records.API_KEY,
  Provider: records.PROVIDER,
  Categories: records.CATEGORIES,
  SeriesList: records.SERIES_LIST,
  Series: records.SERIES,
  UserKey: records.USER_KEY,
}

/** Everything that is named once, with the reference that stands for it elsewhere. */
const REFERENCES = new Map<unknown, string>([
  ...Object.entries(SCHEMAS).map(([name, schema]) => [schema, `#/components/schemas/${name}`] as const),
  ...Object.entries(ERROR_RESPONSES).map(
    ([status, response]) => [response, `#/components/responses/Error${status}`] as const,
  ),
])

/** Parameters of paths, by their name in the routes. */
const PATH_PARAMETERS: Readonly<Record<string, JsonSchema>> = {
  id: { name: 'id', schema: { type: 'integer', minimum: 1 }, description: 'Id.', example: 1 },
  account: {
    name: 'account',
    schema: { type: 'string' },
    description: 'Name of an account.',
    example: 'grace',
  },
  slug: {
    name: 'slug',
    schema: { type: 'string' },
    description: 'Slug of a provider, in any case of letters.',
    example: 'fred',
  },
  '*': {
    name: 'series_id',
    schema: { type: 'string' },
    description: 'Id of a series. It may hold slashes, as they are or percent-encoded.',
    example: 'GNPCA',
  },
}

const TAGS = [
  ['Repositories', 'Containers of datasets, public or private.'],
  ['Members', 'Who may read and write in a repository.'],
  ['Datasets', 'Tables: their names and columns.'],
  ['Data', "Tables' rows: download, replace, append."],
  ['Providers', 'Series of other institutions, through one interface.'],
  ['User keys', 'Your own keys for providers, which raise the limits there.'],
  ['Account', 'Your account, its limits and its key.'],
  ['Service', 'The service itself.'],
] as const

const ABOUT = `Tables, downloaded in seven formats and filtered with OData; and economic series of many providers.

Errors are JSON: \`{"error": "<sentence>", "code": "<stable_code>"}\`. A query parameter that is unknown, or given twice,
is an error. \`Idempotency-Key\` is ignored. POST creates something new with each call; PUT and DELETE may be repeated.`

/** Makes the OpenAPI 3.1 document from the schemas that the routes themselves are checked by. */
export class Document {
  readonly #routes: RouteOptions[] = []
  readonly #version: string
  #document: JsonSchema | undefined

  constructor(version: string) {
    this.#version = version
  }

  /** Call it before the routes are added. */
  collect(app: FastifyInstance): void {
    app.addHook('onRoute', (route) => {
      if (route.schema && !route.schema.hide && methodOf(route) !== 'HEAD') this.#routes.push(route)
    })
  }

  /** `prefix`: what stands before the paths of the document, where the service is a part of another. */
  get(prefix = ''): JsonSchema {
    this.#document ??= this.#make(prefix)
    return this.#document
  }

  #make(prefix: string): JsonSchema {
    const paths: Record<string, Record<string, JsonSchema>> = {}
    for (const route of this.#routes) {
      const path = pathOf(route.url.slice(prefix.length))
      paths[path] = { ...paths[path], [methodOf(route).toLowerCase()]: operation(route) }
    }
    const document = {
      openapi: '3.1.0',
      info: {
        title: 'Parquetry',
        version: this.#version,
        description: ABOUT,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: prefix || '/' }],
      security: [{ basic: [] }, { apiKey: [] }],
      tags: TAGS.map(([name, description]) => ({ name, description })),
      paths,
      components: {
        securitySchemes: {
          basic: {
            type: 'http',
            scheme: 'basic',
            description: 'The API key is the user name; the password is empty. A Basic header decides alone.',
          },
          apiKey: { type: 'apiKey', in: 'query', name: 'apiKey', description: 'The API key.' },
        },
        schemas: mapped(SCHEMAS, (name) => name),
        responses: mapped(ERROR_RESPONSES, (status) => `Error${status}`),
      },
    }
    return withReferences(document) as JsonSchema
  }
}

function operation(route: RouteOptions): JsonSchema {
  const { operationId, summary, description, tags, querystring, body, requestBody, response } =
    route.schema as FastifySchema
  const isPublic = route.config?.public === true
  const content =
    requestBody ??
    (body !== undefined && { required: true, content: { 'application/json': { schema: body } } })
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    tags,
    ...(isPublic && { security: [] }),
    parameters: [...pathParameters(route.url), ...queryParameters(querystring as QuerySchema | undefined)],
    ...(content && { requestBody: content }),
    responses: { ...errors(500, 503), ...(!isPublic && errors(400, 401)), ...(response as object) },
  }
}

function pathParameters(url: string): JsonSchema[] {
  const names = url
    .split('/')
    .flatMap((part) => (part === '*' ? [part] : part.startsWith(':') ? [part.slice(1)] : []))
  return names.map((name) => {
    const parameter = PATH_PARAMETERS[name]
    if (!parameter) throw new Error(`path parameter ${name} of ${url} is not described`)
    return { ...parameter, in: 'path', required: true }
  })
}

function queryParameters(schema: QuerySchema | undefined): JsonSchema[] {
  return Object.entries(schema?.properties ?? {}).map(([name, { description, examples, ...rest }]) => {
    const example = Array.isArray(examples) ? { example: examples[0] } : {}
    return { name, in: 'query', required: false, description, schema: rest, ...example }
  })
}

function pathOf(url: string): string {
  return url
    .split('/')
    .map((part) => (part === '*' ? '{series_id}' : part.startsWith(':') ? `{${part.slice(1)}}` : part))
    .join('/')
}

function methodOf(route: RouteOptions): string {
  return [route.method].flat()[0]!
}

/** Named parts under the names of the document, each itself whole. */
function mapped(parts: Readonly<Record<string, JsonSchema>>, name: (key: string) => string) {
  return Object.fromEntries(
    Object.entries(parts).map(([key, part]) => [name(key), withReferences({ ...part })]),
  )
}

/** Puts a reference in place of everything that is named once. */
function withReferences(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => withReferences(item))
  const $ref = REFERENCES.get(value)
  if ($ref !== undefined) return { $ref }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withReferences(item)]))
}
