import type { TrinoStats } from '../engine/index.ts'
import type { GaugeOptions, GaugeValue } from './metrics/metrics.ts'
import type { Services } from './services.ts'

const NOT_ASKED = { answered: 0, repeated: 0, failed: 0, running: 0 } as const satisfies TrinoStats

/** The metrics whose values are looked up when the metrics are requested. */
const gauges = ({ engine, connectors, exports, uploads, usage }: Services): readonly GaugeOptions[] => [
  {
    name: 'transfers_running',
    help: 'Downloads and uploads under way.',
    read: () => [
      { of: 'downloads', value: exports.gate.running },
      { of: 'uploads', value: uploads.gate.running },
    ],
  },
  {
    name: 'transfers_queued',
    help: 'Downloads and uploads that wait for a place.',
    read: () => [
      { of: 'downloads', value: exports.gate.queued },
      { of: 'uploads', value: uploads.gate.queued },
    ],
  },
  {
    name: 'provider_cache',
    help: "The cache of providers' answers.",
    read: async () => valuesOf((await connectors()).stats().cache),
  },
  {
    name: 'provider_limit_remaining',
    help: 'Requests left of the limit that is closest.',
    read: async () =>
      (await connectors())
        .stats()
        .providers.flatMap(({ provider, limit }) =>
          limit.remaining === null ? [] : [{ of: provider, value: limit.remaining }],
        ),
  },
  {
    name: 'provider_down',
    help: 'Providers that are not asked because they fail.',
    read: async () =>
      (await connectors())
        .stats()
        .providers.map(({ provider, breaker }) => ({ of: provider, value: breaker === 'closed' ? 0 : 1 })),
  },
  {
    name: 'events',
    help: 'Events of the engine since the start, by kind, and failures to count exported rows.',
    read: async () => [
      ...valuesOf((await engine.stats()).events),
      { of: 'usage_unwritten', value: usage.failures },
    ],
  },
  {
    name: 'damaged_parts',
    help: 'Parts of stored rows that were found damaged and are not read.',
    read: async () => [{ of: 'store', value: (await engine.stats()).damagedParts }],
  },
  {
    name: 'writes_stopped',
    help: 'Whether nothing is written until the next start (1) or all is well (0).',
    read: async () => [{ of: 'process', value: (await engine.stats()).writesStopped ? 1 : 0 }],
  },
  {
    name: 'parts_cache',
    help: 'Parts that were at hand when they were read (hits) or had to be fetched (misses), the same for blocks of parts that were read by ranges, and bytes: fetched, on disk, at most; requests to the object store, those that failed, and the seconds of all.',
    read: async () => valuesOf((await engine.stats()).cache ?? {}),
  },
  {
    name: 'cluster',
    help: 'Nodes that live, seconds since this one said that it does, statements that wait for a connection to the database, and jobs that nobody has taken up.',
    read: async () => valuesOf((await engine.cluster()) ?? {}),
  },
  {
    name: 'trino',
    help: 'Questions that Trino answered, those repeated in DuckDB after it failed, those that failed, and those it works on.',
    read: async () => valuesOf((await engine.stats()).executor?.trino ?? NOT_ASKED),
  },
  {
    name: 'engine',
    help: 'Figures of the engine.',
    read: async () => {
      const { readers, executor } = await engine.stats()
      return [{ of: 'readers', value: readers }, ...valuesOf(executor ?? {})]
    },
  },
]

/** Adds the metrics whose values are looked up when the metrics are requested. */
export function addGauges(services: Services): void {
  for (const gauge of gauges(services)) services.metrics.gauge(gauge)
}

/** The numbers of an object, by their names. */
function valuesOf(figures: object): GaugeValue[] {
  return Object.entries(figures).flatMap(([of, value]) => (typeof value === 'number' ? [{ of, value }] : []))
}
