import { createHash } from 'node:crypto'
import type { QueryOptions } from './options.ts'
import type { Plan, PlanSource } from './plan.ts'

/** Some of the rows that one statement reads. */
export interface PageOfRows {
  /** The most rows of the page. */
  readonly rows: number
  /** Names the rows from this page on. */
  readonly name: string
  /** The page after this one, if the same statement reads it. */
  readonly next: () => PageOfRows | undefined
}

/**
 * The page that a plan's window is, and the query with the window of a statement that reads it and the pages after it;
 * undefined if its rows can't be read on: sorted or aggregated rows would have to be kept in memory between two pages.
 * @param identity identifies the rows of the source
 * @param allThere whether all parts of the source can be read. Else the statement of a query without a filter ends with
 * the last part that the page needs.
 */
export function pageOf(
  plan: Plan,
  source: PlanSource,
  { skip: before = 0, top, ...others }: QueryOptions,
  identity: string,
  allThere: boolean,
): (PageOfRows & { readonly options: QueryOptions }) | undefined {
  const { filter, order, steps, columns, result } = plan
  if (!top || order.length > 0 || steps.length > 0) return undefined
  const end = filter ? undefined : endOfStatement(source, before + (result ?? top), allThere)
  const question = createHash('sha256')
    .update(JSON.stringify([identity, columns, filter, end]))
    .digest('base64')
  // A page that also needs the part behind the end is read by another statement.
  const isRead = (skip: number) => end === undefined || (end === source.rows ? skip < end : skip + top <= end)
  const from = (skip: number): PageOfRows => ({
    rows: top,
    name: `${question} ${skip} ${top}`,
    next: () => (isRead(skip + top) ? from(skip + top) : undefined),
  })
  return {
    ...from(before),
    options: { ...others, skip: before, ...(end !== undefined && { top: end - before }) },
  }
}

/** Where a statement that reads at least the rows before `row` ends; undefined if the source doesn't know its rows. */
function endOfStatement(source: PlanSource, row: number, allThere: boolean): number | undefined {
  const { rows } = source
  if (rows === undefined || allThere) return rows
  const scan = source.scan(0, rows)
  const first = scan.kind === 'slices' ? scan.slices.find((slice) => slice.first >= row)?.first : undefined
  return first ?? rows
}
