import type { FastifyRequest } from 'fastify'
import { type Account, limitedTo } from '../accounts/accounts.ts'
import { ServerError } from '../http/errors.ts'
import { empty, errors, json, made } from '../openapi/describe.ts'
import {
  ACCOUNT,
  ACCOUNT_CHANGES,
  API_KEY,
  CREATED_ACCOUNT,
  CREATED_NAMED_KEY,
  MANAGED_ACCOUNT,
  NAMED_KEY,
  NEW_ACCOUNT,
  NEW_NAMED_KEY,
  PLAN,
} from '../records/accounts.ts'
import { listOf } from '../records/schema.ts'
import type { Services } from '../services.ts'
import { created, pathParameter, type Routes } from './routes.ts'

const LIST_ACCOUNTS = {
  operationId: 'listAccounts',
  summary: 'List all accounts; for admins',
  response: {
    200: json(listOf(MANAGED_ACCOUNT), 'All.'),
    ...errors(403),
  },
} as const

const LIST_PLANS = {
  operationId: 'listPlans',
  summary: 'List the plans that accounts may have; for admins',
  response: {
    200: json(listOf(PLAN), 'All, the one of new accounts first.'),
    ...errors(403),
  },
} as const

const CREATE_ACCOUNT = {
  operationId: 'createAccount',
  summary: 'Create an account; for admins',
  response: {
    201: made(CREATED_ACCOUNT, 'The account with its key, which is shown only once.'),
    ...errors(409),
  },
} as const

const GET_MANAGED_ACCOUNT = {
  operationId: 'getManagedAccount',
  summary: 'Get one account; for admins',
  response: {
    200: json(MANAGED_ACCOUNT, 'The account.'),
    ...errors(403),
  },
} as const

const UPDATE_ACCOUNT = {
  operationId: 'updateAccount',
  summary: "Change an account's plan, disable it or enable it again; for admins",
  description: 'While an account is disabled, none of its keys and links is accepted. Its data is kept.',
  response: { 200: json(MANAGED_ACCOUNT, 'The account.') },
} as const

const ROTATE_ACCOUNT_KEY = {
  operationId: 'rotateAccountKey',
  summary: 'Replace the first key of an account; the old one stops working at once; for admins',
  response: {
    201: made(API_KEY, 'The new key. It is shown only once.'),
  },
} as const

/** The routes with which admins make accounts, change their plans, disable them and give them new keys. */
export function accountsRoutes(app: Routes, services: Services): void {
  const { accounts, plans } = services

  const named = async (request: FastifyRequest): Promise<Account> => {
    requireAdmin(request)
    return accounts.byName(pathParameter(request, 'account'))
  }

  app.get('/accounts', { schema: LIST_ACCOUNTS }, async (request) => {
    requireAdmin(request)
    return accounts.list()
  })

  app.get('/plans', { schema: LIST_PLANS }, (request) => {
    requireAdmin(request)
    return plans.names.map((name) => ({ name, limits: plans.limits(name) }))
  })

  const create = { ...CREATE_ACCOUNT, body: withPlans(NEW_ACCOUNT, plans.names) }
  app.post('/accounts', { schema: create }, async (request, reply) => {
    requireAdmin(request)
    const { name, plan = plans.names[0]!, admin = false } = request.body
    const { account, key } = await accounts.create({ name, plan, admin })
    return created(reply, `${app.prefix}/accounts/${account.name}`, { ...account, apiKey: key }, true)
  })

  app.get('/accounts/:account', { schema: GET_MANAGED_ACCOUNT }, async (request) => named(request))

  const update = { ...UPDATE_ACCOUNT, body: withPlans(ACCOUNT_CHANGES, plans.names) }
  app.put('/accounts/:account', { schema: update }, async (request) => {
    const account = await named(request)
    if (request.body.disabled === true && account.id === request.account.id) {
      throw new ServerError(
        'invalid_body',
        'You would lock yourself out: another admin must disable your account.',
      )
    }
    return accounts.update(account.id, request.body)
  })

  app.post('/accounts/:account/api-key', { schema: ROTATE_ACCOUNT_KEY }, async (request, reply) => {
    const { id, name } = await named(request)
    return created(reply, `${app.prefix}/accounts/${name}`, { apiKey: await accounts.rotateKey(id) }, true)
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

export function accountRoutes(app: Routes, services: Services): void {
  const { accounts, access, plans, usage } = services

  app.get('/account', {
    schema: {
      operationId: 'getAccount',
      summary: 'Get your account, its limits and how much of them is used',
      response: { 200: json(ACCOUNT, 'Your account.') },
    },
    handler: async ({ account: { id, name, plan, apiKeyHint } }) => ({
      id,
      name,
      plan,
      apiKeyHint,
      usage: {
        privateRepositories: await access.privateRepositories(id),
        publicRepositories: await access.publicRepositories(id),
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
      response: { 201: made(API_KEY, 'The new key. It is shown only once.') },
    },
    handler: async ({ account }, reply) =>
      created(reply, `${app.prefix}/account`, { apiKey: await accounts.rotateKey(account.id) }, true),
  })
}

export function accountKeyRoutes(app: Routes, { access, keys }: Services): void {
  app.get('/account/keys', {
    schema: {
      operationId: 'listNamedKeys',
      summary: 'List the named keys of your account',
      description: 'A key that is limited to repositories sees only itself.',
      response: { 200: json(listOf(NAMED_KEY), 'The keys themselves are not shown.') },
    },
    handler: async ({ account, keyId }) => keys.list(account.id, account.repositories && keyId),
  })

  app.post('/account/keys', {
    schema: {
      operationId: 'createNamedKey',
      summary: 'Create another key, which can be read-only, limited to repositories, and can expire',
      description:
        'The first key of the account does not change. A named key works until it is deleted or expires.',
      body: NEW_NAMED_KEY,
      response: {
        201: made(CREATED_NAMED_KEY, 'The new key. It is shown only once.'),
        ...errors(404, 409),
      },
    },
    handler: async ({ account, body }, reply) => {
      for (const id of body.repositories ?? []) await access.require(id, limitedTo(account, [id]), 'Read')
      return created(reply, `${app.prefix}/account/keys`, await keys.create(account.id, body), true)
    },
  })

  app.delete('/account/keys/:name', {
    schema: {
      operationId: 'deleteNamedKey',
      summary: 'Delete a named key, which stops working at once',
      response: { 204: empty('The key is no longer accepted.') },
    },
    handler: async (request, reply) => {
      await keys.delete(request.account.id, pathParameter(request, 'name'))
      return reply.code(204).send()
    },
  })
}
