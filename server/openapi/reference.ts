import { createHash, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import Fastify from 'fastify'

/** The interactive reference: its page, and the one script that the page loads. */
export interface Reference {
  /** The page with a nonce of its own, and the policy that lets nothing else run. */
  page(): { readonly html: string; readonly policy: string }
  readonly script: { readonly plain: Buffer; readonly gzipped: Buffer; readonly etag: string }
}

const NONCE = 'nonce-of-this-answer'

/**
 * What the page may not do stands here as well as in its policy: fonts, telemetry, the proxy and the assistant would
 * all call servers that are not ours, and everything must work without a network.
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
 * Loads the package of the reference. It weighs four megabytes, which a start should not wait for: so it's called with
 * the first request, and asks the package's plugin in an application of its own for what it would serve.
 */
export async function loadReference(): Promise<Reference> {
  const { default: plugin } = await import('@scalar/fastify-api-reference')
  const app = Fastify()
  await app.register(plugin, { routePrefix: '/docs', configuration: SETTINGS as never })
  const [page, script] = await Promise.all([app.inject('/docs/'), app.inject('/docs/js/scalar.js')])
  await app.close()
  const plain = script.rawPayload
  return {
    page: () => {
      const nonce = randomBytes(16).toString('base64')
      return { html: page.body.replaceAll(NONCE, nonce), policy: policy(nonce) }
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
    // The script makes style sheets while it runs. They can load nothing but images of ours.
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
