import { createHash, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import Fastify from 'fastify'

const NONCE = 'nonce-of-this-answer'

/**
 * Turns off what would call servers other than ours: fonts, telemetry, the proxy and the assistant. The page must work
 * without a network. Its Content-Security-Policy forbids the same.
 */
const SETTINGS = {
  url: 'openapi.json',
  cdn: 'docs/reference.js',
  nonce: NONCE,
  pageTitle: 'Parquetry',
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'direct',
  persistAuth: false,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
} as const

/**
 * Loads the interactive API reference: a page, and the only script that it loads. Called at the first request rather than
 * at start, because the package has four megabytes. The page and the script are read from the package's plugin, in a
 * temporary Fastify application.
 */
export async function loadReference() {
  const { default: plugin } = await import('@scalar/fastify-api-reference')
  const app = Fastify()
  await app.register(plugin, { routePrefix: '/docs', configuration: SETTINGS as never })
  const [page, script] = await Promise.all([app.inject('/docs/'), app.inject('/docs/js/scalar.js')])
  await app.close()
  const plain = script.rawPayload
  const html = page.body
  return {
    /** The page with a new nonce, and the Content-Security-Policy header that forbids all other scripts. */
    page: () => {
      const nonce = randomBytes(16).toString('base64')
      return { html: html.replaceAll(NONCE, nonce), policy: policy(nonce) }
    },
    script: {
      plain,
      gzipped: await promisify(gzip)(plain),
      etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    },
  }
}

function policy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    // The script creates style sheets at run time. With this policy they can load no other resources than our own
    // images.
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
