import type { Release } from '../../connectors/index.ts'

/** The time, in UTC, of releases of which only the day is announced: FRED's, most of which are out by 9:30 in New York. */
const USUAL_TIME = '13:30:00Z'

/** A release that a series waits for. */
export type Awaited = Pick<Release, 'name' | 'date' | 'time'>

/** An id that a dataset follows, as the user gave it; with wildcards it stands for several series. */
export interface Followed {
  /** The id with its provider, such as `fred/GDP`. */
  readonly id: string
  /** The ids of the series in the last answer, with their provider, as they are in the rows' `series_id`. */
  readonly found: readonly string[]
  /** Why the last request for it failed; undefined if it did not fail. */
  readonly error?: { readonly code: string; readonly message: string } | undefined
  /** A hash of the rows in the last answer. This and what follows is known only of series that are read after releases. */
  readonly digest?: string | undefined
  /** When the rows last changed; undefined if they haven't since the source was set. */
  readonly changed?: string | undefined
  /** When it is read next. */
  readonly next?: string | undefined
  /** The release for which it is. */
  readonly release?: Awaited | null | undefined
}

/** When a release is expected, ISO 8601 in UTC. */
export function timeOf({ date, time }: Pick<Release, 'date' | 'time'>): string {
  return time ?? `${date}T${USUAL_TIME}`
}

/** The first release that series wait for, and the ids of those that do; null if none does. */
export function nextRelease(series: readonly Followed[]) {
  const waiting = series.flatMap(({ id, release }) => (release ? [{ id, release }] : []))
  const [first] = waiting.toSorted((a, b) => (timeOf(a.release) < timeOf(b.release) ? -1 : 1))
  if (!first) return null
  const { name, date, time } = first.release
  const isSame = ({ release }: (typeof waiting)[number]) => release.name === name && release.date === date
  return { name, date, time, series: waiting.filter(isSame).map(({ id }) => id) }
}
