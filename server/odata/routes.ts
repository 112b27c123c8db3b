import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { VERSION } from '../../engine/options.ts'
import { rawQuery } from '../http/addresses.ts'
import { noteRefusal, shownTo } from '../http/answer-errors.ts'
import { type ErrorAnswer, errorAnswer } from '../http/errors.ts'
import { matchesTag, recordTag } from '../http/headers.ts'
import { parameters, parametersOf, readQuery } from '../http/input.ts'
import { pathId } from '../routes/routes.ts'
import type { Services } from '../services.ts'
import { answerCollection, answerCount, type CollectionOptions } from './collection.ts'
import { csdlJson, csdlXml } from './csdl.ts'
import { answerEntity, answerProperty, OF_ROWS } from './entity.ts'
import { malformed, ODataError } from './errors.ts'
import { slices } from './model.ts'
import {
  announcedVersion,
  contextHead,
  type Exchange,
  type JsonRequest,
  jsonContentType,
  jsonFor,
  metadataIsJson,
  versionFor,
} from './negotiate.ts'
import { connectionFileRoutes } from './office-files.ts'
import { type Resource, resourceAt } from './path.ts'
import { type Feed, repositoryFeed, wholeFeed } from './sets.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** The service roots: one for each repository, and one with all datasets that a key may read. */
const ROOTS = ['/odata', '/repositories/:id/odata'] as const

const OPTIONS = parameters({
  ...parametersOf(OF_ROWS),
  ...parametersOf(VERSION),
  $count: { type: 'boolean', description: 'Whether to return the number of matching rows.' },
  $format: { type: 'string', description: '`json`, `xml` for `$metadata`, or a media type.' },
  $skiptoken: { type: 'string', description: 'From `@odata.nextLink`.' },
  $deltatoken: { type: 'string', description: 'From `@odata.deltaLink`.' },
  $expand: { type: 'string', description: 'Not supported: there are no relations.' },
})

/** The largest document of `$metadata` that is kept, and the most bytes of all: such a document takes long to make. */
const MOST_KEPT = 4 * 2 ** 20
const MOST_DOCUMENTS = 4 * MOST_KEPT

/** Documents of `$metadata` by their tags. */
type Documents = LRUCache<string, Buffer>

interface GivenOptions extends CollectionOptions {
  readonly $format?: string
  readonly $expand?: string
}

/** The read-only OData service (OData 4.01, and 4.0 for clients that ask for it). */
export function odataRoutes(app: FastifyInstance, services: Services): void {
  const documents = new LRUCache<string, Buffer>({
    maxSize: MOST_DOCUMENTS,
    sizeCalculation: ({ byteLength }) => byteLength,
  })

  app.register(async (scope) => {
    scope.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) =>
      done(null, body),
    )
    // Only a batch may have several parts.
    scope.addContentTypeParser('multipart/mixed', { parseAs: 'string' }, (request, body, done) =>
      done(null, /\/\$batch(?:\?|$)/.test(request.url) ? body : undefined),
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
          handler: (request, reply) => answer(app, services, documents, root, request, reply),
        })
      }
    }
  })
}

async function answer(
  app: FastifyInstance,
  services: Services,
  documents: Documents,
  rootPath: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { headers } = request
  // Versions before 4.0 are refused, whatever is asked for.
  versionFor(headers['odata-maxversion'] as string | undefined)
  // A raw `#` in a request line ends the path as well, for the router and here.
  const path = request.url.split(/[?#]/, 1)[0]!.split('/')
  // The service root has as many segments as `rootPath`, plus those of the prefix under which the application is
  // mounted.
  const depth = (app.prefix + rootPath).split('/').length
  const root = `${path.slice(0, depth).join('/')}/`
  const resource = resourceAt(path.slice(depth).map(decodeURIComponent))
  refuseWrites(request, reply, resource)

  const feed =
    rootPath === '/odata'
      ? await wholeFeed(services, request.account)
      : await repositoryFeed(services, pathId(request, 'repository'), request.account)
  const options = optionsOf(request, resource)
  refuseOptions(options, resource)
  if (resource.kind === 'metadata')
    return answerMetadata(services, { request, reply }, feed, options.$format, documents)
  if (resource.kind === 'batch') {
    const { answerBatch } = await import('./batch.ts')
    const { type, pieces } = answerBatch(app, request, root, request.body)
    return reply.type(type).send(Readable.from(pieces, { objectMode: false }))
  }
  const exchange: Exchange = {
    services,
    request,
    reply,
    root: `${request.publicUrl}${root}`,
    json: isText(resource) ? AS_TEXT : jsonFor(options.$format, headers.accept),
  }
  if (resource.kind === 'service') return answerService(exchange, feed)
  const set = feed.set(resource.set)
  switch (resource.kind) {
    case 'set':
    case 'query':
      return answerCollection(exchange, set, options)
    case 'count':
      return answerCount(exchange, set, options)
    case 'entity':
      return answerEntity(exchange, set, resource.key, options)
    case 'property':
      return answerProperty(exchange, set, resource)
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
async function answerService(exchange: Exchange, { sets }: Feed): Promise<FastifyReply> {
  const entries: string[] = []
  for await (const some of slices(sets)) {
    for (const { name, title } of some) {
      const titled = title !== name && { title }
      entries.push(JSON.stringify({ name, ...titled, kind: 'EntitySet', url: encodeURIComponent(name) }))
    }
  }
  const head = contextHead(exchange, '').replace('#"', '"')
  return exchange.reply
    .type(jsonContentType(exchange.json, false))
    .send(`${head}"value":[${entries.join()}]}`)
}

async function answerMetadata(
  services: Services,
  { request: { headers, method }, reply }: Pick<Exchange, 'request' | 'reply'>,
  feed: Feed,
  format: string | undefined,
  documents: Documents,
): Promise<FastifyReply> {
  const version = versionFor(headers['odata-maxversion'] as string | undefined)
  const isJson = metadataIsJson(format, headers.accept, version)
  const tag = recordTag(services.version, version, isJson, await feed.tag())
  reply.header('etag', tag).type(`application/${isJson ? 'json' : 'xml'};charset=utf-8`)
  if (matchesTag(headers['if-none-match'], tag)) return reply.code(304).send()
  if (method === 'HEAD') return reply.send()
  const known = documents.get(tag)
  if (known) return reply.send(known)
  const pieces = isJson ? csdlJson(feed.described()) : csdlXml(feed.described(), version)
  return reply.send(Readable.from(keepWhole(pieces, (whole) => documents.set(tag, whole))))
}

/** The same pieces; `keep` gets all of them at their end, unless they are too many. */
async function* keepWhole(pieces: AsyncIterable<string>, keep: (whole: Buffer) => void) {
  let all: string[] | undefined = []
  let length = 0
  for await (const piece of pieces) {
    length += piece.length
    if (length > MOST_KEPT) all = undefined
    all?.push(piece)
    yield piece
  }
  if (all) keep(Buffer.from(all.join('')))
}

/** The options in the query string and, for `/$query`, those in the body as well. */
function optionsOf(request: FastifyRequest, resource: Resource): GivenOptions {
  if (resource.kind !== 'query') return request.query as GivenOptions
  if (typeof request.body !== 'string') {
    throw new ODataError(
      'unsupportedMediaType',
      'The body of /$query must be text/plain: the query options as a query string.',
    )
  }
  return readQuery(
    [request.body.trim(), rawQuery(request.url)].filter(Boolean).join('&'),
    OPTIONS,
  ) as GivenOptions
}

/** The options that have a meaning for one row, and for one value. */
const OF_ONE = {
  entity: ['$select', '$compute', 'aliases', '$format', '$version', 'asOf'],
  property: ['$format'],
} as const

/** An option about several rows would have no effect on one, which nobody who gives it expects. */
function refuseOptions(options: GivenOptions, { kind }: Resource): void {
  if (options.$expand !== undefined) {
    const message = '$expand is not supported: the tables have no relations.'
    throw new ODataError('notImplemented', message, '$expand')
  }
  if (kind !== 'entity' && kind !== 'property') return
  const known: readonly string[] = OF_ONE[kind]
  const other = Object.keys(options).find((name) => !known.includes(name))
  if (other === undefined) return
  const what = kind === 'entity' ? 'one row' : 'one value'
  throw malformed(
    `${other} does not apply to ${what}; valid options: ${known.filter((name) => name.startsWith('$')).join(', ')}.`,
    other,
  )
}

function refuseWrites({ method }: FastifyRequest, reply: FastifyReply, { kind }: Resource): void {
  const posts = kind === 'batch' || kind === 'query'
  const allowed = posts ? ['POST'] : ['GET', 'HEAD']
  if (allowed.includes(method)) return
  reply.header('allow', allowed.join(', '))
  throw new ODataError(
    'readOnly',
    posts
      ? `${method} is not allowed here; send a POST.`
      : `The service is read-only; ${method} is not allowed here.`,
  )
}

/** Answers with an error in OData's format (JSON Format 4.01, 21.1). */
function answerError(
  { metrics }: Services,
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const error = shownTo(request, thrown)
  const known = error instanceof ODataError ? error : undefined
  const { status, headers, body }: ErrorAnswer = known
    ? { status: known.status, headers: {}, body: { error: known.message, code: known.code } }
    : errorAnswer(error)
  noteRefusal(metrics, request, reply, { error, status, code: body.code })
  const target =
    known?.target ??
    (body.option !== undefined && Object.hasOwn(OPTIONS.properties, body.option) ? body.option : undefined)
  return reply
    .code(status)
    .headers(headers)
    .type('application/json;charset=utf-8')
    .send({ error: { code: body.code, message: body.error, ...(target && { target }) } })
}
