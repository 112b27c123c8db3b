import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import staticFiles from '@fastify/static'
import type { FastifyInstance } from 'fastify'

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Serves the built console. Its files need no key; the data that it shows comes from the API, with the user's key.
 * @param isDemo whether it may be signed in by its address
 */
export function serveConsole(app: FastifyInstance, folder: string, isDemo: boolean): void {
  servePages(app, '/console', folder, POLICY)
  if (!isDemo) return
  const quiet = { config: { public: true }, schema: { hide: true } }
  app.get('/console/demo', quiet, async (_request, reply) => reply.code(204).send())
}

/**
 * Serves the built documentation. Its pages contain short scripts and styles of their own: the scripts, the same on each
 * page, are allowed by their hashes.
 */
export function serveGuide(app: FastifyInstance, folder: string): void {
  const scripts = readFileSync(join(folder, 'index.html'), 'utf8').matchAll(/<script[^>]*>([^<]+)<\/script>/g)
  const hashes = Array.from(
    scripts,
    ([, script]) => ` 'sha256-${createHash('sha256').update(script!).digest('base64')}'`,
  )
  const policy = POLICY.replace("script-src 'self'", `script-src 'self'${hashes.join('')}`)
  servePages(app, '/guide', folder, policy.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'"))
}

function servePages(app: FastifyInstance, path: string, folder: string, policy: string): void {
  app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, public: true }
      route.schema = { hide: true }
    })
    scope.get(path, async (_request, reply) => reply.redirect(`${app.prefix}${path}/`))
    await scope.register(staticFiles, {
      root: folder,
      prefix: `${path}/`,
      extensions: ['html'],
      preCompressed: true,
      decorateReply: !scope.hasReplyDecorator('sendFile'),
      setHeaders(reply, file) {
        reply.header('content-security-policy', policy)
        // Their names hold a hash of what is in them.
        if (file.startsWith(join(folder, 'assets')))
          reply.header('cache-control', 'public, max-age=31536000, immutable')
      },
    })
  })
}
