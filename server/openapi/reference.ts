import { createHash, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import Fastify from 'fastify'

const NONCE = 'nonce-of-this-answer'

/** The mark and the colours of the console, as in its `tokens.css`. */
const CSS = `
.light-mode {
  --scalar-color-1: #17201b; --scalar-color-2: #55615a; --scalar-color-3: #55615a; --scalar-color-accent: #14604e;
  --scalar-background-1: #f6f7f5; --scalar-background-2: #ffffff; --scalar-background-3: #eef0ed;
  --scalar-background-accent: #e0eeea; --scalar-border-color: #dfe3de;
  --scalar-color-blue: #0063a6; --scalar-color-green: #006b43; --scalar-color-orange: #8a4b00; --scalar-color-yellow: #755c00;
  --scalar-color-red: #b3261e; --scalar-color-purple: #5a3fa0;
}
.dark-mode {
  --scalar-color-1: #e9eeea; --scalar-color-2: #a3afa8; --scalar-color-3: #a3afa8; --scalar-color-accent: #67cfae;
  --scalar-background-1: #121614; --scalar-background-2: #191e1b; --scalar-background-3: #202622;
  --scalar-background-accent: #1b3a31; --scalar-border-color: #2c332f;
  --scalar-color-red: #ff8a80;
}
/* The names of buttons that are seen only once the mouse is there. */
.scalar-code-copy .sr-only > .hidden { display: inline; }
:root {
  --scalar-font: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
  --scalar-font-code: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
`

/**
 * Turns off what would call servers other than ours: fonts, telemetry, the proxy and the assistant. The page must work
 * without a network. Its Content-Security-Policy forbids the same.
 */
const SETTINGS = {
  url: 'openapi.json',
  cdn: 'docs/reference.js',
  nonce: NONCE,
  pageTitle: 'Parquetry',
  customCss: CSS,
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
  const html = page.body.replace('<html>', '<html lang="en">')
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
