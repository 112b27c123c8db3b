import type { Connectors } from '../connectors/index.ts'
import type { Engine, TrinoStats } from '../engine/index.ts'
import type { Usage } from './accounts/plans.ts'
import type { GaugeOptions } from './http/metrics.ts'
import type { Exports } from './transfers/exports.ts'
import type { Uploads } from './transfers/uploads.ts'

const NOT_ASKED = { answered: 0, repeated: 0, failed: 0, running: 0 } as const satisfies TrinoStats

interface Watched {
  readonly engine: Engine
  readonly connectors: () => Promise<Connectors>
  readonly exports: Exports
  readonly uploads: Uploads
  readonly usage: Usage
}

/** The metrics whose values are looked up when the metrics are requested. */
export const gauges = ({ engine, connectors, exports, uploads, usage }: Watched): readonly GaugeOptions[] => [
  {
    name: 'transfers_running',
    help: 'Downloads and uploads under way.',
    read: () => ({ downloads: exports.gate.running, uploads: uploads.gate.running }),
  },
  {
    name: 'transfers_queued',
    help: 'Downloads and uploads that wait for a place.',
    read: () => ({ downloads: exports.gate.queued, uploads: uploads.gate.queued }),
  },
  {
    name: 'provider_cache',
    help: "The cache of providers' answers.",
    read: async () => (await connectors()).stats().cache,
  },
  {
    name: 'provider_limit_remaining',
    help: 'Requests left of the limit that is closest.',
    read: async () => {
      const { providers } = (await connectors()).stats()
      return Object.fromEntries(providers.map(({ provider, limit }) => [provider, limit.remaining]))
    },
  },
  {
    name: 'provider_down',
    help: 'Providers that are not asked because they fail.',
    read: async () => {
      const { providers } = (await connectors()).stats()
      return Object.fromEntries(
        providers.map(({ provider, breaker }) => [provider, breaker === 'closed' ? 0 : 1]),
      )
    },
  },
  {
    name: 'events',
    help: 'Events of the engine since the start, by kind, and failures to count exported rows.',
    read: async () => ({ ...(await engine.stats()).events, usage_unwritten: usage.failures }),
  },
  {
    name: 'damaged_parts',
    help: 'Parts of stored rows that were found damaged and are not read.',
    read: async () => ({ store: (await engine.stats()).damagedParts }),
  },
  {
    name: 'writes_stopped',
    help: 'Whether nothing is written until the next start (1) or all is well (0).',
    read: async () => ({ process: (await engine.stats()).writesStopped ? 1 : 0 }),
  },
  {
    name: 'parts_cache',
    help: 'Parts that were at hand when they were read (hits) or had to be fetched (misses), the same for blocks of parts that were read by ranges, and bytes: fetched, on disk, at most; requests to the object store, those that failed, and the seconds of all.',
    read: async () => (await engine.stats()).cache ?? {},
  },
  {
    name: 'cluster',
    help: 'Nodes that live, seconds since this one said that it does, statements that wait for a connection to the database, and jobs that nobody has taken up.',
    read: async () => (await engine.cluster()) ?? {},
  },
  {
    name: 'trino',
    help: 'Questions that Trino answered, those repeated in DuckDB after it failed, those that failed, and those it works on.',
    read: async () => (await engine.stats()).executor?.trino ?? NOT_ASKED,
  },
  {
    name: 'engine',
    help: 'Figures of the engine.',
    read: async () => {
      const { readers, executor } = await engine.stats()
      return { readers, ...executor }
    },
  },
]
