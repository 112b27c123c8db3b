import type {
  Category,
  Connector,
  ConnectorContext,
  ProviderInfo,
  Series,
  SeriesPage,
  SeriesRange,
} from './connector.ts'
import { ConnectorError, type ConnectorErrorCode, quoted } from './errors.ts'
import { checkedRange, completed } from './observations.ts'
import { type ConnectorsOptions, withDefaults } from './options.ts'
import { type Account, fingerprint } from './pipeline/accounts.ts'
import { Cache, type Read, unlessAborted } from './pipeline/cache.ts'
import { openProvider, type Provider } from './pipeline/provider.ts'
import { connectors } from './providers/index.ts'

export type * from './connector.ts'
export { CONNECTOR_ERRORS, ConnectorError, type ConnectorErrorCode } from './errors.ts'
export type { ConnectorEvent, ConnectorsOptions, ProviderOverride } from './options.ts'
export type { LimitStore } from './pipeline/window.ts'

/** The user's own saved key, and an opaque id of who it belongs to. */
export interface UserKey {
  readonly owner: string
  readonly key: string
}

export interface Caller {
  /** Moves the call to the key's own limits, and to a cache of its owner's. Ignored where a provider takes no key. */
  readonly userKey?: UserKey
  /** Ends the wait with `cancelled`; others who wait for the same answer are not disturbed. */
  readonly signal?: AbortSignal
}

/** The state of a provider's tightest limit; all null where the provider names none. */
export interface LimitState {
  readonly requests: number | null
  readonly perSeconds: number | null
  readonly remaining: number | null
  /** ISO; when the first spent request counts no more. null where none is spent. */
  readonly resetsAt: string | null
}

/** Where an answer comes from the cache: since when, and whether it is past its freshness. */
export interface Provenance {
  readonly stale?: boolean
  readonly cachedAt?: string
}

export interface Connectors {
  list(): readonly ProviderInfo[]
  /** In any case of letters. Throws `unknown_provider`. */
  get(slug: string): ProviderInfo
  limit(slug: string, user?: UserKey): LimitState
  /** The categories under a path; `''` is the root. */
  browse(
    slug: string,
    path: string,
    caller?: Caller,
  ): Promise<{ provider: string; path: string; categories: readonly Category[] } & Provenance>
  /** A slice of the series directly under a path. */
  seriesList(
    slug: string,
    path: string,
    page: { limit: number; offset: number },
    caller?: Caller,
  ): Promise<SeriesPage & { provider: string; path: string; limit: number; offset: number } & Provenance>
  /** The observations of a series within a range, oldest first. */
  series(
    slug: string,
    id: string,
    range?: SeriesRange,
    caller?: Caller,
  ): Promise<Series & { provider: string } & Provenance>
  /** `unchecked` where the provider offers no check, or none at the moment. Throws `key_rejected`. */
  checkKey(slug: string, key: string, signal?: AbortSignal): Promise<'accepted' | 'unchecked'>
  /** For metrics. */
  stats(): ConnectorStats
  /** Ends requests under way; nothing may be asked afterwards. */
  close(): Promise<void>
}

export interface ConnectorStats {
  readonly cache: { entries: number; bytes: number; hits: number; staleHits: number; misses: number }
  readonly providers: readonly { provider: string; breaker: string; limit: LimitState }[]
}

const LONGEST_ID = 2000
const LARGEST_PAGE = 1000
/** Categories and catalogues change this much more rarely than series. */
const CATALOGUE_FRESHNESS = 24

/** What ends a check of a key. That a provider is down, say, is nothing against the key: its first use will tell. */
const DECISIVE: readonly ConnectorErrorCode[] = ['key_rejected', 'cancelled']

/** The providers behind one interface. Nothing is asked before it is needed. */
export function openConnectors(options: ConnectorsOptions = {}): Connectors {
  const settings = withDefaults(options)
  const { log, now } = settings
  const cache = new Cache({
    maxBytes: settings.maxBytes,
    staleMs: settings.staleSeconds * 1000,
    absentMs: settings.absentSeconds * 1000,
    now,
  })
  const providers = new Map<string, Provider>()
  for (const connector of connectors) {
    const { slug } = connector.info
    providers.set(slug, openProvider(connector, { ...settings, ...settings.overrides[slug] }))
  }

  function find(slug: string): Provider {
    const provider = providers.get(slug.toLowerCase())
    if (provider === undefined)
      throw new ConnectorError('unknown_provider', `There is no provider ${quoted(slug)}.`)
    return provider
  }

  /** Runs one operation of a connector through the cache; `name` and `inputs` tell it from all others. */
  function operate<T>(
    provider: Provider,
    caller: Caller,
    name: 'browse' | 'list' | 'series',
    inputs: readonly unknown[],
    run: (connector: Connector, context: ConnectorContext) => Promise<T>,
  ): Promise<Read<T>> {
    const { slug } = provider.info
    const user = provider.info.key === 'none' ? undefined : caller.userKey
    const account = provider.account(user?.key ?? provider.key)
    const space = [slug, user === undefined ? '' : `${user.owner}/${fingerprint(user.key)}`]
    const freshMs = 1000 * (settings.freshSeconds[slug] ?? provider.connector.freshSeconds ?? 900)
    const catalogueMs = freshMs * CATALOGUE_FRESHNESS
    const fill = async (signal: AbortSignal) => {
      const cached: ConnectorContext['cached'] = async (request, read) => {
        const key = JSON.stringify([...space, 'request', request])
        const fetch = async (signal: AbortSignal) => read(await provider.send(request, account, signal))
        return (await cache.read(key, catalogueMs, fetch, signal)).value
      }
      return guarded(provider, account, () =>
        run(provider.connector, {
          send: (request) => provider.send(request, account, signal),
          cached,
          key: account.key,
          signal,
        }),
      )
    }
    const key = JSON.stringify([...space, name, ...inputs])
    return cache.read(key, name === 'series' ? freshMs : catalogueMs, fill, caller.signal)
  }

  /** Runs, and makes of whatever is thrown an error that may be shown; logs what the operator should know. */
  async function guarded<T>(provider: Provider, account: Account, run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (thrown) {
      const error = provider.sanitised(thrown, account.key)
      // Said in the body of an answer: the limits don't know of it yet.
      if (error.code === 'provider_limit' && !account.hasRefused(error)) {
        account.block('provider_limit', error.retryAfter ?? 60)
      }
      if (error.status >= 500) {
        const level = error.code === 'not_understood' ? 'error' : 'warn'
        log({ level, provider: provider.info.slug, message: error.message, cause: error.cause })
      }
      throw error
    }
  }

  return {
    list: () => [...providers.values()].map(({ info }) => info),
    get: (slug) => find(slug).info,

    limit(slug, user) {
      const provider = find(slug)
      const key = provider.info.key === 'none' ? undefined : (user?.key ?? provider.key)
      return provider.account(key).tightest()
    },

    async browse(slug, path, caller = {}) {
      const provider = find(slug)
      const at = checkedPath(path)
      const read = await operate(provider, caller, 'browse', [at], (connector, context) =>
        connector.browse(at, context),
      )
      return { provider: provider.info.slug, path: at, categories: read.value, ...provenance(read) }
    },

    async seriesList(slug, path, page, caller = {}) {
      const provider = find(slug)
      const at = checkedPath(path)
      const { limit, offset } = checkedPage(page)
      const read = await operate(provider, caller, 'list', [at, limit, offset], (connector, context) =>
        connector.list(at, { limit, offset }, context),
      )
      const { total, series } = read.value
      return { provider: provider.info.slug, path: at, total, limit, offset, series, ...provenance(read) }
    },

    async series(slug, id, range = {}, caller = {}) {
      const provider = find(slug)
      const within = checkedRange(range)
      const { start, end } = within
      checkLength(id)
      const read = await operate(provider, caller, 'series', [id, start, end], async (connector, context) => {
        return completed(await connector.series(id, within, context), within)
      })
      return { provider: provider.info.slug, ...read.value, ...provenance(read) }
    },

    async checkKey(slug, key, signal) {
      const provider = find(slug)
      const { connector, info } = provider
      if (connector.checkKey === undefined || info.key === 'none') return 'unchecked'
      const account = provider.account(key)
      const send: ConnectorContext['send'] = (request) => provider.send(request, account, signal)
      const context: ConnectorContext = {
        send,
        cached: async (request, read) => read(await send(request)),
        key,
        signal,
      }
      const checked = guarded(provider, account, async () => connector.checkKey?.(context))
      try {
        await unlessAborted(checked, signal)
        return 'accepted'
      } catch (error) {
        if (!(error instanceof ConnectorError) || DECISIVE.includes(error.code)) throw error
        return 'unchecked'
      }
    },

    stats: () => ({
      cache: cache.stats(),
      providers: [...providers.values()].map(({ info, breaker, account, key }) => ({
        provider: info.slug,
        breaker: breaker.state,
        limit: account(key).tightest(),
      })),
    }),

    async close() {
      cache.clear()
      await Promise.all([...providers.values()].map((provider) => provider.close()))
    },
  }
}

function provenance({ cachedAt, stale }: Read<unknown>): Provenance {
  if (cachedAt === undefined) return {}
  return { cachedAt: new Date(cachedAt).toISOString(), ...(stale ? { stale } : {}) }
}

function checkedPage({ limit, offset }: { limit: number; offset: number }) {
  if (!Number.isInteger(limit) || limit < 0 || limit > LARGEST_PAGE) {
    throw new ConnectorError('invalid_option', `limit must be a whole number from 0 to ${LARGEST_PAGE}.`)
  }
  if (!Number.isSafeInteger(offset) || offset < 0) {
    throw new ConnectorError('invalid_option', 'offset must be a whole number of 0 or more.')
  }
  return { limit, offset }
}

/** Slashes at the ends mean nothing. */
function checkedPath(path: string): string {
  checkLength(path)
  return path.replace(/^\/+|\/+$/g, '')
}

function checkLength(text: string): void {
  if (text.length > LONGEST_ID) {
    throw new ConnectorError('invalid_series_id', `An id of more than ${LONGEST_ID} characters is too long.`)
  }
}
