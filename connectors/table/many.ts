import type { MissingSeries, SeriesBatch, WantedSeries } from '../calls.ts'
import { ConnectorError } from '../errors.ts'
import { mapConcurrent } from '../pipeline/map-concurrent.ts'

/** How many requests of one call may be under way at once; each provider's own limits apply as well. */
const AT_ONCE = 6

/** Fetches all wanted series and returns them in this order. Failures are recorded with their reason. */
export async function inBatches<T extends WantedSeries>(
  wanted: readonly T[],
  fetch: (one: T) => Promise<SeriesBatch['series']>,
): Promise<SeriesBatch> {
  const outcomes = await mapConcurrent(AT_ONCE, wanted, async (one) => {
    try {
      return await fetch(one)
    } catch (thrown) {
      if (!(thrown instanceof ConnectorError) || thrown.code === 'cancelled') throw thrown
      return { provider: one.provider, series_id: one.id, error: thrown } satisfies MissingSeries
    }
  })
  const found = outcomes.flatMap((one) => ('error' in one ? [] : one))
  const missing = outcomes.filter((one) => 'error' in one)
  // Two wildcards may match the same series.
  const series = new Map(found.map((one) => [JSON.stringify([one.provider, one.series_id]), one]))
  const [first] = missing
  if (series.size === 0 && first !== undefined) throw first.error
  return { series: [...series.values()], missing }
}
