import type { Column } from '../../../client/index.ts'
import type { Field } from '../csv.ts'
import { familyOf } from '../filter/syntax.ts'

export const ROW_HEIGHT = 30
export const HEADER_HEIGHT = 74
export const NARROWEST = 64

const PADDING = 26
const WIDEST = 340
const NARROW = 104

export interface PlacedColumn {
  readonly column: Column
  readonly at: number
  readonly left: number
  readonly width: number
}

/** Numbers are aligned right, so that their digits line up. */
export function alignsRight(type: string): boolean {
  return familyOf(type) === 'number'
}

/** Lays out the columns. Their widths fit their names and first values, unless the user has resized them. */
export function placeColumns(
  columns: readonly Column[],
  rows: readonly (readonly Field[])[],
  chosen: ReadonlyMap<string, number>,
  measure: (text: string) => number,
): PlacedColumn[] {
  let left = 0
  return columns.map((column, at) => {
    // Headings are bold, and need room for the sort arrow.
    let widest = measure(column.name) * 1.1 + 14
    for (const row of rows) widest = Math.max(widest, measure(row[at] ?? ''))
    const fitting = Math.ceil(Math.min(WIDEST, Math.max(NARROW, widest + PADDING)))
    const placed = { column, at, left, width: chosen.get(column.name) ?? fitting }
    left += placed.width
    return placed
  })
}

/**
 * Returns a function that measures text in the font of an element. Digits of a table are all as wide as 0, and in some
 * fonts so are the signs between them, which a canvas can't be told.
 */
export function textMeasure(element: Element): (text: string) => number {
  const style = getComputedStyle(element)
  const context = document.createElement('canvas').getContext('2d')!
  context.font = `${style.fontSize} ${style.fontFamily}`
  return (text) => context.measureText(text.slice(0, 60).replaceAll(/[\d+.,:-]/g, '0')).width
}

export function columnsInView(
  places: readonly PlacedColumn[],
  scrollLeft: number,
  width: number,
): readonly PlacedColumn[] {
  return places.filter(
    (placed) => placed.left + placed.width > scrollLeft && placed.left < scrollLeft + width,
  )
}
