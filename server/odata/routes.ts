import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { noteRefusal } from '../http/answer-errors.ts'
import { errorAnswer } from '../http/errors.ts'
import { ALIASES, type ParameterSchema, parameters, rawQuery, readQuery } from '../http/query.ts'
import { pathId } from '../routes/ids.ts'
import type { Services } from '../services.ts'
import { answerBatch } from './batch.ts'
import { answerCollection, answerCount, type CollectionOptions } from './collection.ts'
import { connectionFileRoutes } from './connection-files.ts'
import { answerEntity, answerProperty } from './entity.ts'
import { ODataError } from './errors.ts'
import { contextHead, type Exchange, type Place } from './exchange.ts'
import { csdlJson } from './metadata/csdl-json.ts'
import { csdlXml } from './metadata/csdl-xml.ts'
import {
  announcedVersion,
  type JsonRequest,
  jsonContentType,
  jsonFor,
  metadataIsJson,
  type ODataVersion,
  versionFor,
} from './negotiate.ts'
import { type Resource, resourceAt } from './path.ts'
import { type Feed, repositoryFeed, wholeFeed } from './sets.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** The service roots: one for each repository, and one with all datasets that a key may read. */
const ROOTS = ['/odata', '/repositories/:id/odata'] as const

const text = (description: string): ParameterSchema => ({ type: 'string', description })

const OPTIONS = parameters({
  $filter: text('Rows to keep.'),
  $select: text('Properties to return.'),
  $orderby: text('Expressions to sort by.'),
  $top: { type: 'integer', minimum: 0, description: 'The most rows to return.' },
  $skip: { type: 'integer', minimum: 0, description: 'Rows to skip.' },
  $count: { type: 'boolean', description: 'Whether to return the number of matching rows.' },
  $compute: text('Properties to calculate.'),
  $search: text('Words to search for.'),
  $apply: text('Transformations of the rows.'),
  $format: text('`json`, `xml` for `$metadata`, or a media type.'),
  $skiptoken: text('From `@odata.nextLink`.'),
  $expand: text('Not supported: there are no relations.'),
  [ALIASES]: { type: 'object', additionalProperties: { type: 'string' }, description: 'Parameter aliases.' },
})

interface AskedOptions extends CollectionOptions {
  readonly $format?: string
  readonly $expand?: string
}

/** The read-only OData service (OData 4.01, and 4.0 for clients that ask for it). */
export function odataRoutes(app: FastifyInstance, services: Services): void {
  const { engine, exports, kept, config } = services
  const place: Place = { engine, exports, kept, pageRows: config.limits.odataPageRows }

  app.register(async (scope) => {
    scope.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) =>
      done(null, body),
    )
    // A write is refused whatever its body is, and what another body should be depends on the resource.
    scope.addContentTypeParser('*', (_request, _body, done) => done(null, undefined))
    scope.setErrorHandler((error, request, reply) => answerError(services, error, request, reply))
    scope.addHook('onRequest', async (request, reply) => {
      reply.header('odata-version', announcedVersion(request.headers['odata-maxversion']))
    })
    connectionFileRoutes(scope, services)
    for (const root of ROOTS) {
      for (const url of [root, `${root}/*`]) {
        scope.route({
          method: [...METHODS],
          config: { reads: true },
          url,
          schema: { hide: true, querystring: OPTIONS },
          handler: (request, reply) => answer(app, services, place, root, request, reply),
        })
      }
    }
  })
}

async function answer(
  app: FastifyInstance,
  services: Services,
  place: Place,
  rootPath: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { headers } = request
  const version = versionFor(headers['odata-maxversion'] as string | undefined)
  const path = request.url.split('?', 1)[0]!.split('/')
  // The service root has as many segments as `rootPath`, plus those of the prefix under which the application is
  // mounted.
  const depth = (app.prefix + rootPath).split('/').length
  const root = `${path.slice(0, depth).join('/')}/`
  const resource = resourceAt(path.slice(depth).map(decodeURIComponent))
  refuseWrites(request, resource)

  const feed =
    rootPath === '/odata'
      ? await wholeFeed(services, request.account)
      : await repositoryFeed(services, pathId(request, 'repository'), request.account)
  const options = optionsOf(request, resource)
  if (options.$expand !== undefined) {
    throw new ODataError(
      'notImplemented',
      '$expand is not supported: the tables have no relations.',
      '$expand',
    )
  }
  refuseOptionsOfRows(options, resource)
  if (resource.kind === 'metadata')
    return answerMetadata(reply, feed, options.$format, headers.accept, version)
  if (resource.kind === 'batch') {
    const text = await answerBatch(app, request, root, request.body)
    return reply.type('application/json;charset=utf-8').send(text)
  }
  const exchange: Exchange = {
    request,
    reply,
    root: `${request.protocol}://${request.host}${root}`,
    json: isText(resource) ? AS_TEXT : jsonFor(options.$format, headers.accept),
  }
  if (resource.kind === 'service') return answerService(exchange, feed)
  const set = feed.set(resource.set)
  switch (resource.kind) {
    case 'set':
    case 'query':
      return answerCollection(place, exchange, set, options)
    case 'count':
      return answerCount(place, exchange, set, options)
    case 'entity':
      return answerEntity(place, exchange, set, resource.key, options)
    case 'property':
      return answerProperty(place, exchange, set, resource)
    default:
      return resource satisfies never
  }
}

/** For text answers, to which the JSON options don't apply. */
const AS_TEXT: JsonRequest = { metadata: 'none', ieee754: false }

/** Whether the answer is plain text, so that the client need not accept JSON. */
function isText(resource: Resource): boolean {
  return resource.kind === 'count' || (resource.kind === 'property' && resource.raw)
}

/** The service document, which lists the entity sets (JSON Format 4.01, 5). */
function answerService(exchange: Exchange, feed: Feed): FastifyReply {
  const value = feed.sets.map(({ name, title }) => ({
    name,
    ...(title !== name && { title }),
    kind: 'EntitySet',
    url: encodeURIComponent(name),
  }))
  const body = `${contextHead(exchange, '').replace('#"', '"')}"value":${JSON.stringify(value)}}`
  return exchange.reply.type(jsonContentType(exchange.json, false)).send(body)
}

async function answerMetadata(
  reply: FastifyReply,
  feed: Feed,
  format: string | undefined,
  accept: string | undefined,
  version: ODataVersion,
): Promise<FastifyReply> {
  const sets = await feed.describedSets()
  return metadataIsJson(format, accept, version)
    ? reply.type('application/json;charset=utf-8').send(JSON.stringify(csdlJson(sets)))
    : reply.type('application/xml;charset=utf-8').send(csdlXml(sets, version))
}

/** The options in the query string and, for `/$query`, those in the body as well. */
function optionsOf(request: FastifyRequest, resource: Resource): AskedOptions {
  if (resource.kind !== 'query') return request.query as AskedOptions
  if (typeof request.body !== 'string') {
    throw new ODataError(
      'unsupportedMediaType',
      'The body of /$query must be text/plain: the query options as a query string.',
    )
  }
  return readQuery(
    [request.body.trim(), rawQuery(request.url)].filter(Boolean).join('&'),
    OPTIONS,
  ) as AskedOptions
}

/** The options that have a meaning for one row, and for one value. */
const OF_ONE = { entity: ['$select', '$format'], property: ['$format'] } as const

/** An option about several rows would have no effect on one, which nobody who gives it expects. */
function refuseOptionsOfRows(options: AskedOptions, { kind }: Resource): void {
  if (kind !== 'entity' && kind !== 'property') return
  const known: readonly string[] = OF_ONE[kind]
  const other = Object.keys(options).find((name) => !known.includes(name))
  if (other === undefined) return
  const what = kind === 'entity' ? 'one row' : 'one value'
  throw new ODataError(
    'badRequest',
    `${other} does not apply to ${what}; known are ${known.join(', ')}.`,
    other,
  )
}

function refuseWrites({ method }: FastifyRequest, resource: Resource): void {
  const reads = method === 'GET' || method === 'HEAD'
  const posts = resource.kind === 'batch' || resource.kind === 'query'
  if (posts ? method === 'POST' : reads) return
  throw new ODataError(
    'readOnly',
    posts
      ? `${method} is not allowed here; send a POST.`
      : `The service is read-only; ${method} is not allowed here.`,
  )
}

/** The errors about a query option, each with the option to which it refers unless its message begins with one. */
const TARGETS: Readonly<Record<string, string | undefined>> = {
  invalid_filter: '$filter',
  filter_type_error: '$filter',
  filter_too_complex: '$filter',
  filter_failed: '$filter',
  invalid_columns: undefined,
  invalid_option: undefined,
  invalid_query: undefined,
  badRequest: undefined,
}

function targetOf({ code, error }: { code: string; error: string }): string | undefined {
  if (!Object.hasOwn(TARGETS, code)) return undefined
  const first = /^\$?([A-Za-z]+)/.exec(error)?.[1]?.toLowerCase()
  return Object.hasOwn(OPTIONS.properties, `$${first}`) ? `$${first}` : TARGETS[code]
}

/** Answers with an error in OData's format (JSON Format 4.01, 21.1). */
function answerError(
  { metrics }: Services,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const known = error instanceof ODataError ? error : undefined
  const { status, headers, body } = known
    ? { status: known.status, headers: {}, body: { error: known.message, code: known.code } }
    : errorAnswer(error)
  noteRefusal(metrics, request, reply, { error, status, code: body.code })
  const target = known?.target ?? targetOf(body)
  return reply
    .code(status)
    .headers({ ...headers, ...(known?.code === 'readOnly' && { allow: 'GET, HEAD' }) })
    .type('application/json;charset=utf-8')
    .send({ error: { code: body.code, message: body.error, ...(target && { target }) } })
}
