/** How often a dataset that follows series asks for them again. */
export const INTERVALS = ['hour', 'day', 'week', 'month'] as const
export type Interval = (typeof INTERVALS)[number]

const MILLISECONDS = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const
/** After a failure that may pass, the first wait; it doubles with each failure in a row. */
const FIRST_RETRY = 5 * 60_000

/**
 * The first moment after `now` that lies a whole number of intervals behind `since`. Moments that were missed while no
 * server ran are not made up for. A month that lacks the day ends on its last one, and the next has the day again.
 */
export function nextRun(since: Date, every: Interval, now: Date): Date {
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
  // Where the month has no such day, the date has run over into the next one.
  if (moment.getUTCDate() !== since.getUTCDate()) moment.setUTCDate(0)
  return moment
}

/**
 * When to try again after so many failures in a row, unless the schedule comes first.
 * @param seconds how long the provider asks to be left alone, where it says so
 */
export function retryRun(now: Date, failures: number, seconds: number | undefined, scheduled: Date): Date {
  const wait = Math.max(FIRST_RETRY * 2 ** Math.min(failures - 1, 12), 1000 * (seconds ?? 0))
  return new Date(Math.min(now.getTime() + wait, scheduled.getTime()))
}
