import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

/** Forbids pages to load anything, unless a route sets another policy. */
const NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'"

/** Headers of every answer, also of errors. */
export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'content-security-policy': NO_CONTENT_POLICY,
  'cross-origin-opener-policy': 'same-origin',
} as const

export function addSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(SECURITY_HEADERS)
    done()
  })
}

/** The headers with which a page may ask, beside those that every page may send. */
const ASKED = [
  'Authorization',
  'X-API-Key',
  'Content-Type',
  'Content-Encoding',
  'If-Match',
  'If-None-Match',
  'If-Range',
  'Range',
  'Prefer',
  'OData-MaxVersion',
  'OData-Version',
  'MCP-Protocol-Version',
]

/** The headers of our answers that a page may read. */
const ANSWERED = [
  'Row-Count',
  'Series-Missing',
  'ETag',
  'Age',
  'Accept-Ranges',
  'Content-Range',
  'Content-Disposition',
  'Location',
  'Retry-After',
  'Server-Timing',
  'X-Request-Id',
  'Preference-Applied',
  'OData-Version',
]

/** Lets pages of these origins call the service. A page must send the key itself; the browser never adds it. */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return
  await app.register(cors, {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    allowedHeaders: ASKED,
    exposedHeaders: ANSWERED,
    maxAge: 600,
  })
}
