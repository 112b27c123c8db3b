import type { FastifyReply, FastifyRequest } from 'fastify'
import { FORMATS, nearest, type SqlTable } from '../../engine/index.ts'
import { addressOfTicket } from '../accounts/links.ts'
import { rawQuery } from '../http/addresses.ts'
import { ServerError } from '../http/errors.ts'
import type { Services } from '../services.ts'
import type { Routes } from './routes.ts'
import { sqlTablesOf } from './sql.ts'

/**
 * `/d/{repository}/{dataset}/…` and `/d/{owner}/{repository}/{dataset}/…` are `/datasets/{id}/…`, and the same with the
 * ending of a format its rows in that format: the request is passed on with that address.
 */
export function byNameRoutes(app: Routes, services: Services): void {
  const passOn = (request: FastifyRequest, reply: FastifyReply, url: string) => {
    request.trace.passedOn = true
    reply.hijack()
    request.raw.url = `${app.prefix}${url}`
    app.routing(request.raw, reply.raw)
    return reply
  }
  app.route<{ Params: { ticket: string; id: string; format: string } }>({
    method: ['GET', 'HEAD'],
    url: '/d/ticket=:ticket/:id/data.:format',
    schema: { hide: true },
    // The ticket is checked where the request is passed on to.
    config: { public: true },
    onRequest: async (request, reply) =>
      passOn(request, reply, addressOfTicket(request.params, rawQuery(request.url))),
    handler: async () => undefined,
  })
  app.route({
    method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    url: '/d/*',
    schema: { hide: true },
    // What the key may do is checked where the request is passed on to.
    config: { reads: true },
    // Before the body is read.
    onRequest: async (request, reply) =>
      passOn(request, reply, await byId(services, request, request.url.slice(app.prefix.length))),
    handler: async () => undefined,
  })
}

/**
 * What may follow `/datasets/{id}/`. After two names it is read as this, whoever has what, so that what an address means
 * doesn't change.
 */
export const BELOW_A_DATASET =
  /^(?:data(?:\/\$query)?|columns|copy|restore|undo|source|changes|revisions|profile|versions(?:\/\d+)?|parquet(?:\/\d+\/\d+\.parquet)?|(?:croissant|datapackage|schema)\.json|odata\.(?:pbids|odc))$/

/** Matches the name of a dataset with the ending of a format. */
const FILE = new RegExp(`^(.+)\\.(${FORMATS.join('|')})$`, 's')

/** A path that begins with `/d/` as the one of the dataset's id. @throws ServerError `not_found`, `invalid_url` */
export async function byId(
  services: Pick<Services, 'engine' | 'access'>,
  request: FastifyRequest,
  path: string,
): Promise<string> {
  const [, given = '', query = ''] = /^\/d\/([^?]*)(.*)$/s.exec(path)!
  const segments = given.split('/')
  const isBelow = BELOW_A_DATASET.test(segments.slice(2).join('/'))
  const count = segments.length > 2 && segments[2] !== '' && !isBelow ? 3 : 2
  const [dataset = '', repository = '', owner] = segments.slice(0, count).map(decoded).toReversed()
  const below = segments.slice(count).join('/')
  const names = { owner, repository, dataset }
  const known = await sqlTablesOf(services, request.account)
  const [, stem, format] = (below === '' && FILE.exec(dataset)) || []
  // A dataset whose own name ends like that comes first.
  if (stem !== undefined && named(known, names).length === 0) {
    const id = idOf(known, { ...names, dataset: stem })
    return `/datasets/${id}/data?$format=${format}${query.replace('?', '&')}`
  }
  return `/datasets/${idOf(known, names)}${below && `/${below}`}${query}`
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    throw new ServerError('invalid_url', 'The path contains malformed percent-encoding.')
  }
}

interface Names {
  readonly owner: string | undefined
  readonly repository: string
  readonly dataset: string
}

/** The datasets of this name. */
function named(known: readonly SqlTable[], { owner, repository, dataset }: Names): readonly SqlTable[] {
  return known.filter(
    (one) =>
      one.repository === repository && one.name === dataset && (owner === undefined || one.owner === owner),
  )
}

/**
 * The id of the dataset of this name, among those that the sender may read. Without an owner, its own come before those
 * shared with it, and these before those of others.
 * @throws ServerError `not_found`
 */
function idOf(known: readonly SqlTable[], names: Names): number {
  const { owner, repository, dataset } = names
  const all = named(known, names)
  const first = Math.min(...all.map(({ precedence = 0 }) => precedence))
  const found = all.filter(({ precedence = 0 }) => precedence === first)
  if (found.length === 1) return found[0]!.id
  const path = [owner, repository, dataset].filter(Boolean).join('/')
  const name = JSON.stringify(path)
  if (found.length > 0) {
    const owners = new Set(found.map((one) => one.owner)).size
    const longer = found
      .slice(0, 5)
      .map((one) => (owners === found.length ? `/d/${pathOf(one)}` : `/datasets/${one.id}`))
    throw new ServerError('not_found', `Several datasets are called ${name}: write ${longer.join(' or ')}.`)
  }
  const hints = new Map(
    known.slice(0, 2_000).map((one) => {
      const short = `${one.repository}/${one.name}`
      return [owner === undefined ? short : nameOf(one), one.precedence ? nameOf(one) : short]
    }),
  )
  const near = path.length <= 192 ? nearest(path, hints.keys()) : undefined
  const elsewhere = known.find((one) => one.repository === repository && one.name === dataset)
  const hint = elsewhere ? nameOf(elsewhere) : hints.get(near ?? '')
  throw new ServerError(
    'not_found',
    `There is no dataset ${name}; ${hint ? `did you mean ${JSON.stringify(hint)}?` : 'GET /datasets lists those that you may read.'}`,
  )
}

function nameOf({ owner, repository, name }: SqlTable): string {
  return [owner, repository, name].join('/')
}

function pathOf({ owner = '', repository, name }: SqlTable): string {
  return [owner, repository, name].map(encodeURIComponent).join('/')
}
