import type { Column } from '../../../client/index.ts'
import { familyOf, filterName, isOrdered } from '../filter/types.ts'

/** What is drawn. It is part of the address, so that plots can be shared. */
export interface PlotChoice {
  readonly x: string
  /** A numeric column, or '' for the number of rows. */
  readonly y: string
  readonly kind: PlotKind
  readonly aggregate: Aggregate
  /** The most rows to fetch. */
  readonly size: number
}

export const KINDS = ['line', 'bar', 'points'] as const
export type PlotKind = (typeof KINDS)[number]

export const AGGREGATES = ['none', 'mean', 'median', 'sum', 'min', 'max'] as const
export type Aggregate = (typeof AGGREGATES)[number]

export const SIZES = [2_000, 20_000, 100_000] as const

/** Columns that can be the x axis: ordered ones, and categories. */
export function xColumns(columns: readonly Column[]): Column[] {
  return columns.filter(({ type }) => isOrdered(type) || type === 'string' || type === 'boolean')
}

export function yColumns(columns: readonly Column[]): Column[] {
  return columns.filter(({ type }) => familyOf(type) === 'number')
}

export function isCategory(type: string): boolean {
  return !isOrdered(type)
}

/** Reads the choice from an address. What is missing is chosen by the types of the columns. */
export function readChoice(
  query: Readonly<Record<string, string>>,
  columns: readonly Column[],
): PlotChoice | undefined {
  const along = xColumns(columns)
  const upwards = yColumns(columns)
  const x = along.find(({ name }) => name === query['x']) ?? preferredX(along)
  if (!x) return undefined
  const asked = upwards.find(({ name }) => name === query['y'])
  const countsRows = query['y'] === '#'
  const y = countsRows ? undefined : (asked ?? upwards.find(({ name }) => name !== x.name))
  const fallback = fallbackFor(x, y)
  return {
    x: x.name,
    y: y?.name ?? '',
    kind: KINDS.find((kind) => kind === query['kind']) ?? fallback.kind,
    aggregate: AGGREGATES.find((aggregate) => aggregate === query['of']) ?? fallback.aggregate,
    size: SIZES.find((size) => String(size) === query['size']) ?? SIZES[0],
  }
}

/** Prefers a time axis, because most tables of figures have one. */
function preferredX(along: readonly Column[]): Column | undefined {
  const temporal = along.find(({ type }) => ['date', 'timestamp', 'timestamptz'].includes(type))
  return temporal ?? along.find(({ type }) => familyOf(type) === 'number') ?? along[0]
}

function fallbackFor(x: Column, y: Column | undefined): Pick<PlotChoice, 'kind' | 'aggregate'> {
  if (!y || isCategory(x.type)) return { kind: 'bar', aggregate: 'mean' }
  if (familyOf(x.type) === 'number') return { kind: 'points', aggregate: 'none' }
  return { kind: 'line', aggregate: 'mean' }
}

/** A condition for the rows that have a place in the plot: NaN and the infinities have none on an axis. */
export function hasPlace({ x, y }: Pick<PlotChoice, 'x' | 'y'>, columns: readonly Column[]): string {
  const conditions = [x, y].map((name) => {
    const column = filterName(name)
    const isDouble = columns.find((one) => one.name === name)?.type === 'double'
    return isDouble ? `${column} gt -INF and ${column} lt INF` : `${column} ne null`
  })
  return conditions.join(' and ')
}
