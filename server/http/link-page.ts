import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Column, Format } from '../../engine/index.ts'
import { counted } from '../../engine/util/counted.ts'
import { isDownload, isLink } from './addresses.ts'
import { weightsIn } from './headers.ts'

/** What the page of a link shows. */
export interface LinkPage {
  readonly title: string
  readonly description: string
  /** How many rows the link opens; undefined where nobody has counted them. */
  readonly rowCount: number | undefined
  readonly columns: readonly Pick<Column, 'name' | 'type'>[]
  /** The first rows: their values as text, null where there is none. */
  readonly rows: readonly (readonly (string | null)[])[]
  readonly downloads: readonly { readonly format: Format; readonly url: string }[]
  readonly expiresAt: Date
}

/** Whether a link is opened in a browser. Programs, and whoever asks for a download, get the data. */
export function wantsPage({ method, url, headers }: FastifyRequest): boolean {
  if (method !== 'GET' || !isLink(url) || isDownload(url)) return false
  const weights = weightsIn(headers.accept ?? '')
  const html = weights.get('text/html') ?? 0
  return (
    html > 0 && ![...weights].some(([type, weight]) => /json|csv|arrow|sheet/.test(type) && weight >= html)
  )
}

const STYLE = `:root{color-scheme:light dark;--paper:light-dark(#f6f7f5,#121614);--surface:light-dark(#fff,#191e1b);
--line:light-dark(#dfe3de,#2c332f);--ink:light-dark(#17201b,#e9eeea);--ink-2:light-dark(#55615a,#a3afa8);
--accent:light-dark(#14604e,#67cfae);--accent-ink:light-dark(#fff,#08221a)}
*{box-sizing:border-box}body{margin:0 auto;max-inline-size:72rem;padding:24px 16px;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,sans-serif}h1{margin:0;font-size:24px;line-height:1.25;overflow-wrap:anywhere}
p{margin:8px 0 0;color:var(--ink-2);overflow-wrap:anywhere}ul{display:flex;flex-wrap:wrap;gap:8px;margin:20px 0;padding:0;list-style:none}
a{display:inline-flex;align-items:center;min-block-size:40px;padding:0 16px;border:1px solid var(--line);border-radius:6px;
background:var(--surface);color:var(--ink);text-decoration:none}a:hover{border-color:var(--ink-2)}
li:first-child a{background:var(--accent);border-color:var(--accent);color:var(--accent-ink)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
div{overflow-x:auto;border:1px solid var(--line);border-radius:6px;background:var(--surface)}
table{border-collapse:collapse;min-inline-size:100%;font-size:14px;font-variant-numeric:tabular-nums}
th,td{padding:6px 12px;text-align:start;white-space:pre;border-block-end:1px solid var(--line)}
tr:last-child td{border-block-end:0}th{font-weight:600}.number{text-align:end}i{color:var(--ink-2)}`

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'cache-control': 'private, no-store',
  vary: 'Accept',
} as const

/** Answers with what a link opens, as a page that needs no script. */
export function sendLinkPage(reply: FastifyReply, page: LinkPage): FastifyReply {
  const { title, description, rowCount, columns, rows, downloads, expiresAt } = page
  const until = expiresAt.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })
  const count = rowCount === undefined ? '' : `${counted(rowCount, 'row')}, `
  const isWhole = rowCount !== undefined && rowCount <= rows.length
  const first = rows.length === 0 || isWhole ? '' : `<p>The first ${counted(rows.length, 'row')}:</p>`
  const links = downloads.map(
    ({ format, url }) => `<li><a href="${escaped(url)}" download>${format}</a></li>`,
  )
  return send(
    reply,
    title,
    `${description && `<p>${escaped(description)}</p>`}
<p>${count}${counted(columns.length, 'column')}. This link works until ${until} UTC.</p>
<ul>${links.join('')}</ul>
${first}
${table(page)}`,
  )
}

/** Answers with why a link opens nothing. */
export function sendLinkError(reply: FastifyReply, message: string): FastifyReply {
  return send(reply, 'This link opens nothing', `<p>${escaped(message)}</p>`)
}

function send(reply: FastifyReply, title: string, body: string): FastifyReply {
  return reply.headers(HEADERS).send(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${body}
</main>
</body>
</html>
`,
  )
}

function table({ columns, rows }: Pick<LinkPage, 'columns' | 'rows'>): string {
  const sides = columns.map(({ type }) => (/^(?:integer|double|decimal)/.test(type) ? ' class="number"' : ''))
  const head = columns.map(({ name }, at) => `<th scope="col"${sides[at]}>${escaped(name)}</th>`).join('')
  const cell = (text: string | null, at: number) =>
    `<td${sides[at]}>${text === null ? '<i>null</i>' : escaped(text)}</td>`
  const body = rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('\n')
  return `<div tabindex="0"><table>
<thead><tr>${head}</tr></thead>
<tbody>
${body}
</tbody>
</table></div>`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)
}
