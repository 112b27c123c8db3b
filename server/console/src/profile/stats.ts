import type { Column } from '../../../client/index.ts'
import type { Field } from '../csv.ts'
import { familyOf } from '../filter/types.ts'

/** Statistics of a column. They describe the rows given, which may be a sample. */
export interface ColumnStats {
  readonly column: Column
  readonly rows: number
  readonly nulls: number
  readonly distinct: number
  /** Formatted as the server does; undefined if the type has no useful order or there are no values. */
  readonly min: string | undefined
  readonly max: string | undefined
  readonly shape: Shape
}

export type Shape =
  | { readonly kind: 'bins'; readonly bins: readonly Bin[] }
  | { readonly kind: 'values'; readonly values: readonly ValueCount[]; readonly others: number }
  | { readonly kind: 'none' }

/** Counts values from `from` to below `to`; the last bin includes `to`. */
export interface Bin {
  readonly from: number
  readonly to: number
  readonly count: number
}

export interface ValueCount {
  readonly value: string
  readonly count: number
}

const BINS = 20
const MOST_VALUES = 6

/** Converts a value to a number: dates and timestamps to milliseconds since 1970, other types to NaN. */
export function toNumber(text: string, type: string): number {
  const family = familyOf(type)
  if (family === 'number') return text === 'INF' || text === '-INF' ? Number.NaN : Number(text)
  if (family === 'date') return Date.parse(`${text.slice(0, 10)}T00:00:00Z`)
  if (family === 'timestamp') return Date.parse(/(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`)
  return Number.NaN
}

/** Converts a result of `toNumber` to a filter literal. */
export function toLiteral(value: number, type: string): string {
  const family = familyOf(type)
  if (family === 'date') return new Date(value).toISOString().slice(0, 10)
  if (family === 'timestamp') {
    const text = new Date(value).toISOString().replace(/\.000Z$/, 'Z')
    return type === 'timestamptz' ? text : text.replace(/Z$/, '')
  }
  return String(value)
}

/** The rows between the stripes of a sample: all gaps have the same length. */
export interface Gaps {
  /** Rows in a stripe. */
  readonly stripe: number
  /** Rows in a gap. */
  readonly rows: number
}

export function statsOf(column: Column, values: readonly Field[], gaps?: Gaps): ColumnStats {
  const present = values.filter((value): value is string => value !== null)
  const counts = new Map<string, number>()
  for (const value of present) counts.set(value, (counts.get(value) ?? 0) + 1)
  const base = { column, rows: values.length, nulls: values.length - present.length, distinct: counts.size }

  const family = familyOf(column.type)
  if (family === 'number' || family === 'date' || family === 'timestamp') {
    const numbers = present.map((value) => toNumber(value, column.type))
    const { low, high } = extremes(numbers)
    return {
      ...base,
      min: low === undefined ? undefined : present[low],
      max: high === undefined ? undefined : present[high],
      shape: binsOf(numbers, gaps),
    }
  }
  const sorted = [...counts.keys()].sort()
  const ordered = family === 'text' || family === 'time'
  return {
    ...base,
    min: ordered ? sorted[0] : undefined,
    max: ordered ? sorted.at(-1) : undefined,
    shape: family === 'other' ? { kind: 'none' } : topValues(counts, present.length),
  }
}

function extremes(numbers: readonly number[]): { low: number | undefined; high: number | undefined } {
  let low: number | undefined
  let high: number | undefined
  for (const [index, value] of numbers.entries()) {
    if (Number.isNaN(value)) continue
    if (low === undefined || value < numbers[low]!) low = index
    if (high === undefined || value > numbers[high]!) high = index
  }
  return { low, high }
}

function binsOf(numbers: readonly number[], gaps: Gaps | undefined): Shape {
  const finite = numbers.filter(Number.isFinite)
  if (finite.length === 0) return { kind: 'none' }
  const edges = binEdges(finite)
  const counts = new Array<number>(edges.length - 1).fill(0)
  const low = edges[0]!
  const span = edges.at(-1)! - low
  const binOf = (value: number) =>
    span === 0 ? 0 : Math.min(Math.floor(((value - low) / span) * counts.length), counts.length - 1)
  for (const value of finite) counts[binOf(value)]! += 1
  if (gaps && finite.length === numbers.length && isAscending(finite)) {
    fillGaps(finite, gaps, (value, rows) => {
      counts[binOf(value)]! += rows
    })
  }
  return {
    kind: 'bins',
    bins: counts.map((count, at) => ({ from: edges[at]!, to: edges[at + 1]!, count })),
  }
}

function isAscending(numbers: readonly number[]): boolean {
  return numbers.every((value, at) => at === 0 || value >= numbers[at - 1]!)
}

const STEPS = 16

/**
 * In a column that ascends with the rows, such as time, a histogram of the stripes alone would have spikes with gaps
 * between them. The values in a gap must lie between its neighbours, so its rows are spread evenly there.
 */
function fillGaps(
  ascending: readonly number[],
  gaps: Gaps,
  add: (value: number, rows: number) => void,
): void {
  for (let at = gaps.stripe; at < ascending.length; at += gaps.stripe) {
    const before = ascending[at - 1]!
    const step = (ascending[at]! - before) / STEPS
    for (let part = 0; part < STEPS; part += 1) add(before + (part + 0.5) * step, gaps.rows / STEPS)
  }
}

/** The edges of bins of equal width. If there are only a few different integers, each gets its own bin. */
function binEdges(finite: readonly number[]): number[] {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  let whole = true
  for (const value of finite) {
    if (value < low) low = value
    if (value > high) high = value
    whole &&= Number.isInteger(value)
  }
  const narrow = whole && high - low < BINS
  const bins = narrow ? high - low + 1 : BINS
  const end = narrow ? high + 1 : high
  return Array.from({ length: bins + 1 }, (_, at) => low + ((end - low) * at) / bins)
}

function topValues(counts: ReadonlyMap<string, number>, total: number): Shape {
  const sorted = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  const values = sorted.slice(0, MOST_VALUES).map(([value, count]) => ({ value, count }))
  const shown = values.reduce((sum, value) => sum + value.count, 0)
  return values.length === 0 ? { kind: 'none' } : { kind: 'values', values, others: total - shown }
}
