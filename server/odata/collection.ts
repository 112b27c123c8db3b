import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import type { Snapshot } from '../../engine/index.ts'
import { type EntityQuery, entityQuery, type RowOptions, versionIn } from './entity.ts'
import { ODataError } from './errors.ts'
import { contextHead, type Exchange } from './exchange.ts'
import type { EntitySet } from './metadata/model.ts'
import { jsonContentType } from './negotiate.ts'
import { addedSince, pageWindow, positionOf, preferredPageSize, skipToken, trackedChanges } from './paging.ts'

/** The system query options of a request for a collection. */
export interface CollectionOptions extends RowOptions {
  readonly $count?: boolean
  readonly $skiptoken?: string
  readonly $deltatoken?: string
}

/** With these a delta link would promise too much: an answer that is no set of entities, or only some of them. */
const UNTRACKED = ['$apply', '$top', '$skip', '$version', 'asOf'] as const

/**
 * Answers with the rows of an entity set, in pages if there are many. All pages show the version of the dataset that
 * the first page was made from.
 */
export async function answerCollection(
  exchange: Exchange,
  set: EntitySet,
  options: CollectionOptions,
): Promise<FastifyReply> {
  const { services, request, reply, json } = exchange
  const { engine, exports, kept, config } = services
  const { odataPageRows: most } = config.limits
  const position = options.$skiptoken === undefined ? undefined : positionOf(options.$skiptoken)
  const prefer = request.headers['prefer'] as string | undefined
  const wanted = preferredPageSize(prefer)
  const dataset = await engine.dataset(set.datasetId)
  const untracked = UNTRACKED.find((name) => options[name] !== undefined)
  const { $deltatoken: since, $filter: filter } = options
  if (since !== undefined && untracked !== undefined) {
    throw new ODataError('badRequest', `${untracked} does not go with $deltatoken.`, untracked)
  }
  const preference = untracked === undefined ? trackedChanges(prefer) : undefined
  const tracked = since !== undefined || (position?.tracked ?? preference !== undefined)
  const added =
    since === undefined ? undefined : await addedSince(dataset, since, { filter, until: position?.version })
  const preferred = wanted?.size ?? position?.size
  const size = Math.min(preferred ?? most, most)
  const offset = position?.offset ?? 0
  const window = pageWindow({ top: options.$top, skip: options.$skip }, offset, size)
  const asked = await ask(
    exchange,
    set,
    { ...options, ...(added && { $filter: added.filter }), $skip: window.skip, $top: window.top },
    position?.version ?? added?.version,
  )
  const { query, version, odata, projection } = asked
  const known = query.knownRowCount
  // A page with fewer rows than its size is the last one.
  const end = offset + size
  const mayGoOn =
    (options.$top === undefined || options.$top > end) && (known === undefined || known > window.skip + size)
  try {
    if (mayGoOn) await kept.keep(dataset, version)
  } catch (error) {
    query[Symbol.dispose]()
    throw error
  }
  const applied = [wanted && `${wanted.name}=${size}`, tracked && preference].filter(Boolean)
  if (applied.length > 0) reply.header('preference-applied', applied.join(', '))

  const delta = since === undefined ? '' : '/$delta'
  const head = contextHead(exchange, encodeURIComponent(set.name) + projection + delta)
  const token = skipToken({ version, offset: end, size: preferred && size, tracked })
  const next = linkTo(exchange, set, `$skiptoken=${token}`)
  const lastEnd = tracked
    ? `,"@odata.deltaLink":${JSON.stringify(linkTo(exchange, set, `$deltatoken=${version}`))}}`
    : '}'
  return exports.send(request, reply, {
    query,
    window: {},
    format: 'json',
    name: set.title,
    meteredRows: asked.rowCount,
    odata,
    paged: mayGoOn || position !== undefined,
    contentType: jsonContentType(json, true),
    variant: variantOf(head, next, lastEnd, String(options.$count), JSON.stringify(json)),
    envelope: {
      before: options.$count ? (matches) => `${head}"@odata.count":${matches},"value":` : `${head}"value":`,
      after: (rows) => (mayGoOn && rows === size ? `,"@odata.nextLink":${JSON.stringify(next)}}` : lastEnd),
    },
  })
}

/** Answers with the number of rows that match, as text (URL Conventions 4.01, 4.8); a window or an order doesn't matter. */
export async function answerCount(
  exchange: Exchange,
  set: EntitySet,
  { $select, $orderby, $top, $skip, ...matching }: RowOptions,
): Promise<FastifyReply> {
  const { services, request, reply } = exchange
  const { query } = await ask(exchange, set, matching, undefined)
  const count = await services.exports.run(request, reply, query, (signal) => query.count({ signal }))
  return reply.type('text/plain;charset=utf-8').send(String(count))
}

/** Queries the given version of a dataset, or the current one. */
async function ask(
  { services: { engine, kept }, json }: Exchange,
  set: EntitySet,
  options: RowOptions,
  version: number | undefined,
): Promise<EntityQuery & { readonly version: number; readonly rowCount: number }> {
  const dataset = await engine.dataset(set.datasetId)
  const askOf = (snapshot: Snapshot) => ({
    ...entityQuery(set, snapshot, options, json),
    version: snapshot.version,
    rowCount: snapshot.rowCount ?? 0,
  })
  if (version !== undefined) return askOf(await kept.get(dataset, version))
  using snapshot = await dataset.snapshot(versionIn(options))
  return askOf(snapshot)
}

/** The same query with another token: of the next page, or of what will be new. */
function linkTo({ request, root }: Exchange, set: EntitySet, token: string): string {
  const query = request.url.includes('?') ? request.url.slice(request.url.indexOf('?') + 1) : ''
  const isDelta = token.startsWith('$delta')
  // Links are stored and shared, so they must not contain the API key.
  const left = isDelta ? /^(\$|%24)?(skiptoken|deltatoken|apikey)=/i : /^(\$|%24)?(skiptoken|apikey)=/i
  const kept = query.split('&').filter((part) => part !== '' && !left.test(part))
  return `${root}${encodeURIComponent(set.name)}?${[...kept, token].join('&')}`
}

/** A short hash that becomes part of the entity tag. */
function variantOf(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('base64url').slice(0, 12)
}
