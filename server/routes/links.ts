import type { FastifyRequest } from 'fastify'
import { LINK_SECONDS, type Links } from '../accounts/links.ts'
import { ServerError } from '../http/errors.ts'
import { empty, errors, json, made } from '../openapi/describe.ts'
import { LINK } from '../records/accounts.ts'
import { listOf, object } from '../records/schema.ts'
import type { Services } from '../services.ts'
import { byId } from './by-name.ts'
import { created, pathId, type Routes } from './routes.ts'

const YEAR_SECONDS = 366 * 86_400

/** Matches the addresses for which links can be made: rows of a dataset or of a provider's series. */
const EXPORT =
  /^\/(?:(?:datasets\/\d+|d(?:\/[^/?#]+){2,3})\/data|d(?:\/[^/?#]+){2,3}\.[a-z-]+|providers\/[^/?#]+\/series\/[^?#]+)(?:\?[^#]*)?$/

/** Segments that lead out of a path. A proxy may resolve them, also encoded, before it passes a link on. */
const DOTS = /(?:[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\]|%2f|%5c|$)/i

export function linkRoutes(app: Routes, services: Services): void {
  const { links } = services
  app.get('/links', {
    schema: {
      operationId: 'listLinks',
      summary: 'List the links of your account that still work',
      description: 'A key that is limited to repositories sees only those that it has made itself.',
      response: { 200: json(listOf(LINK), 'The newest first.') },
    },
    handler: async ({ account, keyId }) => links.list(account.id, account.repositories && keyId),
  })

  app.post('/links', {
    config: { reads: true },
    schema: {
      operationId: 'createLink',
      summary: 'Create a link that downloads one export without a key',
      description:
        'Use it in browsers, which download a file by its address, or to give one export to somebody else. In a browser ' +
        'it is a page with the first rows and a download in each format, unless `download=true` is added. The link ' +
        'can read what you can read, counts as your download, and stops working when its time is over, when it is ' +
        'deleted, when you may no longer read it, and when the key that made it is replaced, deleted or expires.',
      body: NEW_LINK,
      response: {
        201: made(LINK, 'The link.'),
        ...errors(404, 409, 410),
      },
    },
    handler: async (request, reply) => {
      const { account, keyId, body } = request
      const dots = DOTS.test(body.path.split('?', 1)[0]!)
      const isPath = EXPORT.test(body.path) && !dots && !/[^\x21-\x7e]/.test(body.path)
      const path =
        isPath && body.path.startsWith('/d/') ? await byId(services, request, body.path) : body.path
      // What ends like a file may also be the name of a dataset, whose record is no export.
      if (!isPath || !EXPORT.test(path)) {
        throw new ServerError(
          'invalid_body',
          'path must be that of an export, percent-encoded, for example "/datasets/3/data?$format=csv", ' +
            '"/d/samples/penguins/data" or "/d/samples/penguins.csv", or "/providers/ecb/series/…".',
        )
      }
      const refusal = await refusalOf(app, links, request, path)
      if (refusal) return reply.code(refusal.statusCode as 404).send(refusal.json())
      const link = await links.create(account.id, keyId, { ...body, path: `${app.prefix}${path}` })
      return created(reply, link.url, link, true)
    },
  })

  app.delete('/links/:id', {
    schema: {
      operationId: 'deleteLink',
      summary: 'Delete a link, which stops working at once',
      response: { 204: empty('The link no longer works.') },
    },
    handler: async (request, reply) => {
      await links.delete(request.account.id, pathId(request, 'link'))
      return reply.code(204).send()
    },
  })
}

/** Statuses of what a link would always answer. A right may still be given, and a server busy. */
const LASTING = [400, 404, 410]

/** The refusal of a link to rows that could only fail. They are asked for as SQL, so that none is read. */
async function refusalOf(app: Routes, links: Links, { account, keyId }: FastifyRequest, path: string) {
  if (!path.startsWith('/datasets/') || path.includes('$explain')) return undefined
  const url = `${app.prefix}${path}${path.includes('?') ? '&' : '?'}$explain=sql`
  const answer = await app.inject({ url: await links.address(account.id, keyId, url, LINK_SECONDS) })
  return LASTING.includes(answer.statusCode) ? answer : undefined
}

const NEW_LINK = object(['path'], {
  path: {
    type: 'string',
    maxLength: 100_000,
    description:
      'Path and query string of `GET /datasets/{id}/data`, also as `/d/{repository}/{dataset}/data` or `/d/{repository}/{dataset}.csv`, with or without an owner in front, or of a series.',
    examples: ['/datasets/3/data?$format=xlsx'],
    documented: { pattern: EXPORT.source },
  },
  name: {
    type: 'string',
    maxLength: 200,
    pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    description: 'text without control characters',
    documented: { description: 'What or whom the link is for.' },
  },
  expiresIn: {
    type: 'integer',
    minimum: 1,
    maximum: YEAR_SECONDS,
    default: LINK_SECONDS,
    description: 'For how many seconds it works, at most a year.',
  },
})
