import type { Expression } from '../check/expression.ts'
import { literal } from '../check/expression.ts'
import { TYPE } from '../check/value-types.ts'
import { daysOf } from '../syntax/calendar.ts'
import { FIRST_DAY, LAST_DAY } from '../syntax/literals.ts'
import type { ComparisonOperator } from '../syntax/tree.ts'
import { type Narrowed, narrow } from './narrow.ts'

type Comparison = Extract<Expression, { kind: 'comparison' }>
type Operator = Exclude<ComparisonOperator, 'ne'>

/**
 * Rewrites `year(Day) eq 2024` as `Day ge 2024-01-01 and Day lt 2025-01-01`. That keeps the same rows, but lets DuckDB
 * skip row groups. Undefined unless year() or date() of a column is compared with a literal.
 */
export function asRange(node: Comparison): readonly Comparison[] | undefined {
  const { left, right, operator } = node
  if (left.kind !== 'call' || right.kind !== 'literal' || operator === 'ne') return undefined
  if (right.value.kind === 'null') return undefined
  const [column] = left.args
  const starts = STARTS[left.name]
  if (!starts || column?.kind !== 'column') return undefined
  const narrowed = narrow(operator, right.value, left.type)
  const bounds = narrowed.kind === 'compare' ? boundsOf(narrowed) : undefined
  const days = bounds?.map(([, unit]) => starts(unit))
  if (!bounds || !days?.every((day) => day >= FIRST_DAY && day <= LAST_DAY)) return undefined
  return bounds.map(([bound], index) => ({
    kind: 'comparison',
    operator: bound,
    left: column,
    right: literal({ kind: 'date', days: days[index]! }, right.at, TYPE.date),
    type: node.type,
    at: node.at,
  }))
}

/** By the name of a function: the first day of the year, or the day itself, that the function returned. */
const STARTS: Readonly<Record<string, ((unit: number) => number) | undefined>> = {
  date: (day) => day,
  year: (year) => daysOf(year, 1, 1),
}

/** Bounds on the day in place of a comparison of years or days: each bound names the unit whose first day it means. */
function boundsOf({ operator, key }: Extract<Narrowed, { kind: 'compare' }>): readonly [Operator, number][] {
  const unit = Number(key)
  switch (operator) {
    case 'eq':
      return [
        ['ge', unit],
        ['lt', unit + 1],
      ]
    case 'gt':
      return [['ge', unit + 1]]
    case 'ge':
      return [['ge', unit]]
    case 'lt':
      return [['lt', unit]]
    case 'le':
      return [['lt', unit + 1]]
    default:
      return operator satisfies never
  }
}
