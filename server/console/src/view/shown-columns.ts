import type { Column } from '../../../client/index.ts'
import { jsonList } from '../router.ts'

/**
 * Reads which columns an address shows, and in which order. They are encoded as JSON because names may contain any
 * character.
 */
export function readShown(text: string | undefined, columns: readonly Column[]): readonly Column[] {
  const names = new Set(jsonList(text ?? ''))
  const shown = [...names].flatMap((name) => columns.find((column) => column.name === name) ?? [])
  return shown.length === 0 ? columns : shown
}

/** Writes the columns for the address; '' for all columns in their original order. */
export function writeShown(shown: readonly Column[], columns: readonly Column[]): string {
  const same = shown.length === columns.length && shown.every((column, at) => column === columns[at])
  return same ? '' : JSON.stringify(shown.map(({ name }) => name))
}

/**
 * Shows or hides a column. A column that is shown again is put after the visible ones that precede it in the dataset.
 */
export function toggled(shown: readonly Column[], columns: readonly Column[], column: Column): Column[] {
  if (shown.includes(column)) return shown.filter((one) => one !== column)
  const before = new Set(columns.slice(0, columns.indexOf(column)))
  const place = shown.findLastIndex((one) => before.has(one)) + 1
  return [...shown.slice(0, place), column, ...shown.slice(place)]
}

/** Moves a column by a number of places, at most to either end. */
export function moved(shown: readonly Column[], column: Column, step: number): Column[] {
  const from = shown.indexOf(column)
  const rest = shown.filter((one) => one !== column)
  const to = Math.max(0, Math.min(rest.length, from + step))
  return [...rest.slice(0, to), column, ...rest.slice(to)]
}
