import type { Field } from '../csv.ts'
import { toNumber } from '../profile/stats.ts'
import { type Aggregate, isCategory } from './choice.ts'

export interface Point {
  readonly x: number
  readonly y: number | null
}

/** The data of a chart. If there are `labels`, x is an index into them. */
export interface Drawing {
  readonly points: readonly Point[]
  readonly labels: readonly string[] | undefined
  /** How rows were grouped: 'by month', '40 bins'; undefined if each row is a point. */
  readonly grouping: string | undefined
}

export const MOST_GROUPS = 366
const BINS = 40
export const MOST_LABELS = 24
const DAY = 86_400_000

/** Groups rows of x and y into points, sorted by x. */
export function drawRows(
  rows: readonly (readonly Field[])[],
  xType: string,
  yType: string,
  aggregate: Aggregate,
): Drawing {
  if (isCategory(xType)) return byLabel(rows, yType, aggregate === 'none' ? 'mean' : aggregate)
  const points = rows
    .map(([x, y]) => ({ x: numberOf(x, xType), y: numberOf(y, yType) }))
    .filter((point): point is Point & { y: number } => Number.isFinite(point.x) && Number.isFinite(point.y))
    .sort((a, b) => a.x - b.x)
  if (aggregate === 'none') return { points, labels: undefined, grouping: undefined }
  const { keyOf, grouping } = groupsFor(points, xType)
  const groups = new Map<number, number[]>()
  for (const { x, y } of points) push(groups, keyOf(x), y)
  return {
    points: [...groups].map(([x, values]) => ({ x, y: reduce(values, aggregate) })),
    labels: undefined,
    grouping,
  }
}

function byLabel(rows: readonly (readonly Field[])[], yType: string, aggregate: Aggregate): Drawing {
  const groups = new Map<string, number[]>()
  for (const [x, y] of rows) {
    const value = numberOf(y, yType)
    if (x !== null && x !== undefined && Number.isFinite(value)) push(groups, x, value)
  }
  const bars = [...groups]
    .map(([label, values]) => ({ label, y: reduce(values, aggregate) }))
    .sort((a, b) => b.y - a.y)
  const shown = bars.slice(0, MOST_LABELS)
  return {
    points: shown.map(({ y }, x) => ({ x, y })),
    labels: shown.map(({ label }) => label),
    grouping: bars.length > shown.length ? `the ${MOST_LABELS} highest of ${bars.length} values` : 'by value',
  }
}

interface Grouping {
  readonly keyOf: (x: number) => number
  readonly grouping: string
}

/**
 * Groups by value if there are few values; else by the finest calendar unit, or by bins, that leaves a readable number
 * of groups.
 */
function groupsFor(points: readonly Point[], xType: string): Grouping {
  const distinct = new Set(points.map(({ x }) => x)).size
  if (distinct <= MOST_GROUPS) return { keyOf: (x) => x, grouping: 'by value' }
  const low = points[0]!.x
  const high = points.at(-1)!.x
  if (xType === 'date' || xType.startsWith('timestamp')) return calendarGroups(high - low)
  const width = (high - low) / BINS
  return {
    keyOf: (x) => low + (Math.min(Math.floor((x - low) / width), BINS - 1) + 0.5) * width,
    grouping: `${BINS} bins`,
  }
}

export type CalendarUnit = 'hour' | 'day' | 'month' | 'year'

/** The finest calendar unit that leaves a readable number of groups in a time span, given in milliseconds. */
export function calendarUnit(span: number): CalendarUnit {
  if (span <= 15 * DAY) return 'hour'
  if (span <= MOST_GROUPS * DAY) return 'day'
  return span <= 30 * 365 * DAY ? 'month' : 'year'
}

function calendarGroups(span: number): Grouping {
  const unit = calendarUnit(span)
  return { keyOf: (x) => startOf(x, unit), grouping: `by ${unit}` }
}

function startOf(x: number, unit: CalendarUnit): number {
  if (unit === 'hour') return x - mod(x, DAY / 24)
  if (unit === 'day') return x - mod(x, DAY)
  const time = new Date(x)
  return Date.UTC(time.getUTCFullYear(), unit === 'month' ? time.getUTCMonth() : 0, 1)
}

function mod(x: number, size: number): number {
  return ((x % size) + size) % size
}

function reduce(values: readonly number[], aggregate: Aggregate): number {
  switch (aggregate) {
    case 'sum':
      return values.reduce((sum, value) => sum + value, 0)
    case 'min':
      return values.reduce((low, value) => Math.min(low, value))
    case 'max':
      return values.reduce((high, value) => Math.max(high, value))
    case 'median':
      return median(values)
    case 'mean':
    case 'none':
      return values.reduce((sum, value) => sum + value, 0) / values.length
    default:
      return aggregate satisfies never
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

function numberOf(field: Field | undefined, type: string): number {
  return field === null || field === undefined ? Number.NaN : toNumber(field, type)
}

function push<K>(groups: Map<K, number[]>, key: K, value: number): void {
  const group = groups.get(key)
  if (group) group.push(value)
  else groups.set(key, [value])
}
