import type { FastifyRequest } from 'fastify'
import { nearest } from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'
import type { Services } from '../services.ts'
import type { Routes } from './routes.ts'
import { sqlTablesOf } from './sql.ts'

/** `/d/{repository}/{dataset}/…` is `/datasets/{id}/…`: the request is passed on with that address. */
export function byNameRoutes(app: Routes, services: Services): void {
  app.route({
    method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    url: '/d/*',
    schema: { hide: true },
    // What the key may do is checked where the request is passed on to.
    config: { reads: true },
    // Before the body is read.
    onRequest: async (request, reply) => {
      const url = await byId(services, request, request.url.slice(app.prefix.length))
      request.trace.passedOn = true
      reply.hijack()
      request.raw.url = `${app.prefix}${url}`
      app.routing(request.raw, reply.raw)
      return reply
    },
    handler: async () => undefined,
  })
}

/** A path that begins with `/d/` as the one of the dataset's id. @throws ServerError `not_found`, `invalid_url` */
export async function byId(
  services: Pick<Services, 'engine' | 'access'>,
  request: FastifyRequest,
  path: string,
): Promise<string> {
  const [, repository = '', dataset = '', rest = ''] = /^\/d\/([^/?]*)\/?([^/?]*)(.*)$/s.exec(path)!
  return `/datasets/${await idOf(services, request, decoded(repository), decoded(dataset))}${rest}`
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    throw new ServerError('invalid_url', 'The path contains malformed percent-encoding.')
  }
}

/** The id of the dataset of this name, among those that the sender may read. @throws ServerError `not_found` */
async function idOf(
  services: Pick<Services, 'engine' | 'access'>,
  { account }: FastifyRequest,
  repository: string,
  dataset: string,
): Promise<number> {
  const known = await sqlTablesOf(services, account)
  const found = known.filter((one) => one.repository === repository && one.name === dataset)
  if (found.length === 1) return found[0]!.id
  const wanted = `${repository}/${dataset}`
  const name = JSON.stringify(wanted)
  const names = known.slice(0, 2_000).map((one) => `${one.repository}/${one.name}`)
  const meant = found.length === 0 && wanted.length <= 128 ? nearest(wanted, names) : undefined
  throw new ServerError(
    'not_found',
    found.length === 0
      ? `There is no dataset ${name}; ${meant ? `did you mean ${JSON.stringify(meant)}?` : 'GET /datasets lists those that you may read.'}`
      : `Several datasets are called ${name}; their ids are ${found.map(({ id }) => id).join(', ')}.`,
  )
}
