import type { FastifyInstance } from 'fastify'

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
