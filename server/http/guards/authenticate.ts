import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Engine } from '../../../engine/index.ts'
import type { Account, Accounts } from '../../accounts/accounts.ts'
import type { Links } from '../../accounts/links.ts'
import type { NamedKeys } from '../../accounts/named-keys.ts'
import type { Config } from '../../config/config.ts'
import { ServerError } from '../errors.ts'
import { apiKeyIn, isLink, rawQuery } from '../query.ts'
import { FailedKeys, RequestRate } from './rates.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The account that sends the request; set on every route that is not public. */
    account: Account
  }
  interface FastifyContextConfig {
    /** Whether the route needs no API key. */
    public?: boolean
    /** Whether the route only reads although it is a POST, so that a read-only key may be used. */
    reads?: boolean
  }
}

interface AuthenticationParts {
  readonly engine: Engine
  readonly accounts: Accounts
  readonly links: Links
  readonly namedKeys: NamedKeys
  readonly config: Config
}

/**
 * Demands an API key on every path that is not public, even on paths that don't exist, so that nobody without a key can
 * find out which ones exist. If there is an Authorization header, only that counts.
 */
export function authenticate(
  app: FastifyInstance,
  { engine, accounts, links, namedKeys, config }: AuthenticationParts,
): void {
  const failedKeys = new FailedKeys(config.limits.failedKeys, engine.database)
  const requests = new RequestRate(config.limits.requestsPerMinute, engine.database)
  app.decorateRequest('account', null as unknown as Account)
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.public) return
    const linked = await linkedAccount(request, links)
    const key = linked ? '' : keyOf(request)
    const found = linked ? { account: linked, readOnly: false } : await accountOf(key, accounts, namedKeys)
    if (!found) {
      await failedKeys.count(request.ip, key)
      throw unauthorized('The API key is not valid. It may have been mistyped or replaced.')
    }
    const { account, readOnly } = found
    if (account.disabled) throw refused('This account is disabled. An admin can enable it again.')
    if (readOnly && !onlyReads(request)) {
      throw new ServerError('forbidden', 'This key is read-only. To write, use another key of the account.')
    }
    request.account = account
    if (requests.limited) await requests.count(account.id)
  })
}

interface Found {
  readonly account: Account
  readonly readOnly: boolean
}

/** The account of a key, which may be its first key or a named one; undefined if it is nobody's key. */
async function accountOf(key: string, accounts: Accounts, namedKeys: NamedKeys): Promise<Found | undefined> {
  if (key === '') return undefined
  const first = await accounts.byKey(key)
  if (first) return { account: first, readOnly: false }
  const named = await namedKeys.find(key)
  return named && { account: await accounts.get(named.accountId), readOnly: named.readOnly }
}

function onlyReads({ method, routeOptions }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD' || routeOptions.config.reads === true
}

/** The account that made the link which this request follows. @throws ServerError `unauthorized` */
async function linkedAccount(
  { headers, method, url }: FastifyRequest,
  links: Links,
): Promise<Account | undefined> {
  if (headers.authorization !== undefined || !isLink(url)) return undefined
  const account = method === 'GET' || method === 'HEAD' ? await links.account(url) : undefined
  if (!account) throw unauthorized('This link has expired or was altered. Create a new one.')
  return account
}

/** The key that a request carries. @throws ServerError `unauthorized` */
function keyOf({ headers, url }: FastifyRequest): string {
  const { authorization } = headers
  if (authorization !== undefined) return keyInHeader(authorization)
  const named = headers['x-api-key']
  const key = typeof named === 'string' ? named : apiKeyIn(rawQuery(url))
  if (key === undefined) throw unauthorized('This needs an API key.')
  return key
}

/** The key of Basic (RFC 7617) or Bearer (RFC 6750) credentials. @throws ServerError `unauthorized` */
function keyInHeader(header: string): string {
  const [, scheme = '', token = ''] = /^(\S+)\s*(.*)$/.exec(header.trim()) ?? []
  switch (scheme.toLowerCase()) {
    case 'bearer':
      return token
    case 'basic':
      return userName(token)
    default:
      throw unauthorized('This needs an API key; the Authorization header is neither Basic nor Bearer.')
  }
}

/**
 * The user name of Basic credentials. The password is ignored, because some programs demand one and users enter any.
 */
function userName(token: string): string {
  const credentials = /^[A-Za-z0-9+/]+={0,2}$/.test(token)
    ? Buffer.from(token, 'base64').toString('utf8')
    : ''
  const colon = credentials.indexOf(':')
  if (colon < 0) throw unauthorized('The Authorization header is malformed.')
  if (colon === 0)
    throw unauthorized('The API key must be the user name of Basic authentication, not the password.')
  return credentials.slice(0, colon)
}

function unauthorized(problem: string): ServerError {
  return refused(
    `${problem} Send the key as the user name of Basic authentication, as a Bearer token, in the header X-API-Key, ` +
      'or as the query parameter apiKey.',
  )
}

function refused(message: string): ServerError {
  return new ServerError('unauthorized', message, {
    headers: { 'www-authenticate': 'Basic realm="parquetry"' },
  })
}
