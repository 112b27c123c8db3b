import type { FastifyReply } from 'fastify'
import type { Dataset } from '../../engine/index.ts'
import { entityQuery, type RowOptions, versionIn } from './entity.ts'
import { malformed, ODataError } from './errors.ts'
import { type EntitySet, KEY } from './model.ts'
import { contextHead, type Exchange, jsonContentType, preferenceIn } from './negotiate.ts'

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
  const { engine, exports, snapshots, config } = services
  const { odataPageRows: most } = config.limits
  const position = options.$skiptoken === undefined ? undefined : positionOf(options.$skiptoken)
  const pages = preferenceIn(request, 'maxpagesize')
  const pageSize = /^0*[1-9]\d{0,8}$/.test(pages?.value ?? '') ? Number(pages!.value) : undefined
  const dataset = await engine.dataset(set.datasetId)
  const untracked = UNTRACKED.find((name) => options[name] !== undefined)
  const { $deltatoken: since, $filter: filter } = options
  if (since !== undefined && untracked !== undefined) {
    throw malformed(`${untracked} does not go with $deltatoken.`, untracked)
  }
  const preference = untracked === undefined ? preferenceIn(request, 'track-changes') : undefined
  const tracked = since !== undefined || (position?.tracked ?? preference !== undefined)
  const added =
    since === undefined ? undefined : await addedSince(dataset, since, { filter, until: position?.version })
  const preferred = pageSize ?? position?.size
  const size = Math.min(preferred ?? most, most)
  const offset = position?.offset ?? 0
  const { $top = Number.POSITIVE_INFINITY, $skip = 0 } = options
  const skip = $skip + offset
  const top = Math.min(Math.max($top - offset, 0), size)
  const past = position?.version ?? added?.version
  const by = String(request.account.id)
  const snapshot = await (past === undefined
    ? dataset.snapshot(versionIn(options), { by })
    : snapshots.get(dataset, past, { by }))
  let leaving = past === undefined ? snapshot : undefined
  using _ = { [Symbol.dispose]: () => leaving?.[Symbol.dispose]() }
  const { version } = snapshot
  const page = { ...options, ...(added && { $filter: added.filter }), $skip: skip, $top: top }
  const { query, odata, projection } = entityQuery(set, snapshot, page, json)
  const known = query.knownRowCount
  // A page with fewer rows than its size is the last one.
  const end = offset + size
  const mayGoOn = $top > end && (known === undefined || known > skip + size)
  if (mayGoOn && past === undefined) {
    leaving = undefined
    snapshots.keep(dataset, snapshot)
  }
  const applied = [pageSize && `${pages!.name}=${size}`, tracked && preference?.name].filter(Boolean)
  if (applied.length > 0) reply.header('preference-applied', applied.join(', '))

  const delta = since === undefined ? '' : '/$delta'
  const head = contextHead(exchange, encodeURIComponent(set.name) + projection + delta)
  const token = skipToken({ version, offset: end, size: preferred && size, tracked })
  const next = linkTo(exchange, set, `$skiptoken=${token}`)
  const lastEnd = tracked
    ? `,"@odata.deltaLink":${JSON.stringify(linkTo(exchange, set, `$deltatoken=${version}`))}}`
    : '}'
  return exports.send(request, reply, {
    query: { open: () => query },
    format: 'json',
    name: set.title,
    metered: true,
    odata,
    paged: mayGoOn || position !== undefined,
    contentType: jsonContentType(json, true),
    variant: [head, next, lastEnd, options.$count, JSON.stringify(json)].join('\n'),
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
  const { services, request, reply, json } = exchange
  const open = async () => {
    const dataset = await services.engine.dataset(set.datasetId)
    using snapshot = await dataset.snapshot(versionIn(matching), { by: String(request.account.id) })
    return entityQuery(set, snapshot, matching, json).query
  }
  const count = await services.exports.run(request, reply, { open }, (query, signal) =>
    query.count({ signal }),
  )
  return reply.type('text/plain;charset=utf-8').send(String(count))
}

/** The same query with another token: of the next page, or of what will be new. */
function linkTo({ request, root }: Exchange, set: EntitySet, token: string): string {
  const query = request.url.includes('?') ? request.url.slice(request.url.indexOf('?') + 1) : ''
  // A client that sends its key in the address could not follow a link without it. Delta links are stored and shared, so
  // they must not contain it.
  const left = token.startsWith('$delta')
    ? /^(\$|%24)?(skiptoken|deltatoken|apikey)=/i
    : /^(\$|%24)?skiptoken=/i
  const rest = query.split('&').filter((part) => part !== '' && !left.test(part))
  return `${root}${encodeURIComponent(set.name)}?${[...rest, token].join('&')}`
}

/** Where the next page begins. Clients treat the token as opaque. */
interface Position {
  /** The version of the dataset, so that all pages show the same data while others write. */
  readonly version: number
  readonly offset: number
  /** The page size that the client preferred for the first page, which holds for all others. */
  readonly size?: number | undefined
  readonly tracked: boolean
}

function skipToken({ version, offset, size, tracked }: Position): string {
  return `${version}-${offset}${size === undefined ? '' : `-${size}`}${tracked ? 'd' : ''}`
}

/** @throws ODataError 400 if the token is malformed */
function positionOf(token: string): Position {
  const match = /^(\d{1,15})-(\d{1,15})(?:-([1-9]\d{0,8}))?(d?)$/.exec(token)
  if (match) {
    const [, version, offset, size, mark] = match
    return {
      version: Number(version),
      offset: Number(offset),
      size: size ? Number(size) : undefined,
      tracked: mark !== '',
    }
  }
  throw malformed('$skiptoken is not from this service: use @odata.nextLink unchanged.', '$skiptoken')
}

/** More versions than this are not followed: the client reads the table again. */
const MOST_VERSIONS = 100

/** A delta link may go on from here. */
interface Added {
  readonly filter: string
  /** The version up to which they were added. */
  readonly version: number
}

/**
 * The rows that were added since a version, up to another one or the newest. The key of an entity is the place of its
 * row, so entities can be followed as long as rows are only appended.
 * @throws ODataError 400 for a token that is not of this service, 410 after any other change
 */
async function addedSince(
  dataset: Dataset,
  token: string,
  { filter, until = Infinity }: { readonly filter: string | undefined; readonly until: number | undefined },
): Promise<Added> {
  if (!/^(0|[1-9]\d{0,14})$/.test(token)) {
    throw malformed('$deltatoken is not from this service: use @odata.deltaLink unchanged.', '$deltatoken')
  }
  const newest = await dataset.versions({ limit: MOST_VERSIONS })
  const versions = newest.filter(({ number }) => number <= until)
  const since = versions.findIndex(({ number }) => number === Number(token))
  if (since < 0 || versions.slice(0, since).some(({ operation }) => operation !== 'append')) {
    throw new ODataError(
      'gone',
      `Since version ${token} rows were not only appended. Read the entity set again, without $deltatoken.`,
      '$deltatoken',
    )
  }
  const added = `${KEY} gt ${versions[since]!.rowCount}`
  return {
    filter: filter === undefined ? added : `${added} and (${filter})`,
    version: versions[0]!.number,
  }
}
