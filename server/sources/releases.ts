import { ConnectorError } from '../../connectors/errors.ts'
import type { Caller, Connectors, Release } from '../../connectors/index.ts'
import { addDays } from '../../connectors/periods.ts'
import { mapConcurrent } from '../../connectors/pipeline/map-concurrent.ts'
import { ServerError } from '../http/errors.ts'
import { type Awaited, type Followed, timeOf } from './followed.ts'

const MINUTE = 60_000
const DAY = 1440 * MINUTE
/** How long after an announced time a series is read: until it has changed, and then no more. */
const TRIES = [15, 60, 180, 480, 1440].map((minutes) => minutes * MINUTE)
/** A series is read after so long in any case, so that dates which move, and other revisions, are noticed. */
const LONGEST = 7 * DAY
/** How far ahead releases are looked for. */
const DAYS_AHEAD = 360

/** How many calendars are asked for at once. */
const AT_ONCE = 4

interface Places {
  readonly connectors: Pick<Connectors, 'releases'>
  readonly callerOf: (slug: string) => Promise<Caller>
  readonly now: Date
}

/**
 * When a series is read next, and the release for which: at one of the tries after the first release since which it has
 * not changed. Without such a release it is read after a day.
 * @param changed when the series last changed, ISO 8601
 */
export function nextReading(
  releases: readonly Release[],
  changed: string | undefined,
  now: Date,
): { readonly next: string; readonly release: Awaited | null } {
  const open = releases.flatMap(({ name, date, time }) => {
    const isOut = changed !== undefined && Date.parse(changed) >= Date.parse(time ?? date)
    const at = Date.parse(timeOf({ date, time }))
    const due = isOut ? undefined : TRIES.map((after) => at + after).find((each) => each > now.getTime())
    return due === undefined ? [] : [{ due, release: { name, date, time } }]
  })
  const [first] = open.sort((a, b) => a.due - b.due)
  const due = first ? Math.min(first.due, now.getTime() + LONGEST) : now.getTime() + DAY
  return { next: new Date(due).toISOString(), release: first?.release ?? null }
}

/** Whether a series is read at a scheduled run: always, unless a later time was set for it. */
export function isDue({ next }: Followed, now: Date): boolean {
  return next === undefined || next <= now.toISOString()
}

/**
 * Sets when each series that a run has read is read next. If a calendar can't be read, its series are read after a day,
 * and `failure` says so.
 * @param before the series before the run, and `after` it
 * @param answers those that the run has read, by their ids
 */
export async function afterReleases(
  before: readonly Followed[],
  after: readonly Followed[],
  answers: ReadonlyMap<string, unknown>,
  { connectors, callerOf, now }: Places,
): Promise<{ readonly followed: readonly Followed[]; readonly failure: string | null; readonly due: Date }> {
  const today = now.toISOString().slice(0, 10)
  const days = { from: addDays(today, -1), to: addDays(today, DAYS_AHEAD) }
  const digests = new Map(before.map(({ id, digest }) => [id, digest]))
  let failure: string | null = null
  const read = async (one: Followed): Promise<Followed> => {
    if (!answers.has(one.id)) return one
    const digest = digests.get(one.id)
    const changed = digest !== undefined && digest !== one.digest ? now.toISOString() : one.changed
    const slash = one.id.indexOf('/')
    const slug = one.id.slice(0, slash)
    try {
      const query = { ...days, series: one.id.slice(slash + 1) }
      const { releases } = await connectors.releases(slug, query, await callerOf(slug))
      return { ...one, changed, ...nextReading(releases, changed, now) }
    } catch (error) {
      const isKnown = error instanceof ConnectorError || error instanceof ServerError
      if (!isKnown || error.code === 'cancelled') throw error
      // Why a series is missing is told elsewhere.
      if (one.error === undefined)
        failure ??= `${one.id} is read again in a day, because its releases can't be looked up: ${error.message}`
      return { ...one, changed, ...nextReading([], changed, now) }
    }
  }
  const followed = await mapConcurrent(AT_ONCE, after, read)
  const [due = now.toISOString()] = followed.flatMap(({ next }) => next ?? []).sort()
  return { followed, failure, due: new Date(due) }
}
