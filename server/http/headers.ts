import { hash } from 'node:crypto'
import cors from '@fastify/cors'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServerError } from './errors.ts'

/** Forbids pages to load anything, unless a route sets another policy. */
const NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'"

/** Headers of every answer, also of errors. */
export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'content-security-policy': NO_CONTENT_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const

export function addSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(SECURITY_HEADERS)
    done()
  })
}

/** Adds links to those that an answer has (RFC 8288). */
export function addLink(reply: FastifyReply, ...links: readonly string[]): void {
  const before = reply.getHeader('link')
  reply.header('link', [...(before === undefined ? [] : [before]), ...links].join(', '))
}

/** The headers with which a page may ask, beside those that every page may send. */
const ASKED =
  'Authorization, X-API-Key, Content-Type, Content-Encoding, Idempotency-Key, If-Match, If-None-Match, If-Range, ' +
  'Range, Prefer, OData-MaxVersion, OData-Version, MCP-Protocol-Version'

/** The headers of our answers that a page may read. */
const ANSWERED =
  'Row-Count, Hint, Series-Missing, Next-Since, Memento-Datetime, Link, ETag, Age, Accept-Ranges, Content-Range, Content-Disposition, Location, Retry-After, ' +
  'Server-Timing, X-Request-Id, Preference-Applied, OData-Version'

/** Lets pages of these origins call the service. A page must send the key itself; the browser never adds it. */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return
  await app.register(cors, {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: ASKED,
    exposedHeaders: ANSWERED,
    maxAge: 600,
  })
}

/** Whether an `If-None-Match` header names an entity tag, compared weakly (RFC 9110, 13.1.2). */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  const opaque = (text: string) => text.replace(/^W\//, '')
  return [...header.matchAll(/(?:W\/)?"[^"]*"/g)].some(([given]) => opaque(given) === opaque(tag))
}

/**
 * Keeps caches from giving an answer that needs a key to others, or one that is out of date: they must ask, by the
 * entity tag of the answer, whether it has changed. With `origins`, answers differ by `Origin`.
 */
export function addValidators(app: FastifyInstance, origins: readonly string[]): void {
  const byOrigin = origins.length > 0 && !origins.includes('*')
  app.addHook('onSend', (request, reply, payload, done) => {
    const { method, routeOptions, headers } = request
    if (byOrigin) {
      const vary = String(reply.getHeader('vary') ?? '')
      if (!/\borigin\b/i.test(vary)) reply.header('vary', [vary, 'Origin'].filter(Boolean).join(', '))
    }
    if (routeOptions.config.public) return done()
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'private, no-cache')
    const reads = method === 'GET' || method === 'HEAD'
    if (!reads || reply.statusCode !== 200 || typeof payload !== 'string') return done()
    if (!reply.hasHeader('etag')) {
      reply.header('etag', `W/"${hash('sha256', payload, 'base64url').slice(0, 22)}"`)
    }
    if (!matchesTag(headers['if-none-match'], String(reply.getHeader('etag')))) return done()
    reply.code(304).removeHeader('content-type').removeHeader('content-length')
    done(null, '')
  })
}

/** The entity tag of a record. It changes when any of the given values changes. */
export function recordTag(...values: readonly unknown[]): string {
  return `"${hash('sha256', JSON.stringify(values), 'base64url').slice(0, 22)}"`
}

/** Whether `requireMatch` may refuse it. */
export function isConditional({ headers }: FastifyRequest): boolean {
  return headers['if-match'] !== undefined || headers['if-none-match'] !== undefined
}

/**
 * Refuses a change if the record is no longer as the client saw it: `If-Match`, compared strongly (RFC 9110, 13.1.1), or
 * if it is there while `If-None-Match` says that it must not be.
 * Call it in the transaction that makes the change.
 * @param rows what the ETags of the rows begin with, for a change of them: these match, too
 * @throws ServerError `changed_meanwhile`
 */
export function requireMatch({ headers }: FastifyRequest, tag: string, rows?: string): void {
  if (matchesTag(headers['if-none-match'], tag)) {
    throw new ServerError(
      'changed_meanwhile',
      'The record is there already, which If-None-Match excludes. Nothing was changed.',
    )
  }
  const given = headers['if-match']
  if (given === undefined || given.trim() === '*') return
  const tags = given.split(',').map((one) => one.trim())
  if (tags.some((one) => one === tag || (rows !== undefined && one.startsWith(`"${rows}`)))) return
  const weak = tags.some((one) => one.startsWith('W/'))
  throw new ServerError(
    'changed_meanwhile',
    weak
      ? 'If-Match compares strong ETags only (RFC 9110, 13.1.1), and this one is weak (W/): take the ETag of GET /datasets/{id}. Nothing was changed.'
      : 'The record has changed since you read it: its ETag is not the one in If-Match. Nothing was changed.',
  )
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Scheme and host of the addresses in answers, without a slash at the end. */
    publicUrl: string
  }
}

/**
 * @param configured the address by which clients reach the service. Without one, it is the request's own `Host`, which
 *   a cache in front of the service could hand on to others.
 */
export function addPublicUrl(app: FastifyInstance, configured: string | undefined): void {
  app.decorateRequest('publicUrl', {
    getter() {
      return configured ?? `${this.protocol}://${this.host}`
    },
  })
}

/** An item of an `Accept` or `Accept-Encoding` header (RFC 9110, 12.5), in lower case. */
export interface Accepted {
  readonly name: string
  readonly parameters: Readonly<Record<string, string>>
  /** 0 means "not acceptable". */
  readonly weight: number
}

const MOST_ITEMS = 100

export function acceptedIn(header: string): Accepted[] {
  return header
    .toLowerCase()
    .split(',', MOST_ITEMS)
    .flatMap((item) => {
      const [name = '', ...rest] = item.split(';').map((part) => part.trim())
      if (name === '') return []
      const parameters: Record<string, string> = {}
      for (const part of rest) {
        const [key = '', value = ''] = part.split('=')
        parameters[key.trim()] = value.trim().replace(/^"(.*)"$/, '$1')
      }
      const weight = Number(parameters['q'] ?? 1)
      return [{ name, parameters, weight: Number.isFinite(weight) ? weight : 0 }]
    })
}

/** The weights of the items in a header, in their order. */
export function weightsIn(header: string): ReadonlyMap<string, number> {
  return new Map(acceptedIn(header).map(({ name, weight }) => [name === 'x-gzip' ? 'gzip' : name, weight]))
}

/** A `Content-Disposition` with a file name, in ASCII for old clients and in full (RFC 6266, RFC 8187). */
export function attachment(name: string, extension: string): string {
  // Some clients take a slash for a folder; control characters and lone surrogates are not allowed in a header.
  const safe = `${name.toWellFormed().replace(/[\x00-\x1f\x7f/\\]/g, '_')}.${extension}`
  const ascii = safe
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]|["%]/gu, '_')
  const encoded = encodeURIComponent(safe).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
