/**
 * The tokens of a filter, for colouring and completion. Only the server validates filters; here every text has tokens,
 * also a malformed one.
 */
export type TokenKind = 'name' | 'operator' | 'function' | 'literal' | 'string' | 'punctuation' | 'unknown'

export interface Token {
  readonly kind: TokenKind
  readonly text: string
  /** Offset of the first character; `end` is exclusive. */
  readonly start: number
  readonly end: number
}

export const COMPARISONS = ['eq', 'ne', 'gt', 'ge', 'lt', 'le', 'in'] as const
export const CONNECTIVES = ['and', 'or'] as const
const OPERATORS = new Set<string>([
  ...COMPARISONS,
  ...CONNECTIVES,
  'not',
  'add',
  'sub',
  'mul',
  'div',
  'divby',
  'mod',
  'has',
])
const WORD_LITERALS = new Set(['null', 'true', 'false', 'NaN', 'INF'])

const PATTERN = new RegExp(
  [
    "(?<string>(?:duration|binary)?'(?:[^']|'')*'?)",
    '(?<quoted>"(?:[^"]|"")*"?)',
    '(?<guid>[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})',
    '(?<number>-?\\d[\\w:.+-]*)',
    '(?<word>[\\p{L}_][\\p{L}\\p{N}_]*)',
    '(?<punctuation>[(),])',
    '(?<blank>\\s+)',
    '(?<unknown>.)',
  ].join('|'),
  'gsu',
)

export function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  for (const match of text.matchAll(PATTERN)) {
    const groups = match.groups!
    if (groups['blank'] !== undefined) continue
    const end = match.index + match[0].length
    tokens.push({ kind: kindOf(groups, match[0], text, end), text: match[0], start: match.index, end })
  }
  return tokens
}

function kindOf(
  groups: Readonly<Record<string, string | undefined>>,
  word: string,
  text: string,
  end: number,
): TokenKind {
  if (groups['string'] !== undefined) return 'string'
  if (groups['quoted'] !== undefined) return 'name'
  if (groups['guid'] !== undefined || groups['number'] !== undefined) return 'literal'
  if (groups['punctuation'] !== undefined) return 'punctuation'
  if (groups['word'] === undefined) return 'unknown'
  if (OPERATORS.has(word)) return 'operator'
  if (WORD_LITERALS.has(word)) return 'literal'
  return text[end] === '(' ? 'function' : 'name'
}
