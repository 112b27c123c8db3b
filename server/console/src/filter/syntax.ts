import { operatorTable } from '../../../../engine/filter/tables/operators.ts'
import { quoteIdentifier, quoteLiteral, type TypeName } from '../../../../engine/types/index.ts'
import type { Column, Profile } from '../../../client/index.ts'

/**
 * The tokens of a filter, for colouring and completion. Only the server validates filters; here every text has tokens,
 * also a malformed one.
 */
type TokenKind = 'string' | 'name' | 'literal' | 'operator' | 'function' | 'punctuation' | 'unknown'

export interface Token {
  readonly kind: TokenKind
  readonly text: string
  /** Offset of the first character; `end` is exclusive. */
  readonly start: number
  readonly end: number
}

/** The names of all operators but the minus sign, and of one that filters don't have. */
const OPERATORS = [...operatorTable.map(({ name }) => name).filter((name) => name !== '-'), 'has']
const CONSTANTS = ['null', 'true', 'false', 'NaN', '-?INF']
/** Names that mean something else where they are not quoted. */
const RESERVED = new RegExp(`^(?:${[...OPERATORS, ...CONSTANTS].join('|')})$`, 'i')

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

export type ColumnProfile = Profile['columns'][number]
/** By the names of the columns. */
export type Profiles = ReadonlyMap<string, ColumnProfile>

/** A group of column types that have the same operators. */
type Family = 'text' | 'number' | 'boolean' | 'date' | 'timestamp' | 'time' | 'other'

const FAMILIES: Readonly<Partial<Record<TypeName, Family>>> = {
  boolean: 'boolean',
  integer: 'number',
  double: 'number',
  decimal: 'number',
  string: 'text',
  date: 'date',
  time: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamp',
}

export function familyOf(type: string): Family {
  return FAMILIES[type.replace(/\(.*/, '') as TypeName] ?? 'other'
}

export function typeOf(columns: readonly Column[], name: string): string {
  return columns.find((column) => column.name === name)?.type ?? 'string'
}

/** Whether values of the type have positions on an axis. */
export function isOrdered(type: string): boolean {
  const family = familyOf(type)
  return family === 'number' || family === 'date' || family === 'timestamp'
}

/** A column name as written in a filter, quoted if needed. */
export function filterName(name: string): string {
  const plain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !RESERVED.test(name)
  return plain ? name : quoteIdentifier(name)
}

/** What is a literal as it is. */
const LITERALS: Readonly<Partial<Record<string, RegExp>>> = {
  number: /^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|-?INF)$/,
  boolean: /^(?:true|false)$/i,
  date: /^\d{4}-\d{2}-\d{2}$/,
  timestamp: /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/,
  time: /^\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/,
  uuid: /^[0-9a-f-]{36}$/i,
}

/** A literal of the column's type. `value` is text as the server writes it or as a user types it. */
export function filterLiteral(value: string, type: string): string {
  const text = value.trim()
  const family = familyOf(type)
  const match = LITERALS[type === 'uuid' ? type : family]?.exec(text)
  if (!match) return quoteLiteral(value)
  if (family === 'number') return numberLiteral(text)
  if (family === 'boolean') return text.toLowerCase()
  const [, date, minutes, seconds = ':00', zone = type === 'timestamptz' ? 'Z' : ''] = match
  return minutes === undefined ? text : `${date}T${minutes}${seconds}${zone}`
}

/** A comparison of a column with a value of it, which may be null. */
export function comparison(
  column: Readonly<Record<'name' | 'type', string>>,
  operator: string,
  value: unknown,
) {
  const name = filterName(column.name)
  // NaN equals nothing, not even itself.
  if (value === 'NaN' && column.type === 'double' && (operator === 'eq' || operator === 'ne'))
    return `${name} ${operator === 'eq' ? 'ne' : 'eq'} ${name}`
  return `${name} ${operator} ${value === null ? 'null' : filterLiteral(String(value), column.type)}`
}

/** OData requires digits on both sides of a decimal point, and allows no plus sign. */
function numberLiteral(text: string): string {
  return text
    .replace(/^\+/, '')
    .replace(/^(-?)\./, '$10.')
    .replace(/\.(?=e|$)/i, '')
}
