import type { FastifyInstance } from 'fastify'
import { ServerError } from '../http/errors.ts'
import { LLMS_TXT } from './llms.ts'

/**
 * `POST /mcp`: the Model Context Protocol over streamable HTTP, without sessions. `GET /llms.txt` describes the
 * service.
 */
export function mcpRoutes(app: FastifyInstance): void {
  app.get('/llms.txt', {
    config: { public: true },
    schema: { hide: true },
    handler: async (_request, reply) =>
      reply.header('content-type', 'text/plain; charset=utf-8').send(LLMS_TXT),
  })

  app.post('/mcp', {
    config: { reads: true },
    schema: { hide: true },
    // Loaded only when needed: the protocol's library is a fifth of what a start would load.
    handler: async (request, reply) => (await import('./answer.ts')).answer(app, request, reply),
  })

  // GET would open a stream of notifications and DELETE would end a session; without sessions there are neither.
  app.route({
    method: ['GET', 'DELETE'],
    url: '/mcp',
    schema: { hide: true },
    handler: async () => {
      throw new ServerError('method_not_allowed', 'This server has no sessions: /mcp accepts only POST.', {
        headers: { allow: 'POST' },
      })
    },
  })
}
