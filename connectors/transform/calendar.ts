import type { Observation } from '../connector.ts'
import { addDays, parsePeriod, periodOfDate } from '../periods.ts'

/** Number of months in a period, for each frequency whose periods are whole months. */
export const MONTHS_IN: Readonly<Record<string, number>> = {
  triennial: 36,
  biennial: 24,
  annual: 12,
  semiannual: 6,
  'four-monthly': 4,
  quarterly: 3,
  bimonthly: 2,
  monthly: 1,
}

/** The first day of an observation's period: some providers date a period by its last day. */
export function firstDay({ date, period }: Observation, frequency: string | null): string {
  const read = period === undefined ? undefined : parsePeriod(period)
  if (read !== undefined && read.frequency === frequency && frequency !== 'weekly') return read.date
  return frequency !== null && frequency in MONTHS_IN ? periodOfDate(date, frequency).date : date
}

/** The date a number of months later, or earlier if negative. The first day of a month stays a first day. */
export function addMonths(date: string, months: number): string {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number)
  const index = year * 12 + month - 1 + months
  const first = `${String(Math.floor(index / 12)).padStart(4, '0')}-${String((index % 12) + 1).padStart(2, '0')}`
  // 29 February doesn't exist a year before: the last day is the 28th then.
  const last = addDays(addOne(first), -1)
  const wanted = `${first}-${String(day).padStart(2, '0')}`
  return wanted > last ? last : wanted
}

/** The first day of the month after `2024-02`. */
function addOne(month: string): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return number === 12
    ? `${String(year + 1).padStart(4, '0')}-01-01`
    : `${String(year).padStart(4, '0')}-${String(number + 1).padStart(2, '0')}-01`
}
