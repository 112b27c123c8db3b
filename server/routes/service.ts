import { ServerError } from '../http/errors.ts'
import { errors, json } from '../openapi/describe.ts'
import type { Document } from '../openapi/document.ts'
import { documentPage, PAGE_POLICY } from '../openapi/page.ts'
import type { Services } from '../services.ts'
import { stopping } from '../transfers/gate.ts'
import type { Routes } from './routes.ts'

const tags = ['Service']

const STATE = {
  type: 'object',
  required: ['status'],
  additionalProperties: false,
  properties: { status: { type: 'string', const: 'ok' } },
}

/** Health, metrics and documentation. */
export function serviceRoutes(app: Routes, services: Services, document: Document): void {
  const { engine, metrics, lifecycle } = services

  // Who opens the address in a browser is shown where to go, not asked for a password.
  app.get('/', {
    config: { public: true },
    schema: { hide: true },
    handler: async (_request, reply) =>
      reply.redirect(`${app.prefix}/${services.console ? 'console/' : 'docs'}`),
  })

  app.get('/healthz', {
    config: { public: true, always: true },
    schema: {
      operationId: 'getHealth',
      summary: 'Whether the process lives',
      tags,
      response: { 200: json(STATE, 'It does.', { example: { status: 'ok' } }) },
    },
    handler: async () => ({ status: 'ok' }),
  })

  app.get('/readyz', {
    config: { public: true, always: true },
    schema: {
      operationId: 'getReadiness',
      summary: 'Whether the service takes work',
      tags,
      response: { 200: json(STATE, 'It does.', { example: { status: 'ok' } }) },
    },
    handler: async () => {
      if (lifecycle.stopping) throw stopping()
      // The database answers, or this throws.
      engine.database.prepare('SELECT 1').get()
      return { status: 'ok' }
    },
  })

  app.get('/metrics', {
    config: { always: true },
    schema: {
      operationId: 'getMetrics',
      summary: 'Figures for Prometheus; for admins',
      tags,
      response: {
        200: { description: 'The figures.', content: { 'text/plain': { schema: { type: 'string' } } } },
        ...errors(403),
      },
    },
    handler: async (request, reply) => {
      if (!request.account.admin) throw new ServerError('forbidden', 'Metrics are for admins.')
      return reply.type(metrics.contentType).send(await metrics.text())
    },
  })

  app.get('/openapi.json', {
    config: { public: true },
    schema: {
      operationId: 'getOpenApi',
      summary: 'This document',
      tags,
      response: { 200: json({ type: 'object' }, 'OpenAPI 3.1.') },
    },
    handler: async () => document.get(app.prefix),
  })

  app.get('/docs', {
    config: { public: true },
    schema: {
      operationId: 'getDocs',
      summary: 'This document, as a page to read',
      tags,
      response: { 200: { description: 'A page.', content: { 'text/html': { schema: { type: 'string' } } } } },
    },
    handler: async (_request, reply) =>
      reply
        .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': PAGE_POLICY })
        .send(documentPage(document.get(app.prefix))),
  })
}
