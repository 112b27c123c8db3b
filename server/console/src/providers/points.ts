import type { Series } from '../../../client/index.ts'
import type { Point } from '../plot/group.ts'
import { toNumber } from '../profile/stats.ts'

/** The observations of a series as points: by their time of day where they have one, otherwise by their dates. */
export function pointsOf({ observations, frequency }: Pick<Series, 'observations' | 'frequency'>): {
  readonly points: readonly Point[]
  readonly xType: 'date' | 'timestamp'
} {
  const xType = frequency === 'intraday' ? 'timestamp' : 'date'
  const points = observations.map(({ date, period = date, value }) => ({
    x: toNumber(xType === 'timestamp' ? period : date, xType),
    y: typeof value === 'number' ? value : null,
  }))
  return { points, xType }
}
