import type { Column } from '../../../client/index.ts'
import type { Field } from '../csv.ts'
import { familyOf } from '../filter/types.ts'

export const ROW_HEIGHT = 30
export const GUTTER_MIN = 52
export const NARROWEST = 64

const PADDING = 26
const WIDEST = 340
const NARROW = 104

export interface ColumnPlace {
  readonly column: Column
  readonly left: number
  readonly width: number
}

/** Numbers stand to the right, so that their digits line up. */
export function alignsRight(type: string): boolean {
  return familyOf(type) === 'number'
}

/** Places columns side by side, as wide as their names and first values want, or as wide as somebody has made them. */
export function placeColumns(
  columns: readonly Column[],
  rows: readonly (readonly Field[])[],
  chosen: ReadonlyMap<string, number>,
  measure: (text: string) => number,
): ColumnPlace[] {
  let left = 0
  return columns.map((column, at) => {
    const width = chosen.get(column.name) ?? fittingWidth(column, rows, at, measure)
    const place = { column, left, width }
    left += width
    return place
  })
}

function fittingWidth(
  column: Column,
  rows: readonly (readonly Field[])[],
  at: number,
  measure: (text: string) => number,
): number {
  // Headings are bold, and leave room for the arrow of sorting.
  let widest = measure(column.name) * 1.1 + 14
  for (const row of rows) widest = Math.max(widest, measure(row[at] ?? ''))
  return Math.ceil(Math.min(WIDEST, Math.max(NARROW, widest + PADDING)))
}

/** Measures text as the cells of an element would show it. */
export function textMeasure(element: Element): (text: string) => number {
  const style = getComputedStyle(element)
  const context = document.createElement('canvas').getContext('2d')!
  context.font = `${style.fontSize} ${style.fontFamily}`
  return (text) => context.measureText(text.length > 60 ? text.slice(0, 60) : text).width
}

/** The columns in view: from the first, to one after the last. */
export function columnsInView(
  places: readonly ColumnPlace[],
  scrollLeft: number,
  width: number,
): { first: number; end: number } {
  const right = scrollLeft + width
  let first = places.findIndex((place) => place.left + place.width > scrollLeft)
  if (first < 0) first = Math.max(0, places.length - 1)
  let end = first
  while (end < places.length && places[end]!.left < right) end += 1
  return { first, end }
}

/** Wide enough for the highest row number. */
export function gutterWidth(rows: number): number {
  return Math.max(GUTTER_MIN, String(rows).length * 8 + 24)
}
