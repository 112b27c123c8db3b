import { lexer, type Token, type Tokens } from 'marked'
import { type ComponentChildren, h } from 'preact'

/** Deeper lists and quotes are shown as they were typed. */
const DEEPEST = 12

/**
 * Markdown as elements of the page. No HTML is ever made of its text: tags in it are shown as text, links lead only to
 * addresses of the web and of mail, and pictures are links, because they would tell their hosts who reads this.
 */
export function Markdown({ text }: { readonly text: string }) {
  return h('div', { class: 'markdown' }, all(tokensOf(text), 0))
}

function tokensOf(text: string): readonly Token[] {
  try {
    return lexer(text)
  } catch {
    // Thousands of quotes within each other are more than the parser takes.
    return [{ type: 'paragraph', raw: text, text, tokens: [{ type: 'text', raw: text, text }] }]
  }
}

function all(tokens: readonly Token[] = [], depth: number): ComponentChildren {
  return tokens.map((token) => one(token, depth))
}

function one(token: Token, depth: number): ComponentChildren {
  if (depth > DEEPEST) return token.raw
  const inside = 'tokens' in token && token.tokens ? all(token.tokens, depth + 1) : undefined
  // The parser types tokens of extensions as well, of which nothing is known.
  const { type, text = '', href = '' } = token as Tokens.Generic
  switch (type) {
    case 'heading':
      return h(`h${Math.min((token as Tokens.Heading).depth + 1, 6)}`, {}, inside)
    case 'paragraph':
      return h('p', {}, inside)
    case 'strong':
    case 'em':
    case 'del':
    case 'blockquote':
    case 'br':
    case 'hr':
      return h(type, {}, inside)
    case 'list': {
      const { ordered, items } = token as Tokens.List
      return h(ordered ? 'ol' : 'ul', {}, all(items, depth))
    }
    case 'list_item':
      return h('li', {}, inside)
    case 'code':
      return h('pre', {}, h('code', {}, plain(text)))
    case 'codespan':
      return h('code', {}, plain(text))
    case 'table':
      return table(token as Tokens.Table, depth)
    case 'link':
      return link(href, inside)
    case 'image':
      return link(href, plain(text) || 'picture')
    case 'space':
    case 'def':
      return null
    case 'escape':
    case 'text':
      return inside ?? plain(text)
    default:
      return token.raw
  }
}

function table({ header, rows }: Tokens.Table, depth: number): ComponentChildren {
  const line = (cells: readonly Tokens.TableCell[], kind: 'th' | 'td') =>
    h(
      'tr',
      {},
      cells.map(({ tokens }) => h(kind, {}, all(tokens, depth + 1))),
    )
  const body = rows.map((cells) => line(cells, 'td'))
  return h('table', {}, h('thead', {}, line(header, 'th')), h('tbody', {}, body))
}

function link(href: string, inside: ComponentChildren): ComponentChildren {
  if (!/^(https?:\/\/|mailto:)/i.test(href)) return inside
  return h('a', { href, rel: 'noopener noreferrer nofollow' }, inside)
}

const NAMED = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" } as const

/** Text as it was typed: the parser has written it for HTML. */
function plain(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: keyof typeof NAMED) => NAMED[name])
}
