import { checkOptions } from './check-options.ts'
import type { Category, Connector, ConnectorContext, Series, SeriesData, SeriesRange } from './connector.ts'
import { ConnectorError, type ConnectorErrorCode, quoted } from './errors.ts'
import type { Caller, Connectors, Provenance, UserKey } from './face.ts'
import { checkedRange, completed } from './observations.ts'
import { type ConnectorsOptions, withDefaults } from './options.ts'
import { type Allowance, fingerprint } from './pipeline/allowances.ts'
import { Cache, type Read, unlessAborted } from './pipeline/cache.ts'
import { openProvider, type Provider } from './pipeline/provider.ts'
import { connectors } from './providers/index.ts'
import { openSearchIndex } from './search/open-index.ts'
import { splitIds } from './table/ids.ts'
import { inBatches } from './table/many.ts'
import { planOf, reachOf, type SeriesQuery } from './transform/options.ts'
import { transformed } from './transform/transform.ts'

const LONGEST_ID = 2000
const LARGEST_PAGE = 1000
/** How long an answer waits for the source of a series, which it can do without. */
const SOURCE_PATIENCE_MS = 2000
/** Categories and catalogues change much more rarely than series, so they stay fresh this many times as long. */
const CATALOGUE_FRESHNESS = 24

/**
 * The errors that make a check of a key fail. Others, such as a provider that is down, say nothing about the key, whose
 * first use will show whether it is good.
 */
const DECISIVE: readonly ConnectorErrorCode[] = ['key_rejected', 'cancelled']

/**
 * All providers behind one interface. No provider is asked anything before it is needed.
 * @throws ConnectorError `unknown_provider` where an option names a provider that does not exist, `invalid_option` where
 * an option is unknown or could not take effect
 */
export function openConnectors(options: ConnectorsOptions = {}): Connectors {
  checkOptions(options)
  const settings = withDefaults(options)
  const { log, now } = settings
  const cache = new Cache({
    maxBytes: settings.maxBytes,
    answers: settings.answers,
    staleMs: settings.staleSeconds * 1000,
    absentMs: settings.absentSeconds * 1000,
    now,
  })
  const index = openSearchIndex(settings.searchFile, log)
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

  /** The allowance of the user's own key, else of the service's. */
  function allowanceOf(provider: Provider, user: UserKey | undefined): Allowance {
    return provider.allowance(provider.info.key === 'none' ? undefined : (user?.key ?? provider.key))
  }

  /** Runs one operation of a connector through the cache; `name` and `inputs` distinguish it from all others. */
  function operate<T>(
    provider: Provider,
    caller: Caller,
    name: 'browse' | 'list' | 'series' | 'source' | 'many' | 'search' | 'catalogue',
    inputs: readonly unknown[],
    run: (connector: Connector, context: ConnectorContext) => Promise<T>,
  ): Promise<Read<T>> {
    const { slug } = provider.info
    const user = provider.info.key === 'none' ? undefined : caller.userKey
    const allowance = allowanceOf(provider, user)
    const space = [slug, user === undefined ? '' : `${user.owner}/${fingerprint(user.key)}`]
    const freshMs = 1000 * (settings.freshSeconds[slug] ?? provider.connector.freshSeconds ?? 900)
    const catalogueMs = freshMs * CATALOGUE_FRESHNESS
    const fill = async (signal: AbortSignal) => {
      const cached: ConnectorContext['cached'] = async (request, read) => {
        const key = JSON.stringify([...space, 'request', request])
        const fetch = async (signal: AbortSignal) => read(await provider.send(request, allowance, signal))
        return (await cache.read(key, catalogueMs, fetch, { signal })).value
      }
      return guarded(provider, allowance, () =>
        run(provider.connector, {
          send: (request) => provider.send(request, allowance, signal),
          cached,
          key: allowance.key,
          signal,
        }),
      )
    }
    const key = JSON.stringify([...space, name, ...inputs])
    const isData = name === 'series' || name === 'many'
    return cache.read(key, isData ? freshMs : catalogueMs, fill, { ...caller, isShared: true })
  }

  /** Runs the work and turns anything it throws into an error that may be shown; logs what the operator should know. */
  async function guarded<T>(provider: Provider, allowance: Allowance, run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (thrown) {
      const error = provider.sanitised(thrown, allowance.key)
      // The provider reported this limit in the body of an answer, so our own limits don't know of it yet.
      if (error.code === 'provider_limit' && !allowance.hasRefused(error)) {
        await allowance.block('provider_limit', error.retryAfter ?? 60)
      }
      if (error.status >= 500) {
        const level = error.code === 'not_understood' ? 'error' : 'warn'
        log({ level, provider: provider.info.slug, message: error.message, cause: error.cause })
      }
      throw error
    }
  }

  async function fetchSeries(slug: string, id: string, query: SeriesQuery = {}, caller: Caller = {}) {
    const provider = find(slug)
    const { plan, within, reach } = checkedQuery(provider, query)
    checkLength(id)
    const inputs = [id, reach.start, reach.end, reach.asOf]
    const read = await operate(provider, caller, 'series', inputs, async (connector, context) =>
      completed(await connector.series(id, reach, context), reach),
    )
    const series = { provider: provider.info.slug, ...read.value, ...provenance(read) }
    return transformed(series, plan, within)
  }

  /** All series that match an id with wildcards, fetched with a single request. */
  async function fetchMany(slug: string, id: string, query: SeriesQuery, caller: Caller) {
    const provider = find(slug)
    const { plan, within, reach } = checkedQuery(provider, query)
    checkLength(id)
    const inputs = [id, reach.start, reach.end, reach.asOf]
    const read = await operate(provider, caller, 'many', inputs, async (connector, context) => {
      const found: readonly SeriesData[] = (await connector.many?.(id, reach, context)) ?? []
      return found.map((series) => completed(series, reach))
    })
    return read.value.map((series: Series) =>
      transformed({ provider: provider.info.slug, ...series }, plan, within),
    )
  }

  function checkedQuery(provider: Provider, query: SeriesQuery) {
    const plan = planOf(query)
    const within: SeriesRange = checkedRange(query)
    if (within.asOf !== undefined && !provider.connector.vintages) {
      const { name, slug } = provider.info
      const others = connectors.filter(({ vintages }) => vintages).map(({ info }) => info.slug)
      const sentence = `${name} does not keep what it published earlier; of the providers ${others.join(', ')} do. Leave out asOf.`
      throw new ConnectorError('invalid_option', sentence, { provider: slug })
    }
    return { plan, within, reach: reachOf(within, plan) }
  }

  /** Adds to the index what a few requests can fetch, and returns how many entries that is. */
  async function catalogued(provider: Provider, caller: Caller): Promise<number> {
    const { slug } = provider.info
    const { value } = await operate(provider, caller, 'catalogue', [], async (connector, context) =>
      connector.catalogue === undefined
        ? { series: [], categories: await connector.browse('', context) }
        : connector.catalogue(context),
    )
    await index.addCategories(slug, value.categories)
    await index.addSeries(slug, value.series)
    index.setCatalogued(slug)
    return value.categories.length + value.series.length
  }

  /** Writes to the index. The index is only a convenience, so a failed write is reported but doesn't fail the call. */
  function remember(work: Promise<void>, slug: string): void {
    work.catch((error: unknown) => {
      const message = 'The index of the search could not be written.'
      log({ level: 'warn', provider: slug, message, cause: String(error) })
    })
  }

  return {
    list: () => [...providers.values()].map(({ info }) => info),
    get: (slug) => find(slug).info,

    limit(slug, user) {
      return allowanceOf(find(slug), user).tightest()
    },

    async browse(slug, path, caller = {}) {
      const provider = find(slug)
      const at = checkedPath(path)
      const read = await operate(provider, caller, 'browse', [at], (connector, context) =>
        connector.browse(at, context),
      )
      if (read.cachedAt === undefined) {
        remember(index.addCategories(provider.info.slug, read.value), provider.info.slug)
      }
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
      if (read.cachedAt === undefined)
        remember(index.addSeries(provider.info.slug, series), provider.info.slug)
      return { provider: provider.info.slug, path: at, total, limit, offset, series, ...provenance(read) }
    },

    series: fetchSeries,

    async source(slug, id, caller = {}) {
      const provider = find(slug)
      checkLength(id)
      if (provider.connector.source === undefined) return null
      const waited = AbortSignal.timeout(SOURCE_PATIENCE_MS)
      const signal = caller.signal === undefined ? waited : AbortSignal.any([caller.signal, waited])
      const read = operate(provider, { ...caller, signal }, 'source', [id], async (connector, context) => {
        allowanceOf(provider, caller.userKey).requirePlenty()
        return connector.source!(id, context)
      })
      try {
        return (await read).value
      } catch (error) {
        if (error instanceof ConnectorError && caller.signal?.aborted !== true) return null
        throw error
      }
    },

    splitIds: (slug, text) => splitIds(text, find(slug).connector.many !== undefined),

    many: (wanted, query = {}) =>
      inBatches(wanted, async ({ provider: slug, id, caller = {} }) => {
        const { connector } = find(slug)
        return connector.many !== undefined && hasWildcards(id)
          ? fetchMany(slug, id, query, caller)
          : [await fetchSeries(slug, id, query, caller)]
      }),

    async search(slug, question, page, caller = {}) {
      const provider = find(slug)
      const { slug: name } = provider.info
      const within = checkedPage(page)
      checkLength(question)
      if (provider.connector.search === undefined) {
        if (!index.isCatalogued(name)) await catalogued(provider, caller)
        return { provider: name, ...index.search(question, within, name) }
      }
      const read = await operate(provider, caller, 'search', [question, within], (connector, context) =>
        connector.search!(question, within, context),
      )
      remember(index.addSeries(name, read.value.series), name)
      remember(index.addCategories(name, read.value.categories), name)
      return { provider: name, ...read.value }
    },

    searchAll(question, page) {
      checkLength(question)
      return index.search(question, checkedPage(page))
    },

    async index(slug, { depth = 1, onFound } = {}, caller = {}) {
      const provider = find(slug)
      let count = await catalogued(provider, caller)
      let level: readonly string[] = ['']
      for (let below = 0; below < depth; below++) {
        const next: Category[] = []
        for (const path of level) {
          onFound?.(count + next.length)
          const { value } = await operate(provider, caller, 'browse', [path], (connector, context) =>
            connector.browse(path, context),
          )
          await index.addCategories(provider.info.slug, value)
          next.push(...value)
        }
        count += next.length
        level = next.map(({ path }) => path)
      }
      return count
    },

    async checkKey(slug, key, signal) {
      const provider = find(slug)
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
      const checked = guarded(provider, allowance, async () => connector.checkKey?.(context))
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
      providers: [...providers.values()].map(({ info, breaker, allowance, key }) => ({
        provider: info.slug,
        breaker: breaker.state,
        limit: allowance(key).tightest(),
      })),
    }),

    async close() {
      cache.clear()
      await Promise.all([...providers.values()].map((provider) => provider.close()))
      index.close()
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

/** Removes slashes at both ends, which mean nothing. */
function checkedPath(path: string): string {
  checkLength(path)
  return path.replace(/^\/+|\/+$/g, '')
}

function checkLength(text: string): void {
  if (text.length > LONGEST_ID) {
    throw new ConnectorError('invalid_series_id', `An id of more than ${LONGEST_ID} characters is too long.`)
  }
}

/**
 * Whether an id may stand for several series: it contains a wildcard or `+` (a blank in a query string), or leaves a
 * part empty.
 */
function hasWildcards(id: string): boolean {
  return /[*+ ]/.test(id) || /[./]\.|[./]$|\.\./.test(id)
}
