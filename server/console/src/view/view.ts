import type { OrderKey } from '../../../../engine/options.ts'
import type { Column, RowsQuery } from '../../../client/index.ts'
import { tokenize } from '../filter/syntax.ts'
import { jsonList, parseAddress, updateQuery } from '../router.ts'

/** What is shown of a dataset. An address contains all of it. */
export interface View extends RowsOf {
  /** The `$apply` that groups and aggregates the matching rows; '' for the rows themselves. */
  readonly apply: string
  readonly order: OrderKey | undefined
  /** All columns, of the dataset or of the result of `$apply`. */
  readonly columns: readonly Column[]
  readonly shown: readonly Column[]
}

/** The view as query options. */
export function viewQuery(view: View): RowsQuery {
  const { apply, order, columns, shown, version } = view
  return {
    ...(apply === '' ? whereOf(view) : { apply: pipeline(view, apply), version }),
    orderBy: order && [order],
    select: writeShown(shown, columns) === '' ? undefined : shown.map(({ name }) => name),
  }
}

export function setFilter(filter: string): void {
  updateQuery({ filter }, true)
}

/** Filters by one more condition. */
export function addCondition(condition: string): void {
  setFilter(bothFilters(parseAddress(location.hash).query['filter'] ?? '', condition))
}

/** The result has other columns, so choices about the old ones are dropped. */
export function setApply(apply: string): void {
  updateQuery({ apply, orderby: '', columns: '', x: '', y: '', by: '', kind: '', of: '' }, true)
}

/** Parses what `sortText` has written. */
export function parseOrder(text: string): OrderKey | undefined {
  const match = /^(?:"((?:[^"]|"")+)"|([^\s"]+))(\s+desc)?$/.exec(text.trim())
  if (!match) return undefined
  const column = match[1] === undefined ? match[2]! : match[1].replaceAll('""', '"')
  return { column, descending: match[3] !== undefined }
}

/** The order after a click on a heading: ascending, then descending, then the original order. */
export function nextOrder(before: OrderKey | undefined, column: string): OrderKey | undefined {
  if (before?.column !== column) return { column, descending: false }
  return before.descending ? undefined : { column, descending: true }
}

/** Which rows of a dataset are meant. */
export interface RowsOf {
  /** `$filter`, or ''. */
  readonly filter: string
  /** Words, as the user types them, or ''. */
  readonly search: string
  /** An earlier version of the dataset. */
  readonly version?: number | undefined
}

/** Combines two filters with `and`; either may be empty. */
export function bothFilters(one: string, other: string): string {
  if (one === '' || other === '') return one || other
  const part = (some: string) => (tokenize(some).some(({ text }) => text === 'or') ? `(${some})` : some)
  return `${part(one)} and ${part(other)}`
}

/** The rows as options of a query. */
export function whereOf({ filter, search, version }: RowsOf): RowsQuery {
  return { filter: filter || undefined, search: searchOf(search), version }
}

/** The rows as the first steps of `$apply`; '' for all. */
export function wherePart({ filter, search }: RowsOf): string {
  const term = searchOf(search)
  return [filter && `filter(${filter})`, term && `search(${term})`].filter(Boolean).join('/')
}

/** The `$apply` of a view. The filter refers to columns of the dataset, so it comes before the grouping. */
export function pipeline(rows: RowsOf, apply: string): string {
  return [wherePart(rows), apply].filter(Boolean).join('/')
}

/** Words as `$search` takes them: as they are if they have operators, else each word in quotes. */
function searchOf(typed: string): string | undefined {
  const text = typed.trim()
  if (text === '') return undefined
  if (/["()]|\b(?:AND|OR|NOT)\b/.test(text)) return text
  return text
    .split(/\s+/)
    .map((word) => `"${word}"`)
    .join(' ')
}

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
  const index = shown.findLastIndex((one) => before.has(one)) + 1
  return [...shown.slice(0, index), column, ...shown.slice(index)]
}

/** Moves a column by a number of places, at most to either end. */
export function moved(shown: readonly Column[], column: Column, step: number): Column[] {
  const from = shown.indexOf(column)
  const rest = shown.filter((one) => one !== column)
  const to = Math.max(0, Math.min(rest.length, from + step))
  return [...rest.slice(0, to), column, ...rest.slice(to)]
}
