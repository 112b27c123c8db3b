import { json, made } from '../../openapi/describe.ts'
import { ACCOUNT, API_KEY } from '../../records/accounts.ts'
import { EXAMPLES } from '../../records/examples.ts'
import type { Services } from '../../services.ts'
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
