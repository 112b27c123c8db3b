import type { Days, Release } from '../connector.ts'
import { invalid, quoted } from '../errors.ts'
import { addDays, isDate, isoDate } from '../periods.ts'

/** The most days, and how many there are if nothing else is asked for. */
const MOST_DAYS = 366
const USUAL_DAYS = 31

/**
 * The days of a question; by default a month from today on.
 * @throws ConnectorError `invalid_option`
 */
export function checkedDays({ from, to }: Partial<Days>, now: number): Days {
  for (const [name, date] of Object.entries({ from, to })) {
    if (date !== undefined && !isDate(date))
      throw invalid(`${name} must be a date like 2026-01-31; it is ${quoted(date)}.`)
  }
  const first = from ?? (to === undefined ? isoDate(now) : addDays(to, 1 - USUAL_DAYS))
  const last = to ?? addDays(first, USUAL_DAYS - 1)
  if (last < first) throw invalid(`to is ${last}, which is before from, ${first}.`)
  if (addDays(first, MOST_DAYS - 1) < last)
    throw invalid(`from and to are more than ${MOST_DAYS} days apart; ask for one year after the other.`)
  return { from: first, to: last }
}

/** The releases of some days, each once, in the order of time; on each day those without a time are first. */
export function inOrder(releases: readonly Release[], { from, to }: Days): readonly Release[] {
  const within = releases.filter(({ date }) => from <= date && date <= to)
  const keyOf = ({ date, time, name, period }: Release) =>
    [date, time ?? '', name, period ?? ''].join('\u0000')
  const distinct = new Map(within.map((release) => [keyOf(release), release]))
  return [...distinct].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, release]) => release)
}

/** The instant, ISO 8601 in UTC, at which the clocks of a zone show a time such as `08:30` on a date. */
export function instantIn(zone: string, date: string, time: string): string {
  const shown = Date.parse(`${date}T${time}:00Z`)
  // The second round is for the days on which clocks change.
  let instant = shown
  for (let round = 0; round < 2; round++) instant = shown - offsetAt(zone, instant)
  return utcText(instant)
}

/** A time without fractions of a second. */
export function utcText(instant: number): string {
  return new Date(instant).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** How much the clocks of a zone are ahead of UTC, in milliseconds. */
function offsetAt(timeZone: string, instant: number): number {
  const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(instant)
  const { value = '' } = parts.find(({ type }) => type === 'timeZoneName') ?? {}
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(value) ?? []
  return (sign === '-' ? -60_000 : 60_000) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0))
}
