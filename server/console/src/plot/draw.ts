import type { Column, Series } from '../../../client/index.ts'
import type { Field } from '../csv.ts'
import { familyOf, isOrdered } from '../filter/syntax.ts'
import { formatDateTime, formatNumber } from '../format.ts'
import { axisName, type PlotChoice } from './choice.ts'

/** A value at a place of the x axis: a number, or the name of a category. */
export interface Cell {
  readonly x: number | string
  readonly series: string
  /** null where the value is missing. */
  readonly y: number | null
}

/** The data of a chart. */
export interface Drawing {
  /** Ascending; with `labels`, indexes into them. */
  readonly xs: readonly number[]
  readonly labels: readonly string[] | undefined
  /** One y for each x: null for a gap, undefined where the series has nothing. */
  readonly series: readonly { readonly name: string; readonly ys: readonly (number | null | undefined)[] }[]
  /** The number of labels, or series, that were left out. */
  readonly omitted: { readonly labels: number; readonly series: number }
}

export const MOST_LABELS = 24
export const MOST_SERIES = 8

/** Puts cells on a chart. Labels and series keep the order in which they come first. */
export function drawingOf(cells: readonly Cell[]): Drawing {
  const allNames = [...new Set(cells.map(({ series }) => series))]
  const names = allNames.slice(0, MOST_SERIES)
  const own = cells.filter(({ series }) => names.includes(series))
  const allLabels = [...new Set(own.flatMap(({ x }) => (typeof x === 'string' ? [x] : [])))]
  const labels = allLabels.slice(0, MOST_LABELS)
  const omitted = { labels: allLabels.length - labels.length, series: allNames.length - names.length }
  const points = own
    .map(({ x, ...rest }) => ({ ...rest, x: typeof x === 'string' ? labels.indexOf(x) : x }))
    .filter(({ x }) => Number.isFinite(x) && (labels.length === 0 || x >= 0))
    .sort((a, b) => a.x - b.x)
  const places = new Set(points.map(({ x, series }) => `${x} ${series}`))
  // Where a series has several values at one x, each of them has a place of its own.
  const apart = places.size < points.length
  const xs = apart ? points.map(({ x }) => x) : [...new Set(points.map(({ x }) => x))]
  const at = new Map(xs.map((x, index) => [x, index]))
  const series = names.map((name) => {
    const ys = new Array<number | null | undefined>(xs.length).fill(undefined)
    for (const [index, point] of points.entries()) {
      if (point.series === name) ys[apart ? index : at.get(point.x)!] = point.y
    }
    return { name, ys }
  })
  return { xs, labels: labels.length > 0 ? labels : undefined, series, omitted }
}

/** The cells of rows that have these columns, one for each row and series. */
export function cellsOf(
  { x, ys, by }: Pick<PlotChoice, 'x' | 'ys' | 'by'>,
  columns: readonly Column[],
  rows: readonly (readonly Field[])[],
): Cell[] {
  const indexOf = (column: Column) => columns.findIndex(({ name }) => name === column.name)
  const [along, across] = [indexOf(x), by.map(indexOf)]
  return rows.flatMap((row) => {
    const position = placeOf(row[along], x.type)
    if (position === null) return []
    return ys.map((y) => ({
      x: position,
      series: by.length > 0 ? across.map((at) => seriesLabel(row[at])).join(' · ') : axisName(y),
      y: numberOf(row[indexOf(y)], y.type),
    }))
  })
}

export function seriesLabel(value: Field | undefined): string {
  if (value == null) return 'no value'
  return value === '' ? 'empty text' : value
}

/** A finite number, or the milliseconds of a date or timestamp since 1970; null for all else. */
export function numberOf(value: Field | undefined, type: string): number | null {
  if (value == null || !isOrdered(type)) return null
  // A time without a zone is one of UTC.
  const time = /T[\d:.]+$/.test(value) ? `${value}Z` : value
  const number = familyOf(type) === 'number' ? Number(value) : Date.parse(time)
  return Number.isFinite(number) ? number : null
}

/** The place of a value on the x axis: a number, or the name of a category. */
export function placeOf(value: Field | undefined, type: string): number | string | null {
  return isOrdered(type) ? numberOf(value, type) : seriesLabel(value)
}

/** Returns a function that writes a place on the x axis. */
export function textOfX(type: string, labels?: readonly string[], bin?: number): (x: number) => string {
  if (labels) return (x) => labels[x] ?? ''
  if (bin) return (x) => `${formatNumber(x - bin / 2)} to ${formatNumber(x + bin / 2)}`
  if (type === 'date') return (x) => new Date(x).toISOString().slice(0, 10)
  return type.startsWith('timestamp') ? (x) => formatDateTime(new Date(x).toISOString()) : formatNumber
}

/** The next 1, 2 or 5 times a power of ten. */
export function niceStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step))
  const found = [1, 2, 5, 10].find((factor) => factor * power >= step * 0.999_999)!
  return Number((found * power).toPrecision(3))
}

/** The observations of a series as a drawing: by their time of day where they have one, otherwise by their dates. */
export function drawSeries(given: Pick<Series, 'observations' | 'frequency' | 'unit'>) {
  const { observations, frequency, unit } = given
  const xType = frequency === 'intraday' ? 'timestamp' : 'date'
  const cells = observations.map(({ date, period = date, value }) => ({
    x: numberOf(xType === 'timestamp' ? period : date, xType) ?? Number.NaN,
    series: unit ?? 'value',
    y: typeof value === 'number' ? value : null,
  }))
  return { drawing: drawingOf(cells), xType }
}
