import type { Column } from '../../../client/index.ts'
import { type Token, tokenize } from './tokens.ts'
import { type Family, familyOf, filterLiteral, filterName, stringLiteral } from './types.ts'

/** One line of the filter form. */
export interface Condition {
  readonly column: string
  readonly operator: OperatorName
  /** As the user types it, without quotes. */
  readonly value: string
}

export interface Conditions {
  readonly join: 'and' | 'or'
  readonly list: readonly Condition[]
}

export type OperatorName =
  | 'eq'
  | 'ne'
  | 'gt'
  | 'ge'
  | 'lt'
  | 'le'
  | 'contains'
  | 'startswith'
  | 'endswith'
  | 'empty'
  | 'present'

const LABELS: Readonly<Record<OperatorName, string>> = {
  eq: 'is',
  ne: 'is not',
  gt: 'is more than',
  ge: 'is at least',
  lt: 'is less than',
  le: 'is at most',
  contains: 'contains',
  startswith: 'begins with',
  endswith: 'ends with',
  empty: 'has no value',
  present: 'has a value',
}

const TEMPORAL_LABELS: Readonly<Partial<Record<OperatorName, string>>> = {
  gt: 'is after',
  ge: 'is on or after',
  lt: 'is before',
  le: 'is on or before',
}

/** The operators for a column type, with their labels. */
export function operatorsFor(type: string): readonly { name: OperatorName; label: string }[] {
  const family = familyOf(type)
  const temporal = family === 'date' || family === 'timestamp' || family === 'time'
  return namesFor(family).map((name) => ({
    name,
    label: (temporal ? TEMPORAL_LABELS[name] : undefined) ?? LABELS[name],
  }))
}

function namesFor(family: Family): readonly OperatorName[] {
  switch (family) {
    case 'text':
      return ['eq', 'ne', 'contains', 'startswith', 'endswith', 'empty', 'present']
    case 'number':
    case 'date':
    case 'timestamp':
    case 'time':
      return ['eq', 'ne', 'gt', 'ge', 'lt', 'le', 'empty', 'present']
    case 'boolean':
      return ['eq', 'ne', 'empty', 'present']
    case 'other':
      return ['eq', 'ne', 'empty', 'present']
    default:
      return family satisfies never
  }
}

export function takesValue(operator: OperatorName): boolean {
  return operator !== 'empty' && operator !== 'present'
}

/** Writes conditions as filter text, without those that have no value yet. */
export function writeConditions(conditions: Conditions, columns: readonly Column[]): string {
  const types = new Map(columns.map((column) => [column.name, column.type]))
  return conditions.list
    .filter((condition) => !takesValue(condition.operator) || condition.value !== '')
    .map((condition) => writeCondition(condition, types.get(condition.column) ?? 'string'))
    .join(` ${conditions.join} `)
}

export function writeCondition(condition: Condition, type: string): string {
  const name = filterName(condition.column)
  switch (condition.operator) {
    case 'empty':
      return `${name} eq null`
    case 'present':
      return `${name} ne null`
    case 'contains':
    case 'startswith':
    case 'endswith':
      return `${condition.operator}(${name},${stringLiteral(condition.value)})`
    default:
      return `${name} ${condition.operator} ${filterLiteral(condition.value, type)}`
  }
}

/** Parses filter text into conditions; undefined if the form can't express it. */
export function readConditions(text: string, columns: readonly Column[]): Conditions | undefined {
  const tokens = tokenize(text)
  const list: Condition[] = []
  let join: 'and' | 'or' | undefined
  let at = 0
  while (at < tokens.length) {
    if (list.length > 0) {
      const word = tokens[at]!.text
      if ((word !== 'and' && word !== 'or') || (join !== undefined && join !== word)) return undefined
      join = word
      at += 1
    }
    const read = readComparison(tokens, at, columns) ?? readCall(tokens, at, columns)
    if (!read) return undefined
    list.push(read.condition)
    at = read.next
  }
  return { join: join ?? 'and', list }
}

interface Read {
  readonly condition: Condition
  readonly next: number
}

function readComparison(tokens: readonly Token[], at: number, columns: readonly Column[]): Read | undefined {
  const column = columnNamed(tokens[at], columns)
  const operator = tokens[at + 1]?.text
  const literal = tokens[at + 2]
  if (!column || !literal || !isComparison(operator)) return undefined
  const next = at + 3
  if (literal.text === 'null') {
    if (operator === 'eq') return { condition: { column, operator: 'empty', value: '' }, next }
    if (operator === 'ne') return { condition: { column, operator: 'present', value: '' }, next }
    return undefined
  }
  const value = literalValue(literal)
  return value === undefined ? undefined : { condition: { column, operator, value }, next }
}

function readCall(tokens: readonly Token[], at: number, columns: readonly Column[]): Read | undefined {
  const operator = tokens[at]?.text
  if (operator !== 'contains' && operator !== 'startswith' && operator !== 'endswith') return undefined
  const column = columnNamed(tokens[at + 2], columns)
  const value = tokens[at + 4] && literalValue(tokens[at + 4]!)
  const shaped = tokens[at + 1]?.text === '(' && tokens[at + 3]?.text === ',' && tokens[at + 5]?.text === ')'
  if (!shaped || !column || value === undefined) return undefined
  return { condition: { column, operator, value }, next: at + 6 }
}

function isComparison(word: string | undefined): word is 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le' {
  return word !== undefined && /^(?:eq|ne|gt|ge|lt|le)$/.test(word)
}

function columnNamed(token: Token | undefined, columns: readonly Column[]): string | undefined {
  if (token?.kind !== 'name') return undefined
  return columns.find((column) => filterName(column.name) === token.text)?.name
}

function literalValue(token: Token): string | undefined {
  if (token.kind === 'literal') return token.text
  if (token.kind === 'string' && token.text.startsWith("'") && token.text.endsWith("'")) {
    return token.text.slice(1, -1).replaceAll("''", "'")
  }
  return undefined
}
