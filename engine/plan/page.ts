import { createHash } from 'node:crypto'
import type { QueryOptions } from './options.ts'
import type { Plan, PlanSource } from './plan.ts'

/** A window as a page of more rows, which one statement can read. */
export interface PageOfRows {
  readonly rows: number
  /** Names the rows from this page on, and those behind it; undefined if the statement ends with this page. */
  readonly name: string
  readonly next: string | undefined
  /** The query with the window of the statement. */
  readonly options: QueryOptions
}

/**
 * The page that a plan's window is; undefined if its rows can't be read on: sorted or aggregated rows would have to be
 * kept in memory between two pages. Without a filter, the statement ends with the last part that the page needs, so
 * that no other part must be there.
 * @param identity identifies the rows of the source
 */
export function pageOf(
  plan: Plan,
  source: PlanSource,
  { skip = 0, top, ...others }: QueryOptions,
  identity: string,
): PageOfRows | undefined {
  const { filter, order, steps, columns, result } = plan
  if (top === undefined || order.length > 0 || steps.length > 0) return undefined
  const rows = result ?? top
  const end = filter || source.rows === undefined ? undefined : endOfPart(source, skip + rows)
  const question = createHash('sha256')
    .update(JSON.stringify([identity, columns, filter, end]))
    .digest('base64')
  return {
    rows,
    name: `${question} ${skip}`,
    next: end === skip + rows ? undefined : `${question} ${skip + rows}`,
    options: { ...others, skip, ...(end !== undefined && { top: end - skip }) },
  }
}

/** The end of the part that holds the row before `row`, as a number of rows from the beginning. */
function endOfPart(source: PlanSource, row: number): number {
  const rows = source.rows!
  const scan = source.scan(0, rows)
  const first = scan.kind === 'slices' ? scan.slices.find((slice) => slice.first >= row)?.first : undefined
  return first ?? rows
}
