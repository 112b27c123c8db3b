import type { Column } from '../../../client/index.ts'

/** Which columns are shown, and in which order, as an address holds it: JSON, because a name may hold any character. */
export function readShown(text: string | undefined, columns: readonly Column[]): readonly Column[] {
  if (!text) return columns
  let names: unknown
  try {
    names = JSON.parse(text)
  } catch {
    return columns
  }
  if (!Array.isArray(names)) return columns
  const shown = [...new Set(names)].flatMap((name) => columns.find((column) => column.name === name) ?? [])
  return shown.length === 0 ? columns : shown
}

/** '' where all columns are shown in their own order, so that the address stays short. */
export function writeShown(shown: readonly Column[], columns: readonly Column[]): string {
  const same = shown.length === columns.length && shown.every((column, at) => column === columns[at])
  return same ? '' : JSON.stringify(shown.map(({ name }) => name))
}

/** Shows or hides one column. One that is shown again goes behind the last of those before it in the dataset. */
export function toggled(shown: readonly Column[], columns: readonly Column[], column: Column): Column[] {
  if (shown.includes(column)) return shown.filter((one) => one !== column)
  const before = new Set(columns.slice(0, columns.indexOf(column)))
  const place = shown.findLastIndex((one) => before.has(one)) + 1
  return [...shown.slice(0, place), column, ...shown.slice(place)]
}

/** Moves a column by some places, as far as there are places. */
export function moved(shown: readonly Column[], column: Column, step: number): Column[] {
  const from = shown.indexOf(column)
  const rest = shown.filter((one) => one !== column)
  const to = Math.max(0, Math.min(rest.length, from + step))
  return [...rest.slice(0, to), column, ...rest.slice(to)]
}

/** What `$select` says for the columns shown; undefined where they are all columns in their own order. */
export function selectOf(columns: readonly Column[], shown: readonly Column[]): string[] | undefined {
  return writeShown(shown, columns) === '' ? undefined : shown.map(({ name }) => name)
}
