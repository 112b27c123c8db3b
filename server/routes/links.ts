import { ServerError } from '../http/errors.ts'
import { json, LOCATION } from '../openapi/describe.ts'
import { errors } from '../openapi/error-responses.ts'
import type { Services } from '../services.ts'
import { EXAMPLES } from './examples.ts'
import { LINK } from './records.ts'
import type { Routes } from './routes.ts'

/** Matches the addresses for which links can be made: rows of a dataset or of a provider's series. */
const EXPORT = /^\/(?:datasets\/\d+\/data|providers\/[^/?#]+\/series\/[^?#]+)(?:\?[^#]*)?$/

export function linkRoutes(app: Routes, services: Services): void {
  app.post('/links', {
    config: { reads: true },
    schema: {
      operationId: 'createLink',
      summary: 'Create a link that downloads one export without a key, for five minutes',
      description:
        'Use it in browsers, which download a file by its address, or to give one export to somebody else. The link ' +
        'can read what you can read, counts as your download, and stops working when the first key of your account ' +
        'is replaced.',
      tags: ['Data'],
      body: {
        type: 'object',
        required: ['path'],
        additionalProperties: false,
        properties: {
          path: {
            type: 'string',
            maxLength: 100_000,
            description: 'Path and query string of `GET /datasets/{id}/data` or of a series.',
            examples: ['/datasets/3/data?$format=xlsx'],
          },
        },
      },
      response: {
        201: json(LINK, 'The link.', { example: EXAMPLES.link, headers: { Location: LOCATION } }),
        ...errors(413, 415),
      },
    },
    handler: async ({ account, body }, reply) => {
      if (!EXPORT.test(body.path) || /[^\x21-\x7e]/.test(body.path)) {
        throw new ServerError(
          'invalid_body',
          'path must be that of an export, percent-encoded, for example "/datasets/3/data?$format=csv" or ' +
            '"/providers/ecb/series/…".',
        )
      }
      const link = await services.links.make(account, `${app.prefix}${body.path}`)
      return reply.code(201).headers({ location: link.url, 'cache-control': 'no-store' }).send(link)
    },
  })
}
