import type { Connectors } from '../connectors/index.ts'
import { type Engine, migrate, type TrinoStats } from '../engine/index.ts'
import { Access } from './accounts/access.ts'
import { Accounts, Keys } from './accounts/accounts.ts'
import { Idempotency } from './accounts/idempotency.ts'
import { Links } from './accounts/links.ts'
import { Plans, Usage, unnamedPlans } from './accounts/plans.ts'
import { SERVER_STEPS } from './accounts/schema.ts'
import { checkSecret, secretAmong, secretIn, UserKeys, Vault } from './accounts/user-keys.ts'
import { ConfigError } from './config/read.ts'
import type { Config } from './config/schema.ts'
import { type GaugeOptions, Metrics } from './http/metrics.ts'
import type { Network } from './sources/networks.ts'
import { Refresher } from './sources/refresher.ts'
import { Sources } from './sources/sources.ts'
import { ChangeStreams } from './transfers/change-streams.ts'
import { Exports } from './transfers/exports.ts'
import { KeptSnapshots } from './transfers/kept-snapshots.ts'
import { Lifecycle } from './transfers/transfer.ts'
import { Uploads } from './transfers/uploads.ts'

/** Everything that the routes work with. */
export interface Services {
  readonly config: Config
  readonly engine: Engine
  /** Opens them at the first call. */
  readonly connectors: () => Promise<Connectors>
  readonly accounts: Accounts
  readonly access: Access
  readonly idempotency: Idempotency
  readonly links: Links
  readonly keys: Keys
  readonly plans: Plans
  readonly usage: Usage
  readonly userKeys: UserKeys
  readonly sources: Sources
  readonly refresher: Refresher
  readonly exports: Exports
  readonly changeStreams: ChangeStreams
  readonly uploads: Uploads
  readonly snapshots: KeptSnapshots
  readonly lifecycle: Lifecycle
  readonly metrics: Metrics
  /** The program's version, for the OpenAPI document. */
  readonly version: string
  /** The folder of the built console; undefined if it was not built. */
  readonly console?: string
  /** Whether it is only tried out, on data that is removed at the end. */
  readonly demo: boolean
  /** The folder of the built documentation; undefined if it was not built. */
  readonly guide?: string
}

export interface ServiceParts {
  readonly config: Config
  readonly engine: Engine
  /** A function is called when a provider is first needed, and then gives the same ones each time. */
  readonly connectors: Connectors | (() => Promise<Connectors>)
  readonly version: string
  readonly console?: string
  readonly demo?: boolean | undefined
  readonly guide?: string
  /** Called with failures in work for which no request waits. */
  readonly warn?: (message: string, cause?: unknown) => void
  /** Replaced in tests. */
  readonly now?: () => Date
  readonly network?: Network
  readonly patienceMs?: number
}

const UNWRITTEN_USAGE =
  'Rows that were exported could not be written down. Unless the outcome is unknown, they stay counted in memory.'

/**
 * Builds the services on an open engine, and adds the server's tables to its database.
 * @throws ConfigError when an account has a plan that is not configured
 */
export async function openServices(parts: ServiceParts): Promise<Services> {
  const { connectors: given, warn = () => undefined, now, network, patienceMs, ...shared } = parts
  const { config, engine, version } = shared
  const { database } = engine
  await migrate(database, 'server', SERVER_STEPS)
  const accounts = new Accounts(database)
  const plans = new Plans(config.plans)
  for (const { name, plan } of unnamedPlans(await accounts.list(), config.plans))
    throw new ConfigError(`Account ${name} has the plan ${plan}, which is not configured in plans.`)
  const usage = new Usage(database, plans, (cause) => warn(UNWRITTEN_USAGE, cause), now)
  const metrics: Metrics = new Metrics(() =>
    GAUGES.map((gauge) => ({ ...gauge, read: () => gauge.read(services) })),
  )
  const lifecycle = new Lifecycle()
  const secret = config.secret ?? (database.isShared ? await secretAmong(database) : secretIn(config.data))
  await checkSecret(database, secret, config.previousSecret)
  const access = new Access(database)
  engine.checkSavedQueries(async (by, repositoryIds) => {
    const account = await accounts.find(Number(by))
    if (!account || account.disabled) return false
    const seen = await Promise.all([...repositoryIds].map((id) => access.of(id, account)))
    return seen.every(({ right }) => right !== undefined)
  })
  const keys = new Keys(database, now)
  const userKeys = new UserKeys(database, new Vault(secret))
  const sources = new Sources(database)
  const connectors = typeof given === 'function' ? given : async () => given
  const refreshed = { config, engine, connectors, accounts, access, plans, userKeys, sources }
  const exports = new Exports({ config, engine, usage, lifecycle, metrics, version })
  const services: Services = {
    ...shared,
    demo: shared.demo ?? false,
    connectors,
    accounts,
    access,
    idempotency: new Idempotency(database),
    links: new Links({ database, keys, secret, now }),
    keys,
    plans,
    usage,
    userKeys,
    sources,
    refresher: new Refresher({ ...refreshed, now: now ?? (() => new Date()), network, patienceMs, warn }),
    exports,
    changeStreams: new ChangeStreams({ config, usage, lifecycle, metrics, downloads: exports.slots }),
    snapshots: new KeptSnapshots(),
    uploads: new Uploads({ config, lifecycle, metrics }),
    lifecycle,
    metrics,
  }
  return services
}

const NOT_ASKED = { answered: 0, repeated: 0, failed: 0, running: 0 } as const satisfies TrinoStats

interface Gauge extends Omit<GaugeOptions, 'read'> {
  readonly read: (services: Services) => ReturnType<GaugeOptions['read']>
}

/** The metrics whose values are looked up when the metrics are requested. */
const GAUGES: readonly Gauge[] = [
  {
    name: 'transfers_running',
    help: 'Downloads, streams and uploads under way.',
    read: ({ exports, changeStreams, uploads }) => ({
      downloads: exports.slots.running,
      streams: changeStreams.slots.running,
      uploads: uploads.slots.running + uploads.smallSlots.running,
    }),
  },
  {
    name: 'transfers_queued',
    help: 'Downloads and uploads that wait for a slot.',
    read: ({ exports, uploads }) => ({
      downloads: exports.slots.queued,
      uploads: uploads.slots.queued + uploads.smallSlots.queued,
    }),
  },
  {
    name: 'sql_statements',
    help: 'Statements of SQL under way: running, waiting for a process, refreshing stored queries in the background.',
    read: async ({ engine }) => ({ ...(await engine.stats()).statements }),
  },
  {
    name: 'provider_cache',
    help: "The cache of providers' answers.",
    read: async ({ connectors }) => (await connectors()).stats().cache,
  },
  {
    name: 'provider_limit_remaining',
    help: 'Requests left of the limit that is closest.',
    read: async ({ connectors }) => {
      const { providers } = (await connectors()).stats()
      return Object.fromEntries(providers.map(({ provider, limit }) => [provider, limit.remaining]))
    },
  },
  {
    name: 'provider_down',
    help: 'Providers that are not asked because they fail.',
    read: async ({ connectors }) => {
      const { providers } = (await connectors()).stats()
      return Object.fromEntries(
        providers.map(({ provider, breaker }) => [provider, breaker === 'closed' ? 0 : 1]),
      )
    },
  },
  {
    name: 'events',
    help: 'Events of the engine since the start, by kind, and failures to count exported rows.',
    read: async ({ engine, usage }) => ({
      ...(await engine.stats()).events,
      usage_unwritten: usage.failures,
    }),
  },
  {
    name: 'damaged_parts',
    help: 'Parts of stored rows that were found damaged and are not read.',
    read: async ({ engine }) => ({ store: (await engine.stats()).damagedParts }),
  },
  {
    name: 'writes_stopped',
    help: 'Whether nothing is written until the next start (1) or all is well (0).',
    read: async ({ engine }) => ({ process: (await engine.stats()).writesStopped ? 1 : 0 }),
  },
  {
    name: 'parts_cache',
    help: 'Parts that were at hand when they were read (hits) or had to be fetched (misses), the same for blocks of parts that were read by ranges, and bytes: fetched, on disk, at most; requests to the object store, those that failed, and the seconds of all.',
    read: async ({ engine }) => (await engine.stats()).cache ?? {},
  },
  {
    name: 'cluster',
    help: 'Nodes that live, seconds since this one said that it does, statements that wait for a connection to the database, and jobs that nobody has taken up.',
    read: async ({ engine }) => (await engine.cluster()) ?? {},
  },
  {
    name: 'trino',
    help: 'Questions that Trino answered, those repeated in DuckDB after it failed, those that failed, and those it works on.',
    read: async ({ engine }) => (await engine.stats()).executor?.trino ?? NOT_ASKED,
  },
  {
    name: 'engine',
    help: 'Figures of the engine.',
    read: async ({ engine }) => {
      const { readers, executor } = await engine.stats()
      return { readers, ...executor }
    },
  },
]
