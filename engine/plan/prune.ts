import { type Expression, literalOf } from '../filter/check/expression.ts'
import type { SortKey, SqlColumn } from '../filter/index.ts'
import { asRange } from '../filter/sql/comparisons.ts'
import { byKey, type Keyed, keyText, type NonNull, narrow, type Operator } from '../filter/sql/narrow.ts'
import { type LiteralValue, type ValueType, valueType } from '../filter/values.ts'
import {
  type ColumnBounds,
  type ColumnType,
  type PartStatistics,
  quoteLiteral,
  sqlType,
} from '../types/index.ts'
import type { Window } from './options.ts'

/** What is known about the rows of a part. */
export interface PartFacts {
  readonly rows: number
  /** null if there are none. */
  readonly statistics: PartStatistics | null
}

/**
 * Whether a part may hold rows that a filter keeps: false only if its statistics show that there are none. This
 * understands conditions on a column and literals, joined by `and` and `or`; it assumes that every other may hold.
 */
export function mayMatch(filter: Expression, part: PartFacts): boolean {
  if (part.statistics === null) return true
  switch (filter.kind) {
    case 'logical':
      return filter.operator === 'and'
        ? filter.operands.every((operand) => mayMatch(operand, part))
        : filter.operands.some((operand) => mayMatch(operand, part))
    case 'comparison':
      return comparisonMayHold(filter, part)
    case 'in': {
      const bounds = boundsOf(filter.operand, part)
      return !bounds || filter.items.some((item) => mayEqual(item, filter.operand.type, bounds, part))
    }
    case 'call':
      return filter.name !== 'startswith' || startMayHold(filter.args, part)
    default:
      return true
  }
}

/** Whether statistics may rule rows out: some condition that must hold compares a stored column with a literal. */
export function canPrune(filter: Expression): boolean {
  switch (filter.kind) {
    case 'logical':
      return filter.operator === 'and' ? filter.operands.some(canPrune) : filter.operands.every(canPrune)
    case 'comparison':
      return asRange(filter) !== undefined || (filter.left.kind === 'column' && !!literalOf(filter.right))
    case 'in':
      return filter.operand.kind === 'column'
    case 'call':
      return filter.name === 'startswith' && filter.args[0]!.kind === 'column'
    default:
      return false
  }
}

function comparisonMayHold(node: Extract<Expression, { kind: 'comparison' }>, part: PartFacts): boolean {
  const range = asRange(node)
  if (range) return range.every((bound) => comparisonMayHold(bound, part))
  const { operator, left, right } = node
  const bounds = boundsOf(left, part)
  const value = literalOf(right)
  if (!bounds || !value) return true
  if (operator === 'eq') return mayEqual(value, left.type, bounds, part)
  if (operator === 'ne') return value.kind !== 'null' || bounds.nulls < part.rows
  if (value.kind === 'null') return false
  return mayCompare(operator, value, left.type, bounds, part)
}

function mayEqual(value: LiteralValue, type: ValueType, bounds: ColumnBounds, part: PartFacts): boolean {
  return value.kind === 'null' ? bounds.nulls > 0 : mayCompare('eq', value, type, bounds, part)
}

function mayCompare(
  operator: Operator,
  value: NonNull,
  type: ValueType,
  { min, max, nulls }: ColumnBounds,
  { rows }: PartFacts,
): boolean {
  if (nulls === rows) return false
  const narrowed = narrow(operator, value, type)
  if (narrowed.kind === 'none') return false
  return narrowed.kind === 'every' || mayHold(narrowed.operator, narrowed, type, { min, max })
}

/** Whether values between two bounds, each null where it is not known, may compare so with another value. */
function mayHold(
  operator: Operator,
  value: Keyed,
  type: ValueType,
  { min, max }: Pick<ColumnBounds, 'min' | 'max'>,
): boolean {
  // How the column's least value compares with the other one (negative: it is less); undefined if it is not known.
  const least = min === null ? undefined : byKey(keyed(min, type), value)
  const greatest = max === null ? undefined : byKey(keyed(max, type), value)
  switch (operator) {
    case 'eq':
      return (least ?? 0) <= 0 && (greatest ?? 0) >= 0
    case 'gt':
      return (greatest ?? 1) > 0
    case 'ge':
      return (greatest ?? 0) >= 0
    case 'lt':
      return (least ?? -1) < 0
    case 'le':
      return (least ?? 0) <= 0
    default:
      return operator satisfies never
  }
}

/** `startswith(Code, 'A-')`: in sorted order, the texts with this prefix form one range that begins at the prefix. */
function startMayHold([column, start]: readonly Expression[], part: PartFacts): boolean {
  const bounds = column && boundsOf(column, part)
  const value = start && literalOf(start)
  if (!bounds || value?.kind !== 'string') return true
  if (bounds.nulls === part.rows) return false
  const { min, max } = bounds
  const prefix = { text: value.value, key: value.value }
  if (max !== null && byKey({ text: max, key: max }, prefix) < 0) return false
  return min === null || min.startsWith(value.value) || byKey({ text: min, key: min }, prefix) <= 0
}

/** The bounds of an expression that is just a column; undefined if it is more, or if they are not known. */
function boundsOf(node: Expression, { statistics }: PartFacts): ColumnBounds | undefined {
  if (node.kind !== 'column') return undefined
  return (node.stored !== undefined && statistics?.[node.stored]) || undefined
}

/** A bound in the form of the literals that it is compared with. */
export function keyed(text: string, { kind }: ValueType): Keyed {
  switch (kind) {
    case 'boolean':
    case 'string':
    case 'uuid':
      return { text, key: text }
    case 'double':
      return { text, key: Number(text.replace('inf', 'Infinity')) }
    default:
      return { text, key: BigInt(text) }
  }
}

/** The first rows of a sorted table: how many, and the key that decides first. */
export interface FirstRows {
  readonly rows: number
  /** The position of the column by which the rows are sorted. */
  readonly column: number
  readonly type: ColumnType
  readonly descending: boolean
}

/**
 * The first rows that an order gives, where it begins with a column itself; undefined where it begins with something
 * that is calculated, about which the statistics of parts say nothing.
 */
export function firstRows(
  [key]: readonly SortKey[],
  { skip, top = 0 }: Pick<Window, 'skip' | 'top'>,
  columns: readonly SqlColumn[],
): FirstRows | undefined {
  const column = columns.find(({ sql }) => sql === key?.sql)
  if (!key || column?.stored === undefined || top === 0) return undefined
  return { rows: skip + top, column: column.stored, type: column.type, descending: key.descending }
}

/** Where the first rows of an order are. */
export interface PlaceOfFirst<Part> {
  /** The parts that may hold some of them. */
  readonly parts: ReadonlySet<Part>
  /** A condition in SQL that all of them meet, so that DuckDB skips row groups; undefined if there is none. */
  readonly condition?: string
}

/**
 * Where the first rows are, by the statistics of parts. If enough rows come at or before some value, then rows that come
 * behind it are not among the first, nor is a part that has only such rows. Null comes first ascending and last
 * descending; equal values keep their order of upload, so rows with that very value are needed.
 */
export function placeOfFirst<Part extends PartFacts>(
  parts: readonly Part[],
  first: FirstRows,
  sql: string,
): PlaceOfFirst<Part> {
  const { column, type, descending } = first
  const values = valueType(type)
  const enough = enoughFor(parts, first)
  if (!enough) return { parts: new Set(parts) }
  const boundsIn = ({ statistics }: Part) => statistics?.[column]
  const mayBeNull = (part: Part) => boundsIn(part)?.nulls !== 0
  const isNeeded = (part: Part) => {
    const bounds = boundsIn(part)
    if (!bounds || (bounds.nulls > 0 && !descending)) return true
    return bounds.nulls < part.rows && mayHold(descending ? 'ge' : 'le', enough, values, bounds)
  }
  const needed = new Set(parts.filter(isNeeded))
  if (!descending && [...needed].some(mayBeNull)) return { parts: needed }
  const value = `CAST(${quoteLiteral(keyText(enough, values))} AS ${sqlType(type)})`
  return { parts: needed, condition: `${sql} ${descending ? '>=' : '<='} ${value}` }
}

/** A value that as many rows as are wanted come at or before, as far as the bounds of parts tell. */
function enoughFor(
  parts: readonly PartFacts[],
  { rows, column, type, descending }: FirstRows,
): Keyed | undefined {
  const values = valueType(type)
  // Long texts are cut off, so that no row may have the very bound.
  const isExact = values.kind !== 'string'
  const ends = parts.flatMap(({ rows: all, statistics }) => {
    const { min = null, max = null, nulls = 0 } = statistics?.[column] ?? {}
    const [best, last] = descending ? [max, min] : [min, max]
    if (last === null) return []
    const count = all - nulls
    if (!isExact || best === null) return [{ end: keyed(last, values), count }]
    return [
      { end: keyed(best, values), count: 1 },
      { end: keyed(last, values), count: count - 1 },
    ]
  })
  let sum = 0
  return ends
    .sort((a, b) => (descending ? byKey(b.end, a.end) : byKey(a.end, b.end)))
    .find(({ count }) => {
      sum += count
      return sum >= rows
    })?.end
}
