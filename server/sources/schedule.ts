import type { Source } from '../records/index.ts'

/** What changes is looked at as often as sources are. */
const MILLISECONDS = { 'on-change': 10_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const
/** The wait after a first failure that may pass; it doubles with each further failure in a row. */
const FIRST_RETRY = 5 * 60_000

/**
 * The first moment after `now` that is a whole number of intervals after `since`. Runs that were missed while no server
 * ran are not made up for. In a month without the day of `since`, the last day of the month is used.
 */
export function nextRun(since: Date, every: Source['every'], now: Date): Date {
  if (every !== 'month') {
    const step = MILLISECONDS[every]
    const passed = Math.floor((now.getTime() - since.getTime()) / step)
    return new Date(since.getTime() + Math.max(1, passed + 1) * step)
  }
  const apart = (now.getUTCFullYear() - since.getUTCFullYear()) * 12 + now.getUTCMonth() - since.getUTCMonth()
  const next = monthsLater(since, Math.max(1, apart))
  return next > now ? next : monthsLater(since, apart + 1)
}

function monthsLater(since: Date, months: number): Date {
  const moment = new Date(since)
  moment.setUTCMonth(since.getUTCMonth() + months)
  // If the month has no such day, the date has moved into the next month; day 0 moves it back to the last day.
  if (moment.getUTCDate() !== since.getUTCDate()) moment.setUTCDate(0)
  return moment
}

/**
 * The time of the next try after a number of failures in a row, but never later than the scheduled run.
 * @param seconds how long the provider asks us to wait, if it says so
 */
export function retryRun(now: Date, failures: number, seconds: number | undefined, scheduled: Date): Date {
  const wait = Math.max(FIRST_RETRY * 2 ** Math.min(failures - 1, 12), 1000 * (seconds ?? 0))
  return new Date(Math.min(now.getTime() + wait, scheduled.getTime()))
}
