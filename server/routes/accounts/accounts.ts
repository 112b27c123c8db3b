import type { FastifyRequest } from 'fastify'
import type { Account } from '../../accounts/accounts.ts'
import { ServerError } from '../../http/errors.ts'
import { errors, json, made } from '../../openapi/describe.ts'
import {
  ACCOUNT_CHANGES,
  API_KEY,
  CREATED_ACCOUNT,
  MANAGED_ACCOUNT,
  NEW_ACCOUNT,
  PLAN,
} from '../../records/accounts.ts'
import { EXAMPLES } from '../../records/examples.ts'
import { listOf } from '../../records/schema.ts'
import type { Services } from '../../services.ts'
import { pathParameter } from '../dataset-for.ts'
import type { Routes } from '../routes.ts'

const tags = ['Accounts']

const LIST_ACCOUNTS = {
  operationId: 'listAccounts',
  summary: 'List all accounts; for admins',
  tags,
  response: {
    200: json(listOf(MANAGED_ACCOUNT), 'All.', { example: [EXAMPLES.managed] }),
    ...errors(403),
  },
} as const

const LIST_PLANS = {
  operationId: 'listPlans',
  summary: 'List the plans that accounts may have; for admins',
  tags,
  response: {
    200: json(listOf(PLAN), 'All, the one of new accounts first.', { example: [EXAMPLES.plan] }),
    ...errors(403),
  },
} as const

const CREATE_ACCOUNT = {
  operationId: 'createAccount',
  summary: 'Create an account; for admins',
  tags,
  response: {
    201: made(CREATED_ACCOUNT, 'The account with its key, which is shown only once.', {
      ...EXAMPLES.managed,
      apiKey: 'pq_…',
    }),
    ...errors(403, 409, 413, 415),
  },
} as const

const GET_MANAGED_ACCOUNT = {
  operationId: 'getManagedAccount',
  summary: 'Get one account; for admins',
  tags,
  response: {
    200: json(MANAGED_ACCOUNT, 'The account.', { example: EXAMPLES.managed }),
    ...errors(403, 404),
  },
} as const

const UPDATE_ACCOUNT = {
  operationId: 'updateAccount',
  summary: "Change an account's plan, disable it or enable it again; for admins",
  description: 'While an account is disabled, none of its keys and links is accepted. Its data is kept.',
  tags,
  response: {
    200: json(MANAGED_ACCOUNT, 'The account.', { example: EXAMPLES.managed }),
    ...errors(403, 404, 413, 415),
  },
} as const

const ROTATE_ACCOUNT_KEY = {
  operationId: 'rotateAccountKey',
  summary: 'Replace the first key of an account; the old one stops working at once; for admins',
  tags,
  response: {
    201: made(API_KEY, 'The new key. It is shown only once.', { apiKey: 'pq_…' }),
    ...errors(403, 404),
  },
} as const

/** The routes with which admins make accounts, change their plans, disable them and give them new keys. */
export function accountsRoutes(app: Routes, services: Services): void {
  const { accounts, plans } = services

  const named = async (request: FastifyRequest): Promise<Account> => {
    requireAdmin(request)
    return accounts.byName(pathParameter(request, 'account'))
  }

  app.get('/accounts', {
    schema: LIST_ACCOUNTS,
    handler: async (request) => {
      requireAdmin(request)
      return accounts.list()
    },
  })

  app.get('/plans', {
    schema: LIST_PLANS,
    handler: (request) => {
      requireAdmin(request)
      return plans.names.map((name) => ({ name, limits: plans.limits(name) }))
    },
  })

  app.post('/accounts', {
    schema: { ...CREATE_ACCOUNT, body: withPlans(NEW_ACCOUNT, plans.names) },
    handler: async (request, reply) => {
      requireAdmin(request)
      const { name, plan = plans.names[0]!, admin = false } = request.body
      const { account, key } = await accounts.create({ name, plan, admin })
      return reply
        .code(201)
        .headers({ location: `${app.prefix}/accounts/${account.name}`, 'cache-control': 'no-store' })
        .send({ ...account, apiKey: key })
    },
  })

  app.get('/accounts/:account', {
    schema: GET_MANAGED_ACCOUNT,
    handler: async (request) => named(request),
  })

  app.put('/accounts/:account', {
    schema: { ...UPDATE_ACCOUNT, body: withPlans(ACCOUNT_CHANGES, plans.names) },
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
      return accounts.get(account.id)
    },
  })

  app.post('/accounts/:account/api-key', {
    schema: ROTATE_ACCOUNT_KEY,
    handler: async (request, reply) => {
      const { id, name } = await named(request)
      return reply
        .code(201)
        .headers({ location: `${app.prefix}/accounts/${name}`, 'cache-control': 'no-store' })
        .send({ apiKey: (await accounts.rotateKey(id)).key })
    },
  })
}

/** A schema with a plan, which must be one of the configured ones. */
function withPlans<Schema extends typeof NEW_ACCOUNT | typeof ACCOUNT_CHANGES>(
  schema: Schema,
  names: readonly string[],
): Schema {
  const { plan, ...others } = schema.properties
  return { ...schema, properties: { ...others, plan: { ...plan, enum: names } } }
}

function requireAdmin({ account }: FastifyRequest): void {
  if (!account.admin) throw new ServerError('forbidden', 'Accounts are managed by admins.')
}
