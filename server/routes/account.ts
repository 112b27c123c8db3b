import { json, LOCATION } from '../openapi/describe.ts'
import type { Services } from '../services.ts'
import { EXAMPLES } from './examples.ts'
import { ACCOUNT, API_KEY, accountRecord } from './records.ts'
import type { Routes } from './routes.ts'

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
    handler: async ({ account }) =>
      accountRecord(account, plans.limits(account.plan), {
        month: usage.month,
        exportedRows: await usage.exportedRows(account.id),
        privateRepositories: await access.privateRepositories(account.id),
      }),
  })

  app.post('/account/api-key', {
    schema: {
      operationId: 'rotateApiKey',
      summary: 'Replace the API key; the old one stops working at once',
      tags,
      response: {
        201: json(API_KEY, 'The new key. It is shown only once.', {
          example: { apiKey: 'pq_…' },
          headers: { Location: LOCATION },
        }),
      },
    },
    handler: async ({ account }, reply) =>
      reply
        .code(201)
        .headers({ location: `${app.prefix}/account`, 'cache-control': 'no-store' })
        .send({ apiKey: (await accounts.rotateKey(account.id)).key }),
  })
}
