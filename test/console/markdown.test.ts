import type { VNode } from 'preact'
import { expect, it } from 'vitest'
import { Markdown } from '../../server/console/src/dataset/markdown.ts'

/** What a browser would show, as HTML without escapes: text is text, and is in ⟦brackets⟧. */
function shown(node: unknown): string {
  if (Array.isArray(node)) return node.map(shown).join('')
  if (node === null || node === undefined) return ''
  if (typeof node !== 'object') return `⟦${node}⟧`
  const { type, props } = node as VNode<Record<string, unknown>>
  if (typeof type === 'function') return shown((type as (props: unknown) => unknown)(props))
  const { children, href } = props
  return `<${type}${href === undefined ? '' : ` href=${href}`}>${shown(children)}</${type}>`
}

const html = (text: string) =>
  shown(Markdown({ text }))
    .replace(/^<div>|<\/div>$/g, '')
    .replaceAll('⟧⟦', '')

it('shows Markdown', () => {
  expect(html('# Prices\n\nIn **euros** & `a<b`.')).toBe(
    '<h2>⟦Prices⟧</h2><p>⟦In ⟧<strong>⟦euros⟧</strong>⟦ & ⟧<code>⟦a<b⟧</code>⟦.⟧</p>',
  )
  expect(html('- one\n- *two*')).toBe('<ul><li>⟦one⟧</li><li><em>⟦two⟧</em></li></ul>')
  expect(html('| a |\n|---|\n| 1 |')).toContain('<td>⟦1⟧</td>')
  expect(html('[more](https://example.org/a?b=1&c) or <mail@example.org>')).toBe(
    '<p><a href=https://example.org/a?b=1&c>⟦more⟧</a>⟦ or ⟧<a href=mailto:mail@example.org>⟦mail@example.org⟧</a></p>',
  )
})

it.each([
  ['<script>alert(1)</script>', '⟦<script>alert(1)</script>⟧'],
  ['a <img src=x onerror=alert(1)> b', '<p>⟦a <img src=x onerror=alert(1)> b⟧</p>'],
  ['[a](javascript:alert(1))', '<p>⟦a⟧</p>'],
  ['[a](JaVaScRiPt&colon;alert(1))', '<p>⟦a⟧</p>'],
  ['[a](data:text/html,x)', '<p>⟦a⟧</p>'],
  ['[a](//example.org)', '<p>⟦a⟧</p>'],
  ['![a](https://example.org/x.png)', '<p><a href=https://example.org/x.png>⟦a⟧</a></p>'],
  ['![a](javascript:alert(1))', '<p>⟦a⟧</p>'],
])('makes no element of HTML, and no link that does anything: %s', (text, expected) => {
  expect(html(text)).toBe(expected)
})

it('shows what is nested too deeply as it was typed', () => {
  for (const text of ['> '.repeat(5_000), `${'- '.repeat(200)}x`, `${'*'.repeat(5_000)}x`]) {
    expect(html(`${text}x`)).toContain('x')
  }
})
