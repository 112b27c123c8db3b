import { limitedTo } from '../../accounts/accounts.ts'
import { empty, errors, json, made } from '../../openapi/describe.ts'
import { ACCOUNT, API_KEY, CREATED_NAMED_KEY, NAMED_KEY, NEW_NAMED_KEY } from '../../records/accounts.ts'
import { EXAMPLES } from '../../records/examples.ts'
import { listOf } from '../../records/schema.ts'
import type { Services } from '../../services.ts'
import { pathParameter } from '../dataset-for.ts'
import type { Routes } from '../routes.ts'

const tags = ['Account']

export function accountRoutes(app: Routes, services: Services): void {
  const { accounts, access, plans, usage } = services

  app.get('/account', {
    schema: {
      operationId: 'getAccount',
      summary: 'Get your account, its limits and how much of them is used',
      tags,
      response: { 200: json(ACCOUNT, 'Your account.', { example: EXAMPLES.account }) },
    },
    handler: async ({ account: { id, name, plan, apiKeyHint } }) => ({
      id,
      name,
      plan,
      apiKeyHint,
      usage: {
        privateRepositories: await access.privateRepositories(id),
        exportedRows: await usage.exportedRows(id),
        month: usage.month,
      },
      limits: plans.limits(plan),
    }),
  })

  app.post('/account/api-key', {
    schema: {
      operationId: 'rotateApiKey',
      summary: 'Replace the API key; the old one stops working at once',
      tags,
      response: {
        201: made(API_KEY, 'The new key. It is shown only once.', { apiKey: 'pq_…' }),
      },
    },
    handler: async ({ account }, reply) =>
      reply
        .code(201)
        .headers({ location: `${app.prefix}/account`, 'cache-control': 'no-store' })
        .send({ apiKey: (await accounts.rotateKey(account.id)).key }),
  })
}

/** Further keys of the caller's account. */
export function accountKeyRoutes(app: Routes, { access, namedKeys }: Services): void {
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
      summary: 'Create another key, which can be read-only, limited to repositories, and can expire',
      description:
        'The first key of the account does not change. A named key works until it is deleted or expires.',
      tags,
      body: NEW_NAMED_KEY,
      response: {
        201: made(CREATED_NAMED_KEY, 'The new key. It is shown only once.', {
          ...EXAMPLES.namedKey,
          apiKey: 'pq_…',
        }),
        ...errors(403, 404, 409, 413, 415),
      },
    },
    handler: async ({ account, body }, reply) => {
      for (const id of body.repositories ?? []) await access.require(id, limitedTo(account, [id]), 'Read')
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
