import type { Part, Version } from '../catalog/records.ts'
import { type Expression, literalOf } from '../filter/check/expression.ts'
import { asRange } from '../filter/sql/comparisons.ts'
import { byKey, type Keyed, keyText, type NonNull, narrow, type Operator } from '../filter/sql/narrow.ts'
import { type LiteralValue, type ValueType, valueType } from '../filter/values.ts'
import { rowGroupRows } from '../parquet/row-groups.ts'
import { type ColumnBounds, type PartStatistics, quoteLiteral, sqlType } from '../types/index.ts'
import { type FirstRows, type Plan, type PlanSource, physicalColumns, type Slice } from './plan.ts'

/** A version of a dataset as a source: its parts hold the column at position n under the name `cn`. */
export function versionSource(version: Version, fileOf: (part: Part) => string): PlanSource {
  return {
    columns: physicalColumns(version.columns),
    rows: version.rows,
    rowBytes: version.rows === 0 ? 0 : Math.ceil(version.rawBytes / version.rows),
    shareOf: (columns) => shareOf(version.parts, columns),
    scan: (from, to, { filter, first: sought } = {}) => {
      const offset = sought && placeOfFirst(version.parts, sought, `c${sought.column}`)
      const slices: Slice[] = []
      let first = 0
      for (const part of version.parts) {
        const end = first + part.rows
        const may = (!filter || mayMatch(filter, part)) && (!offset || offset.parts.has(part))
        if (end > from && first < to && may) {
          slices.push({
            file: fileOf(part),
            first,
            ...(part.attached && { attached: version.columns }),
            ...(from > first && { from: from - first }),
            ...(to < end && { to: to - first }),
          })
        }
        first = end
      }
      return { kind: 'slices', slices, of: version.parts.length, condition: offset?.condition }
    },
  }
}

/** By the compressed sizes of columns, which is close enough to tell a wide one from narrow ones. */
function shareOf(parts: readonly Part[], columns: readonly number[]): number {
  const all = parts.reduce((sum, { bytes }) => sum + bytes, 0)
  return all === 0 ? 1 : parts.reduce((sum, part) => sum + bytesOf(part, columns), 0) / all
}

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

/** Where the first rows of an order are. */
interface PlaceOfFirst<Part> {
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
function placeOfFirst<Part extends PartFacts>(
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
  // A condition on texts costs more than it saves.
  if (values.kind === 'string' || (!descending && [...needed].some(mayBeNull))) return { parts: needed }
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

/** What a plan reads of its parts. */
export interface ReadEstimate {
  /** The positions of the columns. */
  readonly columns: readonly number[]
  /** How many columns the table has. */
  readonly of: number
  /** The share of the rows whose values are read, as far as one can tell before reading. */
  readonly share: number
}

/** A filter is expected to leave one row group of eight. If it leaves more, that shows when the part is read. */
export const FILTERED = 1 / 8
/** Smaller parts are fetched by one request anyway. */
const LEAST_BYTES = 8 * 2 ** 20
/** Of a part from which more than this is read, all is fetched, because that is done in larger pieces. */
const MOST_READ = 1 / 4

/** @param counting whether the matching rows are only counted */
export function estimateOf(plan: Plan, counting: boolean): ReadEstimate {
  const columns = counting ? plan.reads.counted : plan.reads.rows
  return { columns, of: plan.source.length, share: plan.filter && plan.steps.length === 0 ? FILTERED : 1 }
}

/** Whether so little of a part is read that fetching all of it doesn't pay. */
export function readsLittle(part: Part, slice: Slice, { columns, of, share }: ReadEstimate): boolean {
  if (part.bytes < LEAST_BYTES) return false
  return bytesOf(part, columns) * Math.min(share, shareOfRows(slice, part, of)) <= part.bytes * MOST_READ
}

/** The compressed bytes of columns in a part. */
export function bytesOf(part: Part, columns: readonly number[]): number {
  const sizes = columns.map((position) => part.statistics?.[position]?.bytes)
  // Of tables of very many columns, the sizes of single columns are not known.
  return sizes.includes(undefined) ? part.bytes : sizes.reduce<number>((sum, size) => sum + size!, 0)
}

/** The share of a part's rows that are in the row groups of a slice, because DuckDB reads whole row groups. */
function shareOfRows({ from = 0, to }: Slice, { rows, rawBytes }: Part, columns: number): number {
  const groupRows = rowGroupRows({ rows, rawBytes }, columns)
  const first = Math.floor(from / groupRows)
  const end = Math.ceil(Math.min(to ?? rows, rows) / groupRows)
  return Math.min(((end - first) * groupRows) / Math.max(rows, 1), 1)
}
