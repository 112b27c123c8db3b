import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServerError } from '../errors.ts'

/** Methods that change nothing (RFC 9110, 9.2.1). */
const SAFE = ['GET', 'HEAD', 'OPTIONS', 'TRACE']

/** Types of bodies that a page may send to anybody without asking first (Fetch, 4.9: "CORS-safelisted"). */
const UNASKED = ['', 'text/plain', 'multipart/form-data', 'application/x-www-form-urlencoded']

/**
 * Refuses changes that another site's page makes a browser send. A browser that has logged in by Basic authentication
 * adds the key by itself, whoever's page asks; it says whose page it was in `Sec-Fetch-Site` or `Origin`. Programs send
 * neither, and keys sent in another way come from a page that knows them.
 * @param origins whose pages may change things: those that CORS lets in
 */
export function refuseOtherSites(app: FastifyInstance, origins: readonly string[]): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (SAFE.includes(request.method) || !mayBeBrowsersOwn(request) || isAllowed(request, origins)) done()
    else {
      done(
        new ServerError(
          'cross_site',
          'The page of another site asked for this change. Its origin is not one that the service is configured to trust.',
        ),
      )
    }
  })
}

function mayBeBrowsersOwn({ headers }: FastifyRequest): boolean {
  return /^basic\b/i.test(headers.authorization ?? '')
}

function isAllowed({ headers, method, host }: FastifyRequest, origins: readonly string[]): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  if (site === 'same-origin' || site === 'none') return true
  if (site === undefined && origin === undefined) return true
  if (origin !== undefined && origins.includes(origin)) return true
  // The browser asks first, and is not allowed to add the key by itself where everybody is let in.
  if (origins.includes('*') && asksFirst(method, headers['content-type'])) return true
  return site === undefined && origin !== undefined && URL.canParse(origin) && new URL(origin).host === host
}

function asksFirst(method: string, type = ''): boolean {
  return method !== 'POST' || !UNASKED.includes(type.split(';', 1)[0]!.trim().toLowerCase())
}
