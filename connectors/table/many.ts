import { ConnectorError } from '../errors.ts'
import type { MissingSeries, SeriesBatch, WantedSeries } from '../face.ts'

/** How many requests of one call may be under way at once; each provider's own limits apply as well. */
const AT_ONCE = 6

/** Fetches all wanted series and returns them in this order. Failures are recorded with their reason. */
export async function inBatches<T extends WantedSeries>(
  wanted: readonly T[],
  fetch: (one: T) => Promise<SeriesBatch['series']>,
): Promise<SeriesBatch> {
  const found: SeriesBatch['series'][] = []
  const failed: (MissingSeries | undefined)[] = []
  let next = 0
  const work = async () => {
    while (next < wanted.length) {
      const index = next++
      const one = wanted[index]!
      try {
        found[index] = await fetch(one)
      } catch (thrown) {
        if (!(thrown instanceof ConnectorError) || thrown.code === 'cancelled') {
          // The call fails now, so nothing more is requested for it.
          next = wanted.length
          throw thrown
        }
        failed[index] = { provider: one.provider, series_id: one.id, error: thrown }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, wanted.length) }, work))
  // Two wildcards may match the same series.
  const series = new Map(found.flat().map((one) => [JSON.stringify([one.provider, one.series_id]), one]))
  const missing = failed.filter((one) => one !== undefined)
  const [first] = missing
  if (series.size === 0 && first !== undefined) throw first.error
  return { series: [...series.values()], missing }
}
