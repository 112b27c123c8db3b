import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import auth from '@fastify/auth'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Database, SqlValue } from '../../engine/index.ts'
import { counted } from '../../engine/util/counted.ts'
import { Lazy } from '../../engine/util/shared.ts'
import { type Account, ANONYMOUS, type FoundKey } from '../accounts/accounts.ts'
import { isLink, rawQuery } from '../http/addresses.ts'
import { ServerError } from '../http/errors.ts'
import { apiKeyIn } from '../http/input.ts'
import type { Services } from '../services.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The account that sends the request; set on every route that is not public. */
    account: Account
    /** The named key with which it came; 0 for the account's first key, or a link. */
    keyId: number
    /** Why the request was not let in by the way that it uses; what stands for 403 and 404 where nobody has a key. */
    refusal: unknown
    /** Finds the account again. Throws if the key or link with which the request came no longer lets it in. */
    requireStillIn: () => Promise<void>
    /** Counts a request that goes on as one more. Throws if that is more than the account may send. */
    countAgain: () => Promise<void>
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
  const { engine, config } = services
  const { database } = engine
  const rateOf = (most: number | null, whose: 'account' | 'address') =>
    most ? new RequestRate(most, database, whose) : undefined
  const requests = rateOf(config.limits.requestsPerMinute, 'account')
  const anonymousRequests = rateOf(config.anonymous.requestsPerMinute, 'address')
  /** A request that is passed on to another route comes here again. */
  const counted = new WeakSet<IncomingMessage>()
  const count = async ({ raw }: FastifyRequest, rate: RequestRate, name: string): Promise<void> => {
    if (counted.has(raw)) return
    counted.add(raw)
    await rate.count(name)
  }
  app.decorateRequest('account', null as unknown as Account)
  app.decorateRequest('keyId', 0)
  app.decorateRequest('refusal', undefined)
  app.decorateRequest('requireStillIn', null as unknown as () => Promise<void>)
  app.decorateRequest('countAgain', null as unknown as () => Promise<void>)

  const nobody: Authenticator = async (request) => {
    const path = (request.routeOptions.url ?? '').slice(app.prefix.length)
    if (!anonymousRequests || !isRead(request.method) || !OPEN.test(path)) return undefined
    await count(request, anonymousRequests, `from ${network(request.ip)}`)
    return { account: ANONYMOUS, keyId: 0, readOnly: true }
  }

  const letIn = (authenticator: Authenticator) => async (request: FastifyRequest) => {
    if (request.refusal) throw request.refusal
    try {
      const find = async () => {
        const sender = await authenticator(request)
        if (!sender) throw NO_KEY
        checkRights(request, sender)
        return sender
      }
      const sender = await find()
      request.requireStillIn = async () => {
        request.account = (await find()).account
      }
      request.countAgain = async () => requests?.count(`account ${sender.account.id}`)
      request.account = sender.account
      request.keyId = sender.keyId
      // Without a key nobody learns what exists that is not public.
      if (sender.account === ANONYMOUS) request.refusal = NO_KEY
      else if (requests) await count(request, requests, `account ${sender.account.id}`)
    } catch (error) {
      if (error !== NO_KEY) request.refusal = error
      throw error
    }
  }
  // A surrounding application may have registered the plugin already.
  if (!app.hasDecorator('auth')) await app.register(auth)
  const authenticated = app.auth([...authenticators(services), nobody].map(letIn), { relation: 'or' })
  app.addHook('onRequest', (request, reply, done) =>
    request.routeOptions.config.public ? done() : authenticated.call(app, request, reply, done),
  )
}

/** The ways in which a request names its sender, the first one first: a header, a signed link, a parameter. */
function authenticators({ engine, keys, links, config }: Services): readonly Authenticator[] {
  const { failedKeys: most } = config.limits
  const failedKeys = most > 0 ? new FailedKeys(most, engine.database) : undefined
  const byKey = async (request: FastifyRequest, key: string): Promise<Sender> => {
    const sender = await keys.find(key)
    if (sender) return sender
    await failedKeys?.count(request.ip, key)
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
      // Without a challenge: a browser would ask for a password, and none helps.
      throw new ServerError(
        'unauthorized',
        'This link has expired or was altered, or whoever made it has deleted it or replaced their key. Ask for a new one.',
      )
    return { account, keyId: 0, readOnly: false }
  }
  const parameter: Authenticator = async (request) => {
    const key = apiKeyIn(rawQuery(request.url))
    return key === undefined ? undefined : byKey(request, key)
  }
  return [header, signedLink, parameter]
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
  const [scheme, ...token] = header.split(/\s+/)
  switch (scheme!.toLowerCase()) {
    case 'bearer':
      return token.join(' ')
    case 'basic':
      return userName(token.join(' '))
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

const WINDOW_SECONDS = 60
/**
 * Somebody who guesses many keys often keeps their beginning, so wrong keys are also counted by this many characters.
 */
const BEGINNING = 6
/** How often a node tells the database how many requests it has passed. */
const TELL_MS = 1_000

/**
 * Counts wrong API keys by the address from which they come and by their beginning. Beyond the limit they are answered
 * with 429 instead of 401. A right key is always accepted, so that users who share an address with a guesser can work.
 */
class FailedKeys {
  readonly #limiter: Lazy<RateLimiterAbstract>

  /** @param most wrong keys allowed in a minute, on all nodes together */
  constructor(most: number, database: Database) {
    this.#limiter = new Lazy(() => (database.isShared ? sharedRate(most, database) : rate(most)))
  }

  /** Counts a wrong key. @throws ServerError `too_many_failures` if there were too many */
  async count(address: string, key: string): Promise<void> {
    const limiter = await this.#limiter.get()
    // So that no beginning of a key, right or wrong, is written into the database.
    const counted = [`from ${network(address)}`, `like ${key.slice(0, BEGINNING)}`].map((name) =>
      hash('sha256', name, 'base64url'),
    )
    const wait = Math.max(...(await Promise.all(counted.map((name) => waitAfter(limiter, name)))))
    if (wait > 0) throw tooMany('too_many_failures', 'Too many wrong API keys were sent.', wait)
  }
}

/**
 * Counts the requests of each account, or of each address without a key, if the configuration limits them. A node counts
 * in memory, so that no request waits for it, and tells the database every second what it has counted. If all nodes
 * together have passed more than the limit, each refuses the account or the address until the minute ends. So beyond the
 * limit it gets at most what it sends within that second, and never more than the limit on one node.
 */
class RequestRate {
  readonly #most: number
  readonly #whose: string
  readonly #own: Lazy<RateLimiterMemory>
  readonly #all: Lazy<RateLimiterAbstract> | undefined
  /** Requests by name that the database has not been told of. */
  #untold = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

  /** @param most requests allowed in a minute */
  constructor(most: number, database: Database, whose: 'account' | 'address') {
    this.#most = most
    this.#whose = whose
    this.#own = new Lazy(() => rate(most))
    if (database.isShared) this.#all = new Lazy(() => sharedRate(most, database))
  }

  /** @param name the account or the address @throws ServerError `too_many_requests` */
  async count(name: string): Promise<void> {
    const wait = await waitAfter(await this.#own.get(), name)
    if (wait > 0) {
      const problem = `This ${this.#whose} sends more than ${counted(this.#most, 'request')} a minute.`
      throw tooMany('too_many_requests', problem, wait)
    }
    if (!this.#all) return
    this.#untold.set(name, (this.#untold.get(name) ?? 0) + 1)
    this.#tellLater()
  }

  #tellLater(): void {
    if (this.#timer) return
    this.#timer = setTimeout(async () => {
      await this.#tell(await this.#all!.get())
      this.#timer = undefined
      if (this.#untold.size > 0) this.#tellLater()
    }, TELL_MS).unref()
  }

  async #tell(all: RateLimiterAbstract): Promise<void> {
    const untold = this.#untold
    this.#untold = new Map()
    for (const [name, requests] of untold) {
      // What could not be counted together is still counted by each node.
      const wait = await waitAfter(all, name, requests).catch(() => 0)
      if (wait > 0) await (await this.#own.get()).block(name, wait / 1000)
    }
  }
}

/** Counts, and gives the milliseconds for which nothing more is let through; 0 within the limit. */
async function waitAfter(limiter: RateLimiterAbstract, name: string, points = 1): Promise<number> {
  try {
    await limiter.consume(name, points)
    return 0
  } catch (spent) {
    if (spent instanceof Error) throw spent
    return Math.max(1, (spent as RateLimiterRes).msBeforeNext)
  }
}

/** The package is loaded when something is first counted: a server starts 14 ms earlier. */
async function rate(most: number): Promise<RateLimiterMemory> {
  const { RateLimiterMemory } = await import('rate-limiter-flexible')
  return new RateLimiterMemory({ points: most, duration: WINDOW_SECONDS })
}

/**
 * Counts in the database for all nodes together. Once a name has reached the limit, it is refused without asking again.
 * If the database does not answer, this node counts by itself.
 */
async function sharedRate(most: number, database: Database): Promise<RateLimiterAbstract> {
  const { RateLimiterPostgres } = await import('rate-limiter-flexible')
  return new RateLimiterPostgres({
    storeClient: {
      // A statement as the package gives it to a client of PostgreSQL.
      query: async ({ text, values }: { text: string; values: readonly SqlValue[] }) => {
        const given: SqlValue[] = []
        const sql = text.replace(/\$(\d+)/g, (_, number) => {
          given.push(values[Number(number) - 1]!)
          return '?'
        })
        const rows = await database.transient((t) => t.all(sql, ...given))
        return { rows, rowCount: rows.length }
      },
    },
    storeType: 'client',
    tableName: 'request_rates',
    tableCreated: true,
    points: most,
    duration: WINDOW_SECONDS,
    inMemoryBlockOnConsumed: most,
    insuranceLimiter: await rate(most),
  })
}

function tooMany(
  code: 'too_many_failures' | 'too_many_requests',
  problem: string,
  wait: number,
): ServerError {
  const seconds = Math.max(1, Math.ceil(wait / 1000))
  return new ServerError(code, `${problem} Try again in ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

/** An IPv4 address, or the network of an IPv6 address, because one user of IPv6 usually has 2^64 addresses. */
function network(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = '', tail] = address.split('::')
  const groups = head.split(':')
  if (tail !== undefined) {
    const rest = tail === '' ? [] : tail.split(':')
    groups.push(...Array(Math.max(0, 8 - groups.length - rest.length)).fill('0'), ...rest)
  }
  return groups.slice(0, 4).join(':')
}
