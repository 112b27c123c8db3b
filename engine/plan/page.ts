import { createHash } from 'node:crypto'
import type { Format, Statement } from '../types/index.ts'
import { type Plan, type PlanSource, planQuery, type QueryOptions } from './plan.ts'
import { rowsStatement } from './statements.ts'
import { withoutRowNumbers } from './view.ts'

/** A page of rows that are probably all read, one page after another. */
export interface Page {
  /** The most rows of the page. */
  readonly rows: number
  /** Names the rows from this page on. */
  readonly name: string
  /** Names the rows behind this page; undefined if the same statement doesn't read them. */
  readonly next: string | undefined
  /** The statement of the rows from this page on. Its columns are those of the page. */
  readonly statement: () => Statement
}

interface PagedRows {
  readonly source: PlanSource
  /** Identifies the rows of the source. */
  readonly identity: string
  /**
   * Whether parts may have to be fetched. The statement of a query without a filter then ends with the last part that
   * the page needs.
   */
  readonly fetches?: boolean
}

/**
 * The page that a plan's window is; undefined if its rows can't be read on: sorted or aggregated rows would have to be
 * kept in memory between two pages.
 * @param now what now() returned in the plan
 */
export function pageOf(
  { filter, order, steps, columns, result }: Plan,
  { source, identity, fetches = false }: PagedRows,
  { skip = 0, top, ...others }: QueryOptions,
  format: Format,
  now: Date,
): Page | undefined {
  if (!top || order.length > 0 || steps.length > 0) return undefined
  const end = filter ? undefined : endOfStatement(source, skip + (result ?? top), fetches)
  const question = createHash('sha256')
    .update(JSON.stringify([identity, format, columns, filter, end]))
    .digest('base64')
  const next = skip + top
  // If a part begins within the next page, another statement reads that page.
  const isRead = end === undefined || (end === source.rows ? next < end : next + top <= end)
  return {
    rows: top,
    name: `${question} ${skip}`,
    next: isRead ? `${question} ${next}` : undefined,
    statement: () => {
      const window = { skip, ...(end !== undefined && { top: end - skip }) }
      const plan = planQuery(source, { ...others, ...window }, { now })
      return rowsStatement((format === 'json' && withoutRowNumbers(plan)?.plan) || plan, undefined)
    },
  }
}

/** Where a statement that reads at least the rows before `row` ends; undefined if the source doesn't know its rows. */
function endOfStatement(source: PlanSource, row: number, fetches: boolean): number | undefined {
  const { rows } = source
  if (rows === undefined || !fetches) return rows
  const scan = source.scan(0, rows)
  const first = scan.kind === 'slices' ? scan.slices.find((slice) => slice.first >= row)?.first : undefined
  return first ?? rows
}
