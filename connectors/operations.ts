import type { Caller, Connector, ConnectorContext, Provenance, UserKey } from './connector.ts'
import { ConnectorError, type ConnectorErrorCode, quoted } from './errors.ts'
import type { Asked } from './failures.ts'
import type { Settings } from './options.ts'
import { type Allowance, fingerprint } from './pipeline/allowances.ts'
import { Cache, type Read, unlessAborted } from './pipeline/cache.ts'
import { openProvider, type Provider } from './pipeline/provider.ts'
import { connectors } from './providers/index.ts'

type Operation = 'browse' | 'list' | 'series' | 'source' | 'many' | 'search' | 'catalogue'

/** Categories and catalogues change much more rarely than series, so they stay fresh this many times as long. */
const CATALOGUE_FRESHNESS = 24

/** Errors that the operator should know about: the caller did nothing wrong. */
const FAULTS: readonly ConnectorErrorCode[] = [
  'not_understood',
  'provider_down',
  'provider_slow',
  'answer_too_large',
]

/**
 * The errors that make a check of a key fail. Others, such as a provider that is down, say nothing about the key, whose
 * first use will show whether it is good.
 */
const DECISIVE: readonly ConnectorErrorCode[] = ['key_rejected', 'cancelled']

/** The open providers. Each operation of a connector passes through the cache and the provider's pipeline. */
export class Operations {
  readonly #settings: Settings
  readonly #cache: Cache
  readonly #providers = new Map<string, Provider>()

  constructor(settings: Settings) {
    this.#settings = settings
    this.#cache = new Cache(settings)
    for (const connector of connectors) {
      const { slug } = connector.info
      this.#providers.set(slug, openProvider(connector, { ...settings, ...settings.overrides[slug] }))
    }
  }

  get providers(): readonly Provider[] {
    return [...this.#providers.values()]
  }

  /** Ignores the case of letters. @throws ConnectorError `unknown_provider` */
  provider(slug: string): Provider {
    const provider = this.#providers.get(slug.toLowerCase())
    if (provider) return provider
    const slugs = [...this.#providers.keys()].join(', ')
    throw new ConnectorError(
      'unknown_provider',
      `There is no provider ${quoted(slug)}; valid providers: ${slugs}.`,
    )
  }

  /** The allowance of the user's own key, else of the service's. */
  allowanceOf(provider: Provider, user: UserKey | undefined): Allowance {
    return provider.allowance(provider.info.key === 'none' ? undefined : (user?.key ?? provider.key))
  }

  /** Runs one operation of a connector through the cache; `name` and `inputs` distinguish it from all others. */
  run<T>(
    provider: Provider,
    caller: Caller,
    name: Operation,
    inputs: readonly unknown[],
    work: (connector: Connector, context: ConnectorContext) => Promise<T>,
  ): Promise<Read<T>> {
    const { slug } = provider.info
    const user = provider.info.key === 'none' ? undefined : caller.userKey
    const allowance = this.allowanceOf(provider, user)
    const space = [slug, user === undefined ? '' : `${user.owner}/${fingerprint(user.key)}`]
    const freshMs = 1000 * (this.#settings.cache.freshSeconds[slug] ?? provider.connector.freshSeconds ?? 900)
    const catalogueMs = freshMs * CATALOGUE_FRESHNESS
    const isData = name === 'series' || name === 'many'
    const subject = name === 'search' ? undefined : (inputs[0] as string | undefined)
    const asked = { subject, isSeries: isData || name === 'source' }
    const fill = (signal: AbortSignal) => {
      const cached: ConnectorContext['cached'] = async (request, read) => {
        const key = JSON.stringify([...space, 'request', request])
        const fetch = async (signal: AbortSignal) => read(await provider.send(request, allowance, signal))
        return (await this.#cache.read(key, catalogueMs, fetch, { signal })).value
      }
      const send: ConnectorContext['send'] = (request) => provider.send(request, allowance, signal)
      const context = { send, cached, key: allowance.key, signal }
      return this.#guarded(provider, allowance, () => work(provider.connector, context), asked)
    }
    const key = JSON.stringify([...space, name, ...inputs])
    return this.#cache.read(key, isData ? freshMs : catalogueMs, fill, { ...caller, isShared: true })
  }

  /** `unchecked` if the provider offers no check or can't answer now. @throws ConnectorError `key_rejected` */
  async checkKey(
    provider: Provider,
    key: string,
    signal: AbortSignal | undefined,
  ): Promise<'accepted' | 'unchecked'> {
    const { connector, info } = provider
    if (connector.checkKey === undefined || info.key === 'none') return 'unchecked'
    const allowance = provider.allowance(key)
    const send: ConnectorContext['send'] = (request) => provider.send(request, allowance, signal)
    const context: ConnectorContext = {
      send,
      cached: async (request, read) => read(await send(request)),
      key,
      signal,
    }
    const checked = this.#guarded(provider, allowance, async () => connector.checkKey?.(context))
    try {
      await unlessAborted(checked, signal)
      return 'accepted'
    } catch (error) {
      if (!(error instanceof ConnectorError) || DECISIVE.includes(error.code)) throw error
      return 'unchecked'
    }
  }

  cacheStats() {
    return this.#cache.stats()
  }

  async close(): Promise<void> {
    this.#cache.clear()
    await Promise.all(this.providers.map((provider) => provider.close()))
  }

  /** Runs the work and turns anything it throws into an error that may be shown; logs what the operator should know. */
  async #guarded<T>(
    provider: Provider,
    allowance: Allowance,
    work: () => Promise<T>,
    asked?: Omit<Asked, 'provider'>,
  ): Promise<T> {
    try {
      return await work()
    } catch (thrown) {
      const error = provider.sanitised(thrown, allowance.key, asked)
      // The provider reported this limit in the body of an answer, so our own limits, whose errors are shown as they
      // are, don't know of it yet.
      if (error.code === 'provider_limit' && error !== thrown) {
        await allowance.block('provider_limit', error.retryAfter ?? 60)
      }
      // A provider that sends another series than the one asked for.
      const isOther = error.code === 'series_not_found' && error.cause !== undefined
      if (isOther || FAULTS.includes(error.code)) {
        const level = error.code === 'not_understood' ? 'error' : 'warn'
        const { slug } = provider.info
        this.#settings.log({ level, provider: slug, message: error.message, cause: error.cause })
      }
      throw error
    }
  }
}

export function provenance({ cachedAt, stale }: Read<unknown>): Provenance {
  if (cachedAt === undefined) return {}
  return { cachedAt: new Date(cachedAt).toISOString(), ...(stale ? { stale } : {}) }
}
