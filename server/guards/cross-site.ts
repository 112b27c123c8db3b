import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServerError } from '../http/errors.ts'

/** Methods that change nothing (RFC 9110, 9.2.1). */
const SAFE = ['GET', 'HEAD', 'OPTIONS', 'TRACE']

/** Content types that a page may send to any site without a preflight request (Fetch, 4.9: "CORS-safelisted"). */
const UNASKED = ['', 'text/plain', 'multipart/form-data', 'application/x-www-form-urlencoded']

/**
 * Refuses changes that a page of another site makes a browser send. After a login by Basic authentication, a browser
 * adds the key by itself to the requests of every page, and says in `Sec-Fetch-Site` or `Origin` which page it was.
 * Other programs send neither header. A key that is sent in another way was sent by a page that knows it.
 * @param origins the origins that CORS allows, whose pages may make changes
 */
export function refuseOtherSites(app: FastifyInstance, origins: readonly string[]): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (SAFE.includes(request.method) || !mayBeBrowsersOwn(request) || isAllowed(request, origins)) done()
    else {
      done(
        new ServerError(
          'cross_site',
          'A page of another site sent this change, and the service is not configured to trust its origin.',
        ),
      )
    }
  })
}

/**
 * Whether the request may be a page's that does not know the key. A server of the Model Context Protocol has to look at
 * the origin of every request (2025-06-18, Transports: "Security Warning").
 */
function mayBeBrowsersOwn({ headers, routeOptions }: FastifyRequest): boolean {
  return /^basic\b/i.test(headers.authorization ?? '') || /\/mcp$/.test(routeOptions.url ?? '')
}

function isAllowed({ headers, method, publicUrl }: FastifyRequest, origins: readonly string[]): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  if (site === 'same-origin' || site === 'none') return true
  if (site === undefined && origin === undefined) return true
  if (origin !== undefined && origins.includes(origin)) return true
  // With `*`, a request that needs a preflight can't carry a key that the browser has added: the preflight's answer
  // forbids it.
  if (origins.includes('*') && asksFirst(method, headers['content-type'])) return true
  if (site !== undefined || origin === undefined || !URL.canParse(origin)) return false
  return new URL(origin).host === new URL(publicUrl).host
}

function asksFirst(method: string, type = ''): boolean {
  return method !== 'POST' || !UNASKED.includes(type.split(';', 1)[0]!.trim().toLowerCase())
}
