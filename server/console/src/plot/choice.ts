import type { Column } from '../../../client/index.ts'
import type { Field } from '../csv.ts'
import { familyOf, filterName, isOrdered } from '../filter/syntax.ts'
import { type Address, jsonList } from '../router.ts'

/** What is drawn. It is part of the address, so that plots can be shared. */
export interface PlotChoice {
  readonly x: Column
  /** Columns of numbers, each a series of its own, or `ROWS`. */
  readonly ys: readonly Column[]
  /** The columns whose values are series of their own; none if there are several `ys`. */
  readonly by: readonly Column[]
  readonly kind: PlotKind
  readonly aggregate: Aggregate
  /** The most rows to fetch where each row is drawn. */
  readonly size: number
}

export const KINDS = ['line', 'bar', 'points'] as const
export type PlotKind = (typeof KINDS)[number]

/** What is drawn of the rows of one x: each of them, or what a method of `$apply` calculates of them. */
export const AGGREGATES = {
  none: { label: 'every row', method: 'average' },
  mean: { label: 'mean', method: 'average' },
  median: { label: 'median', method: 'median' },
  sum: { label: 'sum', method: 'sum' },
  min: { label: 'lowest', method: 'min' },
  max: { label: 'highest', method: 'max' },
} as const
export type Aggregate = keyof typeof AGGREGATES
export const AGGREGATE_NAMES = Object.keys(AGGREGATES) as readonly Aggregate[]

export const SIZES = [2_000, 20_000, 100_000] as const

/** Stands for the number of rows, where a column is chosen. */
export const ROWS: Column = { name: '#', type: 'integer', nullable: false, description: '' }

/** Columns that can be the x axis: ordered ones, and categories. */
export function xColumns(columns: readonly Column[]): Column[] {
  return columns.filter(({ type }) => isOrdered(type) || type === 'string' || type === 'boolean')
}

export function yColumns(columns: readonly Column[]): Column[] {
  return columns.filter(({ type }) => familyOf(type) === 'number')
}

/** Columns whose values can be series. */
export function byColumns(columns: readonly Column[]): Column[] {
  return columns.filter(({ type }) => ['string', 'boolean', 'integer', 'uuid'].includes(type))
}

export function isTemporal(type: string): boolean {
  return type === 'date' || type.startsWith('timestamp')
}

/** Reads the choice from an address. What is missing is chosen by the types of the columns. */
export function readChoice(query: Address['query'], columns: readonly Column[]): PlotChoice | undefined {
  const along = xColumns(columns)
  const x = named(query['x'], along) ?? preferredX(along)
  if (!x) return undefined
  const upwards = yColumns(columns)
  const other = upwards.find((column) => column !== x)
  const ys = readYs(query, [...upwards, ROWS])
  const chosen = ys.length > 0 ? ys : [other ?? ROWS]
  const fallback = fallbackFor(x, chosen[0]!)
  const by = named(query['by'], byColumns(columns))
  const aggregate = AGGREGATE_NAMES.find((known) => known === query['of']) ?? fallback.aggregate
  return {
    x,
    ys: chosen,
    by: by && by !== x && chosen.length === 1 ? [by] : [],
    kind: KINDS.find((kind) => kind === query['kind']) ?? fallback.kind,
    // A name has many rows, and can't be drawn for each of them.
    aggregate: aggregate === 'none' && !isOrdered(x.type) ? 'mean' : aggregate,
    size: SIZES.find((size) => String(size) === query['size']) ?? SIZES[0],
  }
}

/** Up to this many integers, such as months or years, are drawn as bars. */
const MOST_BARS = 40

/**
 * Reads what is drawn of a result of `$apply`, whose rows are groups: the keys come first, then what was calculated. If
 * the first key repeats, the other keys are series.
 */
export function readResultChoice(
  query: Address['query'],
  columns: readonly Column[],
  rows: readonly (readonly Field[])[],
): PlotChoice | undefined {
  const upwards = yColumns(columns)
  const chosen = readYs(query, upwards)
  const ys = chosen.length > 0 ? chosen : upwards.filter((one) => columns.indexOf(one) > 0).slice(0, 1)
  const y = ys[0] ?? upwards[0]
  if (!y) return undefined
  const keys = columns.slice(0, Math.max(1, Math.min(columns.indexOf(y), firstCalculated(columns))))
  const x = named(query['x'], columns) ?? keys[0]!
  const index = columns.indexOf(x)
  const repeats = new Set(rows.map((row) => row[index])).size < rows.length
  const others = keys.filter((column) => column !== x)
  const by = named(query['by'], columns)
  return {
    x,
    ys: ys.length > 0 ? ys : [y],
    by: by ? [by] : repeats && ys.length <= 1 ? others : [],
    kind: KINDS.find((known) => known === query['kind']) ?? kindOfResult(x.type, rows.length),
    aggregate: 'none',
    size: rows.length,
  }
}

/** The place of the first column that can't be a key. */
function firstCalculated(columns: readonly Column[]): number {
  const at = columns.findIndex(({ type }, index) => index > 0 && /^(?:double|decimal)/.test(type))
  return at < 0 ? columns.length : at
}

function kindOfResult(type: string, rows: number): PlotKind {
  if (!isOrdered(type) || (type === 'integer' && rows <= MOST_BARS)) return 'bar'
  return type === 'double' ? 'points' : 'line'
}

function named(name: string | undefined, columns: readonly Column[]): Column | undefined {
  return columns.find((column) => column.name === name)
}

/** Several columns are a list in JSON, because names may contain any character. */
export function writeYs(ys: readonly Column[]): string {
  return ys.length === 1 ? ys[0]!.name : JSON.stringify(ys.map(({ name }) => name))
}

function readYs({ y = '' }: Address['query'], columns: readonly Column[]): Column[] {
  const names = new Set(jsonList(y) ?? [y])
  return [...names].flatMap((name) => named(String(name), columns) ?? [])
}

/** Prefers a time axis, because most tables of figures have one. */
function preferredX(along: readonly Column[]): Column | undefined {
  return (
    along.find(({ type }) => isTemporal(type)) ??
    along.find(({ type }) => familyOf(type) === 'number') ??
    along[0]
  )
}

function fallbackFor(x: Column, y: Column): Pick<PlotChoice, 'kind' | 'aggregate'> {
  if (y === ROWS || !isOrdered(x.type)) return { kind: 'bar', aggregate: 'mean' }
  if (familyOf(x.type) === 'number') return { kind: 'points', aggregate: 'none' }
  return { kind: 'line', aggregate: 'mean' }
}

/** The name of an axis, with the unit where the column has one. */
export function axisName(column: Column): string {
  if (column === ROWS) return 'rows'
  return column.unit ? `${column.name} (${column.unit})` : column.name
}

/** A condition for the rows that have a place in the plot: NaN and the infinities have none on an axis. */
export function hasPosition(columns: readonly Column[]): string {
  return columns
    .map(({ name, type }) => {
      const column = filterName(name)
      return type === 'double' ? `${column} gt -INF and ${column} lt INF` : `${column} ne null`
    })
    .join(' and ')
}
