import type { TokenType } from 'chevrotain'
import {
  Colon,
  Comma,
  LBracket,
  LParen,
  NumberLiteral,
  RBracket,
  RParen,
  TimeLiteral,
  type Token,
} from './tokens.ts'

/**
 * Splits tokens where the lexer took `10:15` in `case(Price gt 10:15, …)` for a time of day. Every argument of case()
 * must have a colon, so where an argument has none, its last time of day is split at its last colon.
 */
export function splitTimesInCase(tokens: readonly Token[]): readonly Token[] {
  if (!tokens.some(({ image }) => image.toLowerCase() === 'case')) return tokens
  const splits = new Set<Token>()
  const open: { readonly isCase: boolean; hasColon: boolean; time: Token | undefined }[] = []
  const endArgument = () => {
    const inner = open.at(-1)
    if (!inner) return
    if (inner.isCase && !inner.hasColon && inner.time) splits.add(inner.time)
    inner.hasColon = false
    inner.time = undefined
  }
  let before: Token | undefined
  for (const token of tokens) {
    const { tokenType } = token
    const inner = open.at(-1)
    if (tokenType === LParen || tokenType === LBracket) {
      open.push({ isCase: before?.image.toLowerCase() === 'case', hasColon: false, time: undefined })
    } else if (tokenType === RParen || tokenType === RBracket) {
      endArgument()
      open.pop()
    } else if (tokenType === Comma) endArgument()
    else if (tokenType === Colon && inner) inner.hasColon = true
    else if ((tokenType === TimeLiteral || tokenType.name === 'malformedTime') && inner) inner.time = token
    before = token
  }
  return splits.size === 0 ? tokens : tokens.flatMap((token) => (splits.has(token) ? parted(token) : [token]))
}

/** `10:15` as `10`, `:`, `15`; `10:15:20` as `10:15`, `:`, `20`. */
function parted(token: Token): readonly Token[] {
  const colon = token.image.lastIndexOf(':')
  const [first, second] = [token.image.slice(0, colon), token.image.slice(colon + 1)]
  if (!/^\d+(?:\.\d+)?$/.test(second)) return [token]
  return [
    piece(token, first.includes(':') ? TimeLiteral : NumberLiteral, 0, colon),
    piece(token, Colon, colon, colon + 1),
    piece(token, NumberLiteral, colon + 1, token.image.length),
  ]
}

function piece(token: Token, tokenType: TokenType, from: number, to: number): Token {
  return {
    ...token,
    image: token.image.slice(from, to),
    startOffset: token.startOffset + from,
    tokenType,
    tokenTypeIdx: tokenType.tokenTypeIdx!,
  }
}
