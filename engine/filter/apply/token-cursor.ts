import { excerpt, invalid } from '../errors.ts'
import { Comma, LBracket, LParen, QuotedName, RBracket, RParen, type Token, Word } from '../syntax/tokens.ts'

/** A name, without its quotes, and its position. */
export interface Name {
  readonly name: string
  readonly at: number
}

/** Walks over the tokens of `$apply`, `$compute` or `$orderby`, and cuts out those of one expression at a time. */
export class Cursor {
  readonly text: string
  readonly #tokens: readonly Token[]
  #next = 0

  constructor(text: string, tokens: readonly Token[]) {
    this.text = text
    this.#tokens = tokens
  }

  /** A position to which `reset` can return. */
  get position(): number {
    return this.#next
  }

  reset(position: number): void {
    this.#next = position
  }

  get token(): Token | undefined {
    return this.#tokens[this.#next]
  }

  /** The offset of the next token, or the end of the text after the last one. */
  get at(): number {
    return this.token?.startOffset ?? this.text.length
  }

  takes(type: Token['tokenType']): boolean {
    if (this.token?.tokenType !== type) return false
    this.#next++
    return true
  }

  expect(type: Token['tokenType'], what: string): void {
    if (!this.takes(type)) throw this.unexpected(what)
  }

  unexpected(expected: string): Error {
    const found = this.token ? `found ${quoted(this.token)}` : 'the text ends'
    return invalid(this.at, `${found}, where ${expected} is expected.`)
  }

  name(what: string): Name {
    const token = this.token
    if (!token || !isName(token)) throw this.unexpected(what)
    this.#next++
    return nameOf(token)
  }

  /** The tokens up to the next comma or closing parenthesis outside of parentheses that open here. At least one. */
  item(what: string): readonly Token[] {
    const start = this.#next
    let depth = 0
    for (; this.#next < this.#tokens.length; this.#next++) {
      const { tokenType } = this.#tokens[this.#next]!
      if (depth === 0 && (tokenType === Comma || tokenType === RParen)) break
      if (tokenType === LParen || tokenType === LBracket) depth++
      else if (tokenType === RParen || tokenType === RBracket) depth--
    }
    const tokens = this.#tokens.slice(start, this.#next)
    if (tokens.length === 0) throw this.unexpected(what)
    return tokens
  }

  /** Reads items that are separated by commas. */
  list<T>(read: () => T): readonly T[] {
    const items = [read()]
    while (this.takes(Comma)) items.push(read())
    return items
  }
}

export function quoted({ image }: Token): string {
  return /^['"]/.test(image) ? excerpt(image) : `'${excerpt(image)}'`
}

export function isName(token: Token): boolean {
  return (
    token.tokenType === Word || token.tokenType === QuotedName || !!token.tokenType.CATEGORIES?.includes(Word)
  )
}

export function isWord(token: Token | undefined, word: string): boolean {
  return token !== undefined && token.tokenType !== QuotedName && token.image.toLowerCase() === word
}

export function nameOf(token: Token): Name {
  const name = token.tokenType === QuotedName ? token.image.slice(1, -1).replaceAll('""', '"') : token.image
  if (name === '') throw invalid(token.startOffset, 'the quoted name is empty.')
  return { name, at: token.startOffset }
}
