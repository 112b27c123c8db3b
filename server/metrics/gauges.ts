import type { TrinoStats } from '../../engine/index.ts'
import type { Services } from '../services.ts'

const NOT_ASKED = { answered: 0, repeated: 0, failed: 0, running: 0 } as const satisfies TrinoStats

/** Adds the metrics whose values are looked up when the metrics are requested. */
export function addGauges({ metrics, exports, uploads, connectors, engine, usage }: Services): void {
  metrics.gauge('transfers_running', 'Downloads and uploads under way.', () => [
    { of: 'downloads', value: exports.gate.running },
    { of: 'uploads', value: uploads.gate.running },
  ])
  metrics.gauge('transfers_queued', 'Downloads and uploads that wait for a place.', () => [
    { of: 'downloads', value: exports.gate.queued },
    { of: 'uploads', value: uploads.gate.queued },
  ])
  metrics.gauge('provider_cache', "The cache of providers' answers.", async () => {
    const { cache } = (await connectors()).stats()
    return Object.entries(cache).map(([of, value]) => ({ of, value }))
  })
  metrics.gauge('provider_limit_remaining', 'Requests left of the limit that is closest.', async () => {
    const { providers } = (await connectors()).stats()
    return providers.flatMap(({ provider, limit }) =>
      limit.remaining === null ? [] : [{ of: provider, value: limit.remaining }],
    )
  })
  metrics.gauge('provider_down', 'Providers that are not asked because they fail.', async () => {
    const { providers } = (await connectors()).stats()
    return providers.map(({ provider, breaker }) => ({ of: provider, value: breaker === 'closed' ? 0 : 1 }))
  })
  metrics.gauge(
    'events',
    'Events of the engine since the start, by kind, and failures to count exported rows.',
    async () => {
      const { events } = await engine.stats()
      return [
        ...Object.entries(events).map(([of, value]) => ({ of, value })),
        { of: 'usage_unwritten', value: usage.failures },
      ]
    },
  )
  metrics.gauge(
    'damaged_parts',
    'Parts of stored rows that were found damaged and are not read.',
    async () => {
      const { damagedParts } = await engine.stats()
      return [{ of: 'store', value: damagedParts }]
    },
  )
  metrics.gauge(
    'writes_stopped',
    'Whether nothing is written until the next start (1) or all is well (0).',
    async () => {
      const { writesStopped } = await engine.stats()
      return [{ of: 'process', value: writesStopped ? 1 : 0 }]
    },
  )
  metrics.gauge(
    'parts_cache',
    'Parts that were at hand when they were read (hits) or had to be fetched (misses), the same for blocks of parts that were read by ranges, and bytes: fetched, on disk, at most.',
    async () => {
      const { cache } = await engine.stats()
      return Object.entries(cache ?? {}).map(([of, value]) => ({ of, value }))
    },
  )
  metrics.gauge(
    'trino',
    'Questions that Trino answered, those repeated in DuckDB after it failed, those that failed, and those it works on.',
    async () => {
      const { executor } = await engine.stats()
      return Object.entries(executor?.trino ?? NOT_ASKED).map(([of, value]) => ({ of, value }))
    },
  )
  metrics.gauge('engine', 'Figures of the engine.', async () => {
    const { readers, executor } = await engine.stats()
    const figures = Object.entries(executor ?? {}).flatMap(([of, value]) =>
      typeof value === 'number' ? [{ of, value }] : [],
    )
    return [{ of: 'readers', value: readers }, ...figures]
  })
}
