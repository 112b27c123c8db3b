import { createHash } from 'node:crypto'
import type { JsonSchema } from './describe.ts'

const STYLE = `
:root{color-scheme:light dark;--line:light-dark(#d8dbe0,#3a3f47);--soft:light-dark(#f5f6f8,#1d2025);--link:light-dark(#0b57d0,#8ab4f8)}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem;background:light-dark(#fff,#14161a);color:light-dark(#1b1d21,#e4e6ea)}
a{color:var(--link)}
h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}
code,pre{font:.875em ui-monospace,monospace}
pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:.75rem;overflow:auto}
details{border:1px solid var(--line);border-radius:6px;margin:.5rem 0}
summary{padding:.5rem .75rem;cursor:pointer}
details>div{padding:0 .75rem .75rem}
summary b{display:inline-block;min-width:4.5rem}
.path{overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}
td,th{border-bottom:1px solid var(--line);padding:.25rem .5rem;text-align:left;vertical-align:top}
`

/** What the page may do: use its own style sheet, nothing else. It has no script. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

interface Parameter {
  readonly name: string
  readonly in: string
  readonly description: string
  readonly schema: JsonSchema
  readonly example?: unknown
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, Answer>>
}

/** An answer, or a reference to one. */
interface Answer {
  readonly description?: string
  readonly content?: Readonly<Record<string, Media>>
  readonly $ref?: string
}

interface Media {
  readonly schema: JsonSchema
  readonly example?: unknown
}

/** The OpenAPI document as a page to read, whole in itself. */
export function documentPage(document: JsonSchema): string {
  const { info, tags, paths, components } = document as {
    info: { title: string; version: string; description: string }
    tags: readonly { name: string; description: string }[]
    paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
    components: { schemas: Readonly<Record<string, JsonSchema>>; responses: Readonly<Record<string, Answer>> }
  }
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const sections = tags.map(
    (tag) =>
      `<h2>${html(tag.name)}</h2><p>${html(tag.description)}</p>${operations
        .filter(({ operation }) => operation.tags.includes(tag.name))
        .map(({ path, method, operation }) => operationHtml(path, method, operation))
        .join('')}`,
  )
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<details id="${html(name)}"><summary>${html(name)}</summary><div>${schemaHtml(schema)}</div></details>`,
  )
  const problems = Object.entries(components.responses).map(
    ([name, { description = '' }]) =>
      `<tr id="${html(name)}"><td>${html(name.replace('Error', ''))}</td><td>${prose(description)}</td></tr>`,
  )
  const title = `${html(info.title)} ${html(info.version)}`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${STYLE}</style></head>
<body><h1>${title}</h1>
${info.description
  .split('\n\n')
  .map((text) => `<p>${prose(text)}</p>`)
  .join('')}
<p>Send your API key as the user name of Basic authentication with an empty password (<code>curl -u "$KEY:" …</code>),
or as the query parameter <code>apiKey</code>. The same as a document for programs: <a href="openapi.json">openapi.json</a>.</p>
${sections.join('')}
<h2>Errors</h2><table>${problems.join('')}</table>
<h2>Records</h2>${schemas.join('')}
</body></html>
`
}

function operationHtml(path: string, method: string, operation: Operation): string {
  const parameters = operation.parameters.map(
    ({ name, in: place, description, schema, example }) =>
      `<tr><td><code>${html(name)}</code></td><td>${html(place)}</td><td>${html(typeText(schema))}</td>` +
      `<td>${prose(description)}${example === undefined ? '' : ` <code>${html(String(example))}</code>`}</td></tr>`,
  )
  const answers = Object.entries(operation.responses)
  const expected = answers.flatMap(([status, { description, content }]) =>
    description === undefined
      ? []
      : [`<tr><td>${html(status)}</td><td>${prose(description)}${mediaHtml(content)}</td></tr>`],
  )
  const problems = answers.flatMap(([status, { $ref }]) =>
    $ref === undefined ? [] : [`<a href="#Error${html(status)}">${html(status)}</a>`],
  )
  return (
    `<details id="${html(operation.operationId)}"><summary><b>${method}</b> <code class="path">${html(path)}</code>` +
    ` – ${html(operation.summary)}</summary><div>` +
    (operation.description ? `<p>${prose(operation.description)}</p>` : '') +
    (parameters.length > 0
      ? `<h3>Parameters</h3><table><tr><th>Name</th><th>In</th><th>Type</th><th>Meaning</th></tr>${parameters.join('')}</table>`
      : '') +
    (operation.requestBody ? `<h3>Body</h3>${mediaHtml(operation.requestBody.content)}` : '') +
    `<h3>Answers</h3><table>${expected.join('')}</table><p>Errors: ${problems.join(', ')}</p></div></details>`
  )
}

function mediaHtml(content: Readonly<Record<string, Media>> | undefined): string {
  return Object.entries(content ?? {})
    .map(([type, { schema, example }]) => {
      const sample = example === undefined ? '' : `<pre>${html(JSON.stringify(example, null, 2))}</pre>`
      return `<p><code>${html(type)}</code></p>${schema['type'] === 'string' ? '' : schemaHtml(schema)}${sample}`
    })
    .join('')
}

function schemaHtml(schema: JsonSchema): string {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>
  const required = (schema['required'] ?? []) as readonly string[]
  const rows = Object.entries(properties).map(
    ([name, property]) =>
      `<tr><td><code>${html(name)}</code>${required.includes(name) ? '' : '?'}</td><td>${typeHtml(property)}</td>` +
      `<td>${prose(String(property['description'] ?? ''))}</td></tr>`,
  )
  return rows.length > 0 ? `<table>${rows.join('')}</table>` : `<p>${typeHtml(schema)}</p>`
}

function typeHtml(schema: JsonSchema): string {
  const text = html(typeText(schema))
  return text.replace(/#(\w+)/g, '<a href="#$1">$1</a>')
}

function typeText(schema: JsonSchema): string {
  if (typeof schema['$ref'] === 'string') return `#${schema['$ref'].split('/').at(-1)}`
  if (Array.isArray(schema['oneOf']))
    return schema['oneOf'].map((one) => typeText(one as JsonSchema)).join(' or ')
  if (schema['if'])
    return `${typeText(schema['then'] as JsonSchema)} or ${typeText(schema['else'] as JsonSchema)}`
  if (Array.isArray(schema['enum'])) return schema['enum'].join(', ')
  if (schema['type'] === 'array') return `list of ${typeText((schema['items'] ?? {}) as JsonSchema)}`
  const fields = schema['properties'] ? ` {${Object.keys(schema['properties'] as object).join(', ')}}` : ''
  return `${[schema['type'] ?? 'anything'].flat().join(' or ')}${fields}`
}

/** Text in which backticks mark code. */
function prose(text: string): string {
  return html(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

function html(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
