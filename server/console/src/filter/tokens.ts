import { operatorTable } from '../../../../engine/filter/tables/operators.ts'

/**
 * The tokens of a filter, for colouring and completion. Only the server validates filters; here every text has tokens,
 * also a malformed one.
 */
export type TokenKind = 'string' | 'name' | 'literal' | 'operator' | 'function' | 'punctuation' | 'unknown'

export interface Token {
  readonly kind: TokenKind
  readonly text: string
  /** Offset of the first character; `end` is exclusive. */
  readonly start: number
  readonly end: number
}

/** The names of all operators but the minus sign, and of one that filters don't have. */
const OPERATORS = [...operatorTable.map(({ name }) => name).filter((name) => name !== '-'), 'has']
const CONSTANTS = ['null', 'true', 'false', 'NaN', 'INF']
/** Names that mean something else where they are not quoted. */
export const RESERVED = new RegExp(`^(?:${[...OPERATORS, ...CONSTANTS].join('|')})$`, 'i')

const WORD = '[\\p{L}_][\\p{L}\\p{N}_]*'
const HEX = '[0-9a-fA-F]'
/** The names of the groups are the kinds of tokens; `n` and `l` are further forms of names and literals. */
const PATTERN = new RegExp(
  [
    "(?<string>(?:duration|binary)?'(?:[^']|'')*'?)",
    '(?<n>"(?:[^"]|"")*"?)',
    `(?<l>${HEX}{8}-(?:${HEX}{4}-){3}${HEX}{12}|-?\\d[\\w:.+-]*)`,
    `(?<operator>(?:${OPERATORS.join('|')})(?![\\p{L}\\p{N}_]))`,
    `(?<literal>(?:${CONSTANTS.join('|')})(?![\\p{L}\\p{N}_]))`,
    `(?<function>${WORD}(?=\\())`,
    `(?<name>${WORD})`,
    '(?<punctuation>[(),])',
    '(?<unknown>\\S)',
  ].join('|'),
  'gsu',
)

export function tokenize(text: string): Token[] {
  return [...text.matchAll(PATTERN)].map((match) => {
    const [[group]] = Object.entries(match.groups!).filter(([, found]) => found !== undefined) as [
      [string, string],
    ]
    const kind = ({ n: 'name', l: 'literal' } as const)[group] ?? (group as TokenKind)
    return { kind, text: match[0], start: match.index, end: match.index + match[0].length }
  })
}
