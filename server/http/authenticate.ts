import auth from '@fastify/auth'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Account, Accounts } from '../accounts/accounts.ts'
import { ServerError } from './errors.ts'
import { apiKeyIn, rawQuery } from './query.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; set on every route that is not public. */
    account: Account
  }
  interface FastifyContextConfig {
    /** Needs no API key. */
    public?: boolean
  }
}

/**
 * Demands an API key on every path that is not public, also on those that don't exist: who has no key learns nothing
 * of what there is. A Basic header, where present, decides alone.
 */
export async function authenticate(app: FastifyInstance, accounts: Accounts): Promise<void> {
  // As a part of another application, what that has registered already is used.
  if (!app.hasDecorator('auth')) await app.register(auth)
  app.decorateRequest('account', null as unknown as Account)

  const byHeader = async (request: FastifyRequest) => {
    if (!isBasic(request)) throw unauthorized('This needs an API key.')
    request.account = accountOf(accounts, basicKey(request.headers.authorization!))
  }
  const byParameter = async (request: FastifyRequest) => {
    const key = apiKeyIn(rawQuery(request.url))
    // Otherwise the error of the header would be lost: @fastify/auth shows the last one.
    if (isBasic(request) || key === undefined) return byHeader(request)
    request.account = accountOf(accounts, key)
  }
  const check = app.auth([byHeader, byParameter])
  app.addHook('onRequest', function (request, reply, done) {
    if (request.routeOptions.config.public) done()
    else check.call(this, request, reply, done)
  })
}

function isBasic(request: FastifyRequest): boolean {
  return /^basic(?:\s|$)/i.test(request.headers.authorization ?? '')
}

/** The user name of Basic credentials (RFC 7617). @throws ServerError `unauthorized` */
function basicKey(header: string): string {
  const token = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header.trim())?.[1]
  const credentials = token === undefined ? '' : Buffer.from(token, 'base64').toString('utf8')
  const colon = credentials.indexOf(':')
  if (colon < 0) throw unauthorized('The Authorization header is malformed.')
  if (colon < credentials.length - 1) {
    throw unauthorized(
      'The API key belongs into the user name of Basic authentication; the password stays empty.',
    )
  }
  return credentials.slice(0, colon)
}

function accountOf(accounts: Accounts, key: string): Account {
  const account = key === '' ? undefined : accounts.byKey(key)
  if (!account) throw unauthorized('The API key is not valid. It may have been mistyped or replaced.')
  return account
}

function unauthorized(problem: string): ServerError {
  return new ServerError(
    'unauthorized',
    `${problem} Send the key as the user name of Basic authentication with an empty password, or as the query parameter apiKey.`,
    { headers: { 'www-authenticate': 'Basic realm="parquetry"' } },
  )
}
