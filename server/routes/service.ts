import { Lazy } from '../../engine/util/shared.ts'
import { ServerError } from '../http/errors.ts'
import { matchesTag } from '../http/headers.ts'
import { errors, json } from '../openapi/describe.ts'
import { loadReference } from '../openapi/reference.ts'
import { object } from '../records/schema.ts'
import type { Services } from '../services.ts'
import { chooseCoding } from '../transfers/formats.ts'
import { stopping } from '../transfers/transfer.ts'
import type { Routes } from './routes.ts'

const STATE = object(['status'], { status: { type: 'string', const: 'ok' } })

const OK = { status: 'ok' } as const

const GET_HEALTH = {
  operationId: 'getHealth',
  summary: 'Whether the process is running',
  response: { 200: json(STATE, 'It does.') },
} as const

const GET_READINESS = {
  operationId: 'getReadiness',
  summary: 'Whether the service is ready for requests',
  response: { 200: json(STATE, 'It does.') },
} as const

const GET_METRICS = {
  operationId: 'getMetrics',
  summary: 'Metrics in the format of Prometheus; for admins',
  response: {
    200: { description: 'The metrics.', content: { 'text/plain': { schema: { type: 'string' } } } },
    ...errors(403),
  },
} as const

const GET_OPEN_API = {
  operationId: 'getOpenApi',
  summary: 'This document',
  response: { 200: json({ type: 'object' }, 'OpenAPI 3.1.') },
} as const

const GET_DOCS = {
  operationId: 'getDocs',
  summary: 'This document as a page, where requests can be tried out',
  response: { 200: { description: 'A page.', content: { 'text/html': { schema: { type: 'string' } } } } },
} as const

export function serviceRoutes(app: Routes, services: Services): void {
  const { engine, metrics, lifecycle } = services
  const reference = new Lazy(loadReference)

  // Somebody who opens the address in a browser is shown where to go, instead of being asked for a password.
  app.get('/', { config: { public: true }, schema: { hide: true } }, async (_request, reply) =>
    reply.redirect(`${app.prefix}/${services.console ? 'console/' : 'docs'}`),
  )

  // Browsers ask for it whenever they open an address that is not a page.
  app.get('/favicon.ico', { config: { public: true }, schema: { hide: true } }, async (_request, reply) =>
    reply.code(204).header('cache-control', 'public, max-age=86400').send(),
  )

  app.get('/healthz', { config: { public: true, always: true }, schema: GET_HEALTH }, async () => OK)

  app.get('/readyz', { config: { public: true, always: true }, schema: GET_READINESS }, async () => {
    if (lifecycle.leaving) throw stopping()
    await engine.ready()
    return OK
  })

  app.get('/metrics', { config: { always: true }, schema: GET_METRICS }, async (request, reply) => {
    if (!request.account.admin) throw new ServerError('forbidden', 'Metrics are for admins.')
    return reply.type(metrics.contentType).send(await metrics.text())
  })

  app.get('/openapi.json', { config: { public: true }, schema: GET_OPEN_API }, async () =>
    app.openApiDocument(),
  )

  app.get('/docs', { config: { public: true }, schema: GET_DOCS }, async (_request, reply) => {
    const { html, policy } = (await reference.get()).page()
    return reply
      .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy })
      .send(html)
  })

  app.get(
    '/docs/reference.js',
    { config: { public: true }, schema: { hide: true } },
    async (request, reply) => {
      const { plain, gzipped, etag } = (await reference.get()).script
      reply.headers({ etag, 'cache-control': 'public, max-age=0, must-revalidate', vary: 'Accept-Encoding' })
      if (matchesTag(request.headers['if-none-match'], etag)) return reply.code(304).send()
      reply.type('text/javascript; charset=utf-8')
      const packed = chooseCoding(request.headers['accept-encoding'], ['gzip'])
      return packed ? reply.header('content-encoding', 'gzip').send(gzipped) : reply.send(plain)
    },
  )
}
