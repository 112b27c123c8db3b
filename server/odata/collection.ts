import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import type { Snapshot } from '../../engine/index.ts'
import { ALIASES } from '../http/query.ts'
import { type EntityQuery, entityQuery, type RowOptions } from './entity-query.ts'
import { contextHead, type Exchange, type Place } from './exchange.ts'
import type { EntitySet } from './metadata/model.ts'
import { jsonContentType } from './negotiate.ts'
import { pageWindow, positionOf, preferredPageSize, skipToken } from './paging.ts'

/** The system query options of a request for a collection. */
export interface CollectionOptions extends RowOptions {
  readonly $count?: boolean
  readonly $skiptoken?: string
}

/**
 * Answers with the rows of an entity set, in pages if there are many. All pages show the version of the dataset that
 * the first page was made from.
 */
export async function answerCollection(
  place: Place,
  exchange: Exchange,
  set: EntitySet,
  options: CollectionOptions,
): Promise<FastifyReply> {
  const { request, reply, json } = exchange
  const position = options.$skiptoken === undefined ? undefined : positionOf(options.$skiptoken)
  const wanted = preferredPageSize(request.headers['prefer'] as string | undefined)
  const size = Math.min(wanted?.size ?? place.pageRows, place.pageRows)
  const offset = position?.offset ?? 0
  const window = pageWindow({ top: options.$top, skip: options.$skip }, offset, size)
  const asked = await ask(
    place,
    exchange,
    set,
    { ...options, $skip: window.skip, $top: window.top },
    position?.version,
  )
  const { query, version, odata, projection } = asked
  const known = query.knownRowCount
  // A page with fewer rows than its size is the last one.
  const end = offset + size
  const mayGoOn =
    (options.$top === undefined || options.$top > end) && (known === undefined || known > window.skip + size)
  try {
    if (mayGoOn) await place.kept.keep(await place.engine.dataset(set.datasetId), version)
  } catch (error) {
    query[Symbol.dispose]()
    throw error
  }
  if (wanted) reply.header('preference-applied', `${wanted.name}=${size}`)

  const head = contextHead(exchange, encodeURIComponent(set.name) + projection)
  const next = nextLink(exchange, set, skipToken({ version, offset: end }))
  return place.exports.send(request, reply, {
    query,
    window: {},
    format: 'json',
    name: set.title,
    meteredRows: asked.rowCount,
    odata,
    paged: mayGoOn || position !== undefined,
    contentType: jsonContentType(json, true),
    variant: variantOf(head, next, String(options.$count), JSON.stringify(json)),
    around: {
      before: options.$count ? (matches) => `${head}"@odata.count":${matches},"value":` : `${head}"value":`,
      after: (rows) => (mayGoOn && rows === size ? `,"@odata.nextLink":${JSON.stringify(next)}}` : '}'),
    },
  })
}

/** Answers with the number of rows that match, as text (URL Conventions 4.01, 4.8); a window or an order doesn't matter. */
export async function answerCount(
  place: Place,
  exchange: Exchange,
  set: EntitySet,
  { $filter, $search, $apply, $compute, [ALIASES]: aliases }: RowOptions,
): Promise<FastifyReply> {
  const given = Object.entries({ $filter, $search, $apply, $compute, [ALIASES]: aliases }).filter(
    ([, value]) => value !== undefined,
  )
  const { query } = await ask(place, exchange, set, Object.fromEntries(given), undefined)
  const count = await place.exports.count(exchange.request, exchange.reply, query)
  return exchange.reply.type('text/plain;charset=utf-8').send(String(count))
}

/** Queries the given version of a dataset, or the current one. */
async function ask(
  { engine, kept }: Place,
  { json }: Exchange,
  set: EntitySet,
  options: RowOptions,
  version: number | undefined,
): Promise<EntityQuery & { readonly version: number; readonly rowCount: number }> {
  const dataset = await engine.dataset(set.datasetId)
  const askOf = (snapshot: Snapshot) => ({
    ...entityQuery(set, snapshot, options, json),
    version: snapshot.version,
    rowCount: snapshot.rowCount,
  })
  if (version !== undefined) return askOf(await kept.get(dataset, version))
  using snapshot = await dataset.snapshot()
  return askOf(snapshot)
}

/** The address of the next page: the same query with a `$skiptoken`. */
function nextLink({ request, root }: Exchange, set: EntitySet, token: string): string {
  const query = request.url.includes('?') ? request.url.slice(request.url.indexOf('?') + 1) : ''
  // Links are stored and shared, so they must not contain the API key.
  const kept = query.split('&').filter((part) => part !== '' && !/^(\$|%24)?(skiptoken|apikey)=/i.test(part))
  return `${root}${encodeURIComponent(set.name)}?${[...kept, `$skiptoken=${token}`].join('&')}`
}

/** A short hash that becomes part of the entity tag. */
function variantOf(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('base64url').slice(0, 12)
}
