import type { FastifyRequest } from 'fastify'
import { ACCOUNT_NAME, type Account } from '../accounts/accounts.ts'
import { ServerError } from '../http/errors.ts'
import { json, LOCATION, listOf } from '../openapi/describe.ts'
import { errors } from '../openapi/error-responses.ts'
import type { Services } from '../services.ts'
import { EXAMPLES } from './examples.ts'
import { pathParameter } from './ids.ts'
import { API_KEY, MANAGED_ACCOUNT, NEW_ACCOUNT, PLAN } from './records.ts'
import type { Routes } from './routes.ts'

const tags = ['Accounts']

/** The routes with which admins make accounts, change their plans, disable them and give them new keys. */
export function accountsRoutes(app: Routes, services: Services): void {
  const { accounts, plans } = services
  const plan = { type: 'string', enum: plans.names, description: 'Its plan.' } as const

  const named = async (request: FastifyRequest): Promise<Account> => {
    requireAdmin(request)
    return accounts.byName(pathParameter(request, 'account'))
  }

  app.get('/accounts', {
    schema: {
      operationId: 'listAccounts',
      summary: 'List all accounts; for admins',
      tags,
      response: {
        200: json(listOf(MANAGED_ACCOUNT), 'All.', { example: [EXAMPLES.managed] }),
        ...errors(403),
      },
    },
    handler: async (request) => {
      requireAdmin(request)
      return (await accounts.list()).map(managed)
    },
  })

  app.get('/plans', {
    schema: {
      operationId: 'listPlans',
      summary: 'List the plans that accounts may have; for admins',
      tags,
      response: {
        200: json(listOf(PLAN), 'All, the one of new accounts first.', { example: [EXAMPLES.plan] }),
        ...errors(403),
      },
    },
    handler: (request) => {
      requireAdmin(request)
      return plans.names.map((name) => ({ name, limits: plans.limits(name) }))
    },
  })

  app.post('/accounts', {
    schema: {
      operationId: 'createAccount',
      summary: 'Create an account; for admins',
      tags,
      body: {
        type: 'object',
        required: ['name'],
        additionalProperties: false,
        properties: {
          name: { type: 'string', examples: ['ada'], documented: { pattern: ACCOUNT_NAME.source } },
          plan,
          admin: { type: 'boolean' },
        },
      },
      response: {
        201: json(NEW_ACCOUNT, 'The account with its key, which is shown only once.', {
          example: { ...EXAMPLES.managed, apiKey: 'pq_…' },
          headers: { Location: LOCATION },
        }),
        ...errors(403, 409, 413, 415),
      },
    },
    handler: async (request, reply) => {
      requireAdmin(request)
      const { name, plan = plans.names[0]!, admin = false } = request.body
      const { account, key } = await accounts.create({ name, plan, admin })
      return reply
        .code(201)
        .headers({ location: `${app.prefix}/accounts/${account.name}`, 'cache-control': 'no-store' })
        .send({ ...managed(account), apiKey: key })
    },
  })

  app.get('/accounts/:account', {
    schema: {
      operationId: 'getManagedAccount',
      summary: 'Get one account; for admins',
      tags,
      response: {
        200: json(MANAGED_ACCOUNT, 'The account.', { example: EXAMPLES.managed }),
        ...errors(403, 404),
      },
    },
    handler: async (request) => managed(await named(request)),
  })

  app.put('/accounts/:account', {
    schema: {
      operationId: 'updateAccount',
      summary: "Change an account's plan, disable it or enable it again; for admins",
      description: 'While an account is disabled, none of its keys and links is accepted. Its data is kept.',
      tags,
      body: {
        type: 'object',
        additionalProperties: false,
        properties: { plan, disabled: { type: 'boolean' } },
      },
      response: {
        200: json(MANAGED_ACCOUNT, 'The account.', { example: EXAMPLES.managed }),
        ...errors(403, 404, 413, 415),
      },
    },
    handler: async (request) => {
      const account = await named(request)
      const { plan, disabled } = request.body
      if (disabled === true && account.id === request.account.id) {
        throw new ServerError(
          'invalid_body',
          'You would lock yourself out: another admin must disable your account.',
        )
      }
      if (plan !== undefined) await accounts.setPlan(account.id, plan)
      if (disabled !== undefined) await accounts.setDisabled(account.id, disabled)
      return managed(await accounts.get(account.id))
    },
  })

  app.post('/accounts/:account/api-key', {
    schema: {
      operationId: 'rotateAccountKey',
      summary: 'Replace the first key of an account; the old one stops working at once; for admins',
      tags,
      response: {
        201: json(API_KEY, 'The new key. It is shown only once.', {
          example: { apiKey: 'pq_…' },
          headers: { Location: LOCATION },
        }),
        ...errors(403, 404),
      },
    },
    handler: async (request, reply) => {
      const { id, name } = await named(request)
      return reply
        .code(201)
        .headers({ location: `${app.prefix}/accounts/${name}`, 'cache-control': 'no-store' })
        .send({ apiKey: (await accounts.rotateKey(id)).key })
    },
  })
}

function managed({ id, name, plan, admin, disabled, apiKeyHint, createdAt }: Account) {
  return { id, name, plan, admin, disabled, apiKeyHint, createdAt }
}

function requireAdmin({ account }: FastifyRequest): void {
  if (!account.admin) throw new ServerError('forbidden', 'Accounts are managed by admins.')
}
