import type { IncomingMessage } from 'node:http'
import auth from '@fastify/auth'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Account, ANONYMOUS, type FoundKey } from '../accounts/accounts.ts'
import { ServerError } from '../http/errors.ts'
import { apiKeyIn, isLink, rawQuery } from '../http/query.ts'
import type { Services } from '../services.ts'
import { FailedKeys, network, RequestRate } from './rates.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The account that sends the request; set on every route that is not public. */
    account: Account
    /** The named key with which it came; 0 for the account's first key, or a link. */
    keyId: number
    /** Why the request was not let in by the way that it uses; what stands for 403 and 404 where nobody has a key. */
    refusal: unknown
  }
  interface FastifyContextConfig {
    /** Whether the route needs no API key. */
    public?: boolean
    /** Whether the route only reads although it is a POST, so that a read-only key may be used. */
    reads?: boolean
  }
}

/** Who sends a request, and what their key allows. */
type Sender = Pick<FoundKey, 'account' | 'keyId' | 'readOnly'>

/** Finds the sender of a request that names one in a certain way; undefined if the request doesn't use that way. */
type Authenticator = (request: FastifyRequest) => Promise<Sender | undefined>

/**
 * Demands an API key on every path that is not public, even on paths that don't exist, so that nobody without a key can
 * find out which ones exist. A request is let in by the first way that it uses; if that fails, no other counts.
 */
export async function authenticate(app: FastifyInstance, services: Services): Promise<void> {
  const { engine, keys, links, config } = services
  const failedKeys = new FailedKeys(config.limits.failedKeys, engine.database)
  const { database } = engine
  const requests = new RequestRate(config.limits.requestsPerMinute, database)
  const anonymousRequests = new RequestRate(config.anonymous.requestsPerMinute || null, database, 'address')
  /** A request that is passed on to another route comes here again. */
  const counted = new WeakSet<IncomingMessage>()
  const count = async ({ raw }: FastifyRequest, rate: RequestRate, name: string): Promise<void> => {
    if (!rate.limited || counted.has(raw)) return
    counted.add(raw)
    await rate.count(name)
  }
  app.decorateRequest('account', null as unknown as Account)
  app.decorateRequest('keyId', 0)
  app.decorateRequest('refusal', undefined)

  const byKey = async (request: FastifyRequest, key: string): Promise<Sender> => {
    const sender = await keys.find(key)
    if (sender) return sender
    await failedKeys.count(request.ip, key)
    throw unauthorized('The API key is not valid. It may have been mistyped or replaced.')
  }
  const header: Authenticator = async (request) => {
    const { authorization, 'x-api-key': named } = request.headers
    const key = authorization === undefined ? named : keyInHeader(authorization)
    return typeof key === 'string' ? byKey(request, key) : undefined
  }
  const signedLink: Authenticator = async ({ method, url }) => {
    if (!isLink(url)) return undefined
    const account = isRead(method) ? await links.account(url) : undefined
    if (!account)
      throw unauthorized(
        'This link has expired, was deleted or was altered. Ask whoever sent it for a new one.',
      )
    return { account, keyId: 0, readOnly: false }
  }
  const parameter: Authenticator = async (request) => {
    const key = apiKeyIn(rawQuery(request.url))
    return key === undefined ? undefined : byKey(request, key)
  }

  const nobody: Authenticator = async (request) => {
    const path = (request.routeOptions.url ?? '').slice(app.prefix.length)
    if (!anonymousRequests.limited || !isRead(request.method) || !OPEN.test(path)) return undefined
    await count(request, anonymousRequests, `from ${network(request.ip)}`)
    return { account: ANONYMOUS, keyId: 0, readOnly: true }
  }

  const letIn = (authenticator: Authenticator) => async (request: FastifyRequest) => {
    if (request.refusal) throw request.refusal
    try {
      const sender = await authenticator(request)
      if (!sender) throw NO_KEY
      checkRights(request, sender)
      request.account = sender.account
      request.keyId = sender.keyId
      // Without a key nobody learns what exists that is not public.
      if (sender.account === ANONYMOUS) request.refusal = NO_KEY
      else await count(request, requests, `account ${sender.account.id}`)
    } catch (error) {
      if (error !== NO_KEY) request.refusal = error
      throw error
    }
  }
  // A surrounding application may have registered the plugin already.
  if (!app.hasDecorator('auth')) await app.register(auth)
  const authenticated = app.auth([header, signedLink, parameter, nobody].map(letIn), { relation: 'or' })
  app.addHook('onRequest', (request, reply, done) =>
    request.routeOptions.config.public ? done() : authenticated.call(app, request, reply, done),
  )
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** @throws ServerError `unauthorized`, `forbidden` */
function checkRights({ method, routeOptions }: FastifyRequest, { account, readOnly }: Sender): void {
  if (account.disabled) throw refused('This account is disabled. An admin can enable it again.')
  const onlyReads = isRead(method) || routeOptions.config.reads === true
  if (readOnly && !onlyReads) {
    throw new ServerError('forbidden', 'This key is read-only. To write, use another key of the account.')
  }
  if (account.repositories && !onlyReads && !IN_REPOSITORY.test(routeOptions.url ?? '')) {
    throw new ServerError(
      'forbidden',
      'This key is limited to repositories, and this is outside of them. Use another key of the account.',
    )
  }
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

/** What can be read without a key if it is in a public repository and the configuration allows that. */
const OPEN =
  /^\/(?:(?:repositories|datasets)(?:\/:id)?|datasets\/:id\/(?:columns|data|profile|changes|[a-z]+\.json)|(?:repositories\/:id\/)?odata(?:\/\*)?|d\/\*)$/

/** What a key that is limited to repositories may change, if they are its own. */
const IN_REPOSITORY = /\/(?:repositories\/:id|datasets)(?:\/|$)/

const NO_KEY = unauthorized('This needs an API key.')
