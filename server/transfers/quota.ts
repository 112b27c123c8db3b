import type { FastifyRequest } from 'fastify'
import type { Plans } from '../accounts/plans.ts'
import type { Reservation, Usage } from '../accounts/usage.ts'
import type { Download } from './download.ts'

interface QuotaParts {
  readonly usage: Usage
  readonly plans: Plans
}

/**
 * Whether the rows must be counted before the first of them is read. This is so if the plan limits rows and the
 * largest possible number is unknown or more than what is left of the limit: the true number may still be within it.
 */
export async function countsFirst(
  { plans, usage }: QuotaParts,
  { account }: FastifyRequest,
  { query, meteredRows }: Download,
): Promise<boolean> {
  if (meteredRows === undefined) return false
  const limit = plans.limits(account.plan).exportedRows
  if (limit === null) return false
  if (query.knownRowCount === undefined) return true
  return query.resultRows(query.knownRowCount) > (await usage.remaining(account.id, limit))
}

/** Reserves the rows of a download, of which `count` match, if its rows count against the plan. */
export async function reserve(
  { plans, usage }: QuotaParts,
  { account }: FastifyRequest,
  { query, meteredRows }: Download,
  count: number | undefined,
): Promise<Reservation | undefined> {
  if (meteredRows === undefined) return undefined
  const limit = plans.limits(account.plan).exportedRows
  return usage.reserve(account, limit, query.resultRows(count ?? meteredRows))
}

/** Counts rows that are there already. */
export async function spend(
  { plans, usage }: QuotaParts,
  { account }: FastifyRequest,
  rows: number,
): Promise<void> {
  const reservation = await usage.reserve(account, plans.limits(account.plan).exportedRows, rows)
  reservation.settle(rows)
}
