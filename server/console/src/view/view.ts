import type { OrderKey } from '../../../../engine/options.ts'
import type { Column, RowsQuery } from '../../../client/index.ts'
import { parseAddress, updateQuery } from '../router.ts'
import { bothFilters, pipelineOf, type RowsOf, whereOf } from '../rows.ts'
import { writeShown } from './shown-columns.ts'

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
    ...(apply === '' ? whereOf(view) : { apply: pipelineOf(view, apply), version }),
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
