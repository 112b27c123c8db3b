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

/** The tokens that the parser gives; it types others as well, of which nothing is known. */
type Known =
  | Tokens.Heading
  | Tokens.Paragraph
  | Tokens.Strong
  | Tokens.Em
  | Tokens.Del
  | Tokens.Blockquote
  | Tokens.List
  | Tokens.ListItem
  | Tokens.Code
  | Tokens.Codespan
  | Tokens.Table
  | Tokens.Link
  | Tokens.Image
  | Tokens.Br
  | Tokens.Hr
  | Tokens.Space
  | Tokens.Def
  | Tokens.Escape
  | Tokens.Text

function one(given: Token, depth: number): ComponentChildren {
  if (depth > DEEPEST) return given.raw
  const token = given as Known
  const inside = 'tokens' in token ? all(token.tokens, depth + 1) : undefined
  switch (token.type) {
    case 'heading':
      return h(`h${Math.min(token.depth + 1, 6)}`, {}, inside)
    case 'paragraph':
      return h('p', {}, inside)
    case 'strong':
    case 'em':
    case 'del':
    case 'blockquote':
      return h(token.type, {}, inside)
    case 'list':
      return h(token.ordered ? 'ol' : 'ul', {}, all(token.items, depth))
    case 'list_item':
      return h('li', {}, inside)
    case 'code':
      return h('pre', {}, h('code', {}, plain(token.text)))
    case 'codespan':
      return h('code', {}, plain(token.text))
    case 'table':
      return table(token, depth)
    case 'link':
      return link(token.href, inside)
    case 'image':
      return link(token.href, plain(token.text) || 'picture')
    case 'br':
    case 'hr':
      return h(token.type, {})
    case 'space':
    case 'def':
      return null
    case 'escape':
      return plain(token.text)
    case 'text':
      return inside ?? plain(token.text)
    default:
      return given.raw
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
