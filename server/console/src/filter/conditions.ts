import { quoteLiteral } from '../../../../engine/types/index.ts'
import type { Column } from '../../../client/index.ts'
import { type ColumnProfile, comparison, familyOf, filterName, type Profiles, typeOf } from './syntax.ts'

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

const LABELS = {
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
} as const
type OperatorName = keyof typeof LABELS

/** The operators of types whose values have an order, as they are called for times. */
const TEMPORAL_LABELS = {
  gt: 'is after',
  ge: 'is on or after',
  lt: 'is before',
  le: 'is on or before',
}
const TEXTS: readonly OperatorName[] = ['contains', 'startswith', 'endswith']

export function operatorsFor(type: string): (readonly [OperatorName, string])[] {
  const family = familyOf(type)
  const isText = family === 'text'
  const unordered = isText || family === 'boolean' || family === 'other'
  const labels = unordered || family === 'number' ? LABELS : { ...LABELS, ...TEMPORAL_LABELS }
  return (Object.keys(LABELS) as OperatorName[])
    .filter((name) => (isText || !TEXTS.includes(name)) && !(unordered && name in TEMPORAL_LABELS))
    .map((name) => [name, labels[name]] as const)
}

export function takesValue(operator: OperatorName): boolean {
  return operator !== 'empty' && operator !== 'present'
}

/** Writes conditions as filter text, without those that have no value yet. */
export function writeConditions(conditions: Conditions, columns: readonly Column[]): string {
  return conditions.list
    .filter((condition) => !takesValue(condition.operator) || condition.value !== '')
    .map(({ column: name, operator, value }) => {
      if (TEXTS.includes(operator)) return `${operator}(${filterName(name)},${quoteLiteral(value)})`
      const column = { name, type: typeOf(columns, name) }
      if (takesValue(operator)) return comparison(column, operator, value)
      return comparison(column, operator === 'empty' ? 'eq' : 'ne', null)
    })
    .join(` ${conditions.join} `)
}

const NAME = String.raw`("(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_]*)`
const TEXT = "'(?:[^']|'')*'"
const OTHER = String.raw`null|true|false|NaN|-?INF|-?\d[\w:.+-]*|[\da-fA-F]{8}-[\da-fA-F-]{27}`
const CONDITION = new RegExp(
  String.raw`\s*(?:(contains|startswith|endswith)\(${NAME}\s*,\s*(${TEXT})\)|${NAME}\s+(eq|ne|gt|ge|lt|le)\s+(${TEXT}|${OTHER}))(?![\w.])\s*(?:$|\b(and|or)\b(?=.))`,
  'suy',
)

/** Parses filter text into conditions; undefined if the form can't express it. */
export function readConditions(text: string, columns: readonly Column[]): Conditions | undefined {
  const list: Condition[] = []
  const joins = new Set<string>()
  CONDITION.lastIndex = 0
  for (let at = 0; text.trim() !== '' && at < text.length; at = CONDITION.lastIndex) {
    const [, call, argument, part, name = argument, comparison, literal = part, join] =
      CONDITION.exec(text) ?? []
    const column = columns.find((one) => filterName(one.name) === name)?.name
    const condition =
      column !== undefined && literal !== undefined && conditionOf(column, call ?? comparison!, literal)
    if (!condition) return undefined
    list.push(condition)
    if (join) joins.add(join)
  }
  return joins.size > 1 ? undefined : { join: joins.has('or') ? 'or' : 'and', list }
}

function conditionOf(column: string, operator: string, literal: string): Condition | undefined {
  if (literal === 'null') {
    if (operator !== 'eq' && operator !== 'ne') return undefined
    return { column, operator: operator === 'eq' ? 'empty' : 'present', value: '' }
  }
  const value = literal.startsWith("'") ? literal.slice(1, -1).replaceAll("''", "'") : literal
  return { column, operator: operator as OperatorName, value }
}

/** An example of a filter that matches some rows; undefined if no column is suitable. */
export function exampleFilter(profiles: Profiles): string | undefined {
  const usable = [...profiles.values()].filter((one) => exampleValue(one, 'ge') !== undefined)
  // Prefer a filter that doesn't match all rows.
  const chosen =
    usable.find(({ histogram, mean }) => histogram && mean !== undefined) ??
    usable.find(({ distinct }) => distinct && distinct.value > 1) ??
    usable[0]
  if (!chosen) return undefined
  const operator = chosen.histogram ? 'ge' : 'eq'
  return comparison(chosen, operator, exampleValue(chosen, operator)!)
}

/** A value, as a user would type it, for which a comparison is true for some rows. */
export function exampleValue({ histogram, top, max }: ColumnProfile, operator: string): string | undefined {
  const middle = histogram?.[Math.floor(histogram.length / 2)]?.from
  if (operator !== 'eq' && operator !== 'ne' && middle !== undefined) {
    return String(typeof middle === 'number' ? shortened(middle) : middle)
  }
  const value = top?.[0]?.value ?? max
  return value === undefined ? undefined : String(value)
}

/** Rounds a number down to two significant digits. */
function shortened(value: number): number {
  if (value === 0) return value
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(value))) - 1)
  return Number((Math.floor(value / unit) * unit).toPrecision(12))
}
