import { EXPIRY, KEY_NAME } from '../accounts/named-keys.ts'
import { empty, json, LOCATION, listOf } from '../openapi/describe.ts'
import { errors } from '../openapi/error-responses.ts'
import type { Services } from '../services.ts'
import { EXAMPLES } from './examples.ts'
import { pathParameter } from './ids.ts'
import { NAMED_KEY, NEW_NAMED_KEY } from './records.ts'
import type { Routes } from './routes.ts'

const tags = ['Account']

/** Further keys of the caller's account. */
export function accountKeyRoutes(app: Routes, { namedKeys }: Services): void {
  app.get('/account/keys', {
    schema: {
      operationId: 'listNamedKeys',
      summary: 'List the named keys of your account',
      tags,
      response: {
        200: json(listOf(NAMED_KEY), 'The keys themselves are not shown.', { example: [EXAMPLES.namedKey] }),
      },
    },
    handler: async ({ account }) => namedKeys.list(account.id),
  })

  app.post('/account/keys', {
    schema: {
      operationId: 'createNamedKey',
      summary: 'Create another key, which can be read-only and can expire',
      description:
        'The first key of the account does not change. A named key works until it is deleted or expires.',
      tags,
      body: {
        type: 'object',
        required: ['name'],
        additionalProperties: false,
        properties: {
          name: {
            type: 'string',
            description: 'What or whom the key is for.',
            examples: ['nightly-job'],
            documented: { pattern: KEY_NAME.source },
          },
          readOnly: { type: 'boolean', description: 'Whether the key may only read.' },
          expiresAt: {
            type: ['string', 'null'],
            description:
              'When the key expires: a time in the future, or a day, which means its beginning in UTC. null: never.',
            examples: ['2099-12-31T00:00:00Z'],
            documented: { pattern: EXPIRY.source },
          },
        },
      },
      response: {
        201: json(NEW_NAMED_KEY, 'The new key. It is shown only once.', {
          example: { ...EXAMPLES.namedKey, apiKey: 'pq_…' },
          headers: { Location: LOCATION },
        }),
        ...errors(409, 413, 415),
      },
    },
    handler: async ({ account, body }, reply) => {
      const made = await namedKeys.create(account.id, body)
      return reply
        .code(201)
        .headers({ location: `${app.prefix}/account/keys`, 'cache-control': 'no-store' })
        .send(made)
    },
  })

  app.delete('/account/keys/:name', {
    schema: {
      operationId: 'deleteNamedKey',
      summary: 'Delete a named key, which stops working at once',
      tags,
      response: { 204: empty('The key is no longer accepted.'), ...errors(404) },
    },
    handler: async (request, reply) => {
      await namedKeys.delete(request.account.id, pathParameter(request, 'name'))
      return reply.code(204).send()
    },
  })
}
