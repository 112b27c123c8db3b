import { requireCalendar, requireHistory } from './abilities.ts'
import { checkedDays, inOrder } from './calendars/calendar.ts'
import type {
  Caller,
  Category,
  Connector,
  ConnectorContext,
  Page,
  Provenance,
  ProviderInfo,
  ReleaseQuery,
  Releases,
  SearchPage,
  SeriesBatch,
  SeriesInfo,
  SeriesRange,
  UserKey,
  WantedSeries,
} from './connector.ts'
import { ConnectorError, type ConnectorErrorCode, invalid } from './errors.ts'
import { noted, notedError } from './notices.ts'
import { checkedRange, completed } from './observations.ts'
import {
  type ConnectorEvent,
  type ConnectorsOptions,
  checkOptions,
  requireKnown,
  unknownProvider,
  withDefaults,
} from './options.ts'
import { slice } from './paging.ts'
import { Cache, type Read } from './pipeline/cache.ts'
import { Provider } from './pipeline/provider.ts'
import { connectors } from './providers/index.ts'
import { type Found, openSearchIndex, type SearchIndex } from './search-index.ts'
import { inBatches, splitIds } from './table.ts'
import { ONE_SERIES } from './transform/series-options.ts'
import { planOf, reachOf, type SeriesQuery, transformed, vintagesOf } from './transform/transform.ts'

const RELEASE_OPTIONS = ['from', 'to', 'series'] satisfies (keyof ReleaseQuery)[]
const LONGEST_ID = 2000
const LARGEST_PAGE = 1000

/** How long an answer waits for the source of a series, which it can do without. */
const SOURCE_PATIENCE_MS = 2000

/**
 * All providers behind one interface. No provider is asked anything before it is needed.
 * @throws ConnectorError `unknown_provider` where an option names a provider that does not exist, `invalid_option` where
 * an option is unknown or could not take effect
 */
export function openConnectors(options: ConnectorsOptions = {}): Connectors {
  checkOptions(options)
  return new Connectors(options)
}

/** The providers, as `openConnectors` opens them. */
export class Connectors {
  readonly #cache: Cache
  readonly #providers: ReadonlyMap<string, Provider>
  /** What can be found without a request: what the providers have listed so far. */
  readonly #index: SearchIndex
  readonly #log: (event: ConnectorEvent) => void
  readonly #now: () => number

  constructor(options: ConnectorsOptions) {
    const settings = withDefaults(options)
    this.#cache = new Cache(settings)
    this.#providers = new Map(
      connectors.map((each) => [each.info.slug, new Provider(each, settings, this.#cache)]),
    )
    this.#index = openSearchIndex(settings.searchFile, settings.log)
    this.#log = settings.log
    this.#now = settings.now
  }

  list(): readonly ProviderInfo[] {
    return [...this.#providers.values()].map(({ info }) => info)
  }

  /** Ignores the case of letters. @throws ConnectorError `unknown_provider` */
  get(slug: string): ProviderInfo {
    return this.#provider(slug).info
  }

  limit(slug: string, user?: UserKey) {
    return this.#provider(slug).allowance(user).tightest()
  }

  /** The categories under a path; `''` is the root. */
  async browse(slug: string, path: string, caller: Caller = {}) {
    const provider = this.#provider(slug)
    const at = checkedPath(path)
    const read = await this.#browse(provider, at, caller)
    if (read.cachedAt === undefined) this.#remember(provider, [], read.value)
    return { provider: provider.info.slug, path: at, categories: read.value, ...provenance(read) }
  }

  /** A slice of the series directly under a path; the root has none. */
  async seriesList(slug: string, path: string, page: Page, caller: Caller = {}) {
    const provider = this.#provider(slug)
    const at = checkedPath(path)
    const { limit, offset } = checkedPage(page)
    const inputs = [at, limit, offset]
    const read = await provider.run(caller, 'list', inputs, (connector, context) =>
      seriesAt(connector, at, { limit, offset }, context),
    )
    const { total, series } = read.value
    if (read.cachedAt === undefined) this.#remember(provider, series, [])
    return { provider: provider.info.slug, path: at, total, limit, offset, series, ...provenance(read) }
  }

  /** The observations of a series within a range, oldest first, transformed if the query says so. */
  async series(slug: string, id: string, query: SeriesQuery = {}, caller: Caller = {}) {
    const provider = this.#provider(slug)
    const { plan, within, reach, inputs } = checkedQuery(provider, id, query)
    const own = provider.info.slug
    const work = provider.run(caller, 'series', inputs, async (connector, context) =>
      completed(await connector.series(id, reach, context), reach, id),
    )
    const read = await work.catch((error: unknown) => {
      throw notedError(error, own, id)
    })
    const series = noted({ provider: own, ...read.value, ...provenance(read) })
    return transformed(series, plan, within)
  }

  /**
   * Who produced a series, for a provider such as FRED that tells it only by further requests. They count against its
   * limits. null for all other providers, if half of a limit is used, and if the requests fail or take longer than two
   * seconds. @throws ConnectorError `cancelled`
   */
  async source(slug: string, id: string, caller: Caller = {}) {
    const provider = this.#provider(slug)
    checkId(id)
    if (provider.connector.source === undefined) return null
    const waited = AbortSignal.timeout(SOURCE_PATIENCE_MS)
    const signal = caller.signal === undefined ? waited : AbortSignal.any([caller.signal, waited])
    const within = { ...caller, signal }
    const read = provider.run(within, 'source', [id], async (connector, context) => {
      provider.allowance(caller.userKey).requireHeadroom()
      return connector.source!(id, context)
    })
    try {
      return (await read).value
    } catch (error) {
      if (error instanceof ConnectorError && caller.signal?.aborted !== true) return null
      throw error
    }
  }

  /**
   * What a provider announces for some days, of all series or of one, in the order of time.
   * @throws ConnectorError `no_calendar`, `invalid_option`
   */
  async releases(slug: string, query: ReleaseQuery = {}, caller: Caller = {}): Promise<Releases> {
    const provider = this.#provider(slug)
    requireKnown(query, RELEASE_OPTIONS)
    const days = checkedDays(query, this.#now())
    const { series } = query
    requireCalendar(provider.connector, series)
    if (series !== undefined) checkId(series)
    const read = await provider.run(
      caller,
      'releases',
      [series, days.from, days.to],
      async (own, context) => {
        const { announced, of } = own.calendar!
        return inOrder(
          await (series === undefined ? announced(days, context) : of!(series, days, context)),
          days,
        )
      },
    )
    return { provider: provider.info.slug, ...days, releases: read.value, ...provenance(read) }
  }

  /** @throws ConnectorError `no_calendar`; `invalid_option` if the provider does not say which series a release changes */
  requireReleases(slug: string): void {
    requireCalendar(this.#provider(slug).connector, '')
  }

  /** Splits a list of ids at its commas; the ids of some providers contain commas themselves. */
  splitIds(slug: string, text: string) {
    return splitIds(text, this.#provider(slug).connector.many !== undefined)
  }

  /**
   * Many series, of one provider or of several; an id with wildcards stands for all series that match. Series that
   * can't be had are listed in the result, and the others are returned. Throws if no series at all can be had, and
   * `cancelled`.
   */
  many(
    wanted: readonly (WantedSeries & { readonly caller?: Caller })[],
    query: SeriesQuery = {},
  ): Promise<SeriesBatch> {
    return inBatches(wanted, async ({ provider: slug, id, caller = {} }) => {
      const { connector } = this.#provider(slug)
      return connector.many !== undefined && hasWildcards(id)
        ? this.#matching(slug, id, query, caller)
        : [await this.series(slug, id, query, caller)]
    })
  }

  /** Uses the provider's own search if it has one, else searches the local index, including the provider's catalogue. */
  async search(
    slug: string,
    query: string,
    page: Page,
    caller: Caller = {},
  ): Promise<SearchPage & { provider: string }> {
    const provider = this.#provider(slug)
    const within = checkedPage(page)
    checkLength(query, 'A search', 'invalid_option')
    const own = provider.info.slug
    if (provider.connector.search === undefined) {
      if (!this.#index.isCatalogued(own)) await this.#fetchCatalogue(provider, caller)
      return { provider: own, ...this.#index.search(query, within, own) }
    }
    const inputs = [query, within]
    const { value } = await provider.run(caller, 'search', inputs, (connector, context) =>
      connector.search!(query, within, context),
    )
    this.#remember(provider, value.series, value.categories)
    return { provider: own, ...value }
  }

  /** Searches the local index of all providers; asks none of them. */
  searchAll(query: string, page: Page): Found {
    checkLength(query, 'A search', 'invalid_option')
    return this.#index.search(query, checkedPage(page))
  }

  /** The providers that need no key and whose catalogue the index lacks. */
  unindexed(): string[] {
    return this.list().flatMap(({ slug, key }) =>
      key === 'required' || this.#index.isCatalogued(slug) ? [] : [slug],
    )
  }

  /** Fills the index for a provider: its catalogue, and its categories down to a depth. Gives how many entries it found. */
  async index(
    slug: string,
    { depth = 1, onFound }: { depth?: number; onFound?: (count: number) => void } = {},
    caller: Caller = {},
  ) {
    const provider = this.#provider(slug)
    let count = await this.#fetchCatalogue(provider, caller)
    let level: readonly string[] = ['']
    for (let below = 0; below < depth; below++) {
      const next: Category[] = []
      for (const path of level) {
        onFound?.(count + next.length)
        const { value } = await this.#browse(provider, path, caller)
        await this.#index.addCategories(provider.info.slug, value)
        next.push(...value)
      }
      count += next.length
      level = next.map(({ path }) => path)
    }
    return count
  }

  /** `unchecked` if the provider offers no check or can't answer at the moment. @throws ConnectorError `key_rejected` */
  async checkKey(slug: string, key: string, signal = new AbortController().signal) {
    return this.#provider(slug).checkKey(key, signal)
  }

  /** For metrics. */
  stats() {
    return {
      cache: this.#cache.stats(),
      providers: [...this.#providers.values()].map((provider) => ({
        provider: provider.info.slug,
        breaker: provider.breaker.state,
        limit: provider.allowance().tightest(),
      })),
    }
  }

  /** Ends the requests that are under way; no method may be called afterwards. */
  async close() {
    this.#cache.clear()
    await Promise.all([...this.#providers.values()].map((provider) => provider.close()))
    this.#index.close()
  }

  #provider(slug: string): Provider {
    const provider = this.#providers.get(slug.toLowerCase())
    if (provider === undefined) throw unknownProvider(slug)
    return provider
  }

  #browse(provider: Provider, path: string, caller: Caller) {
    return provider.run(caller, 'browse', [path], (connector, context) =>
      categoriesAt(connector, path, context),
    )
  }

  /** Adds to the index what a few requests can fetch, and returns how many entries that is. */
  async #fetchCatalogue(provider: Provider, caller: Caller): Promise<number> {
    const { slug } = provider.info
    const { value } = await provider.run(caller, 'catalogue', [], async (own, context) =>
      own.catalogue === undefined
        ? { series: [], categories: await categoriesAt(own, '', context) }
        : own.catalogue(context),
    )
    await this.#index.addCategories(slug, value.categories)
    await this.#index.addSeries(slug, value.series)
    this.#index.setCatalogued(slug)
    return value.categories.length + value.series.length
  }

  /** The index is only a convenience, so a failed write is reported but doesn't fail the call. */
  #remember({ info: { slug } }: Provider, series: readonly SeriesInfo[], categories: readonly Category[]) {
    const work = this.#index.addSeries(slug, series).then(() => this.#index.addCategories(slug, categories))
    work.catch((error: unknown) => {
      const message = 'The index of the search could not be written.'
      this.#log({ level: 'warn', provider: slug, message, cause: String(error) })
    })
  }

  /** All series that match an id with wildcards, fetched with a single request. */
  async #matching(slug: string, id: string, query: SeriesQuery, caller: Caller) {
    const provider = this.#provider(slug)
    const { plan, within, reach, inputs } = checkedQuery(provider, id, query)
    const read = await provider.run(caller, 'many', inputs, async (connector, context) =>
      (await connector.many!(id, reach, context)).map((series) => completed(series, reach, id)),
    )
    return read.value.map((series) =>
      transformed(noted({ provider: provider.info.slug, ...series }), plan, within),
    )
  }
}

async function categoriesAt(connector: Connector, path: string, context: ConnectorContext) {
  const { categories } = await connector.at(path, context)
  return (await categories?.()) ?? []
}

async function seriesAt(connector: Connector, path: string, page: Page, context: ConnectorContext) {
  const { series } = path === '' ? {} : await connector.at(path, context)
  const found = (await series?.(page)) ?? []
  return 'total' in found ? found : slice(found, page)
}

/** @throws ConnectorError `invalid_option`, `invalid_range`, `invalid_series_id` */
function checkedQuery({ connector }: Provider, id: string, query: SeriesQuery) {
  requireKnown(query, Object.keys(ONE_SERIES))
  const plan = planOf(query)
  const within: SeriesRange = { ...checkedRange(query), vintages: vintagesOf(query) }
  requireHistory(connector, query)
  checkId(id)
  const reach = reachOf(within, plan)
  return { plan, within, reach, inputs: [id, reach.start, reach.end, reach.asOf, reach.vintages] }
}

/** @throws ConnectorError `invalid_option` */
function checkedPage({ limit, offset }: { limit: number; offset: number }) {
  if (!Number.isInteger(limit) || limit < 0 || limit > LARGEST_PAGE) {
    throw invalid(`limit must be a whole number from 0 to ${LARGEST_PAGE}.`)
  }
  if (!Number.isSafeInteger(offset) || offset < 0) {
    throw invalid('offset must be a whole number of 0 or more.')
  }
  return { limit, offset }
}

/** Removes slashes at both ends, which mean nothing. @throws ConnectorError `invalid_series_id` */
function checkedPath(path: string): string {
  checkLength(path, 'A path', 'invalid_series_id')
  return path.replace(/^\/+|\/+$/g, '')
}

/** @throws ConnectorError `invalid_series_id` */
function checkId(id: string): void {
  if (id === '') throw new ConnectorError('invalid_series_id', 'The id of a series is empty.')
  checkLength(id, 'An id', 'invalid_series_id')
}

/** @throws ConnectorError with the code */
function checkLength(text: string, what: string, code: ConnectorErrorCode): void {
  if (text.length > LONGEST_ID) {
    throw new ConnectorError(code, `${what} of more than ${LONGEST_ID} characters is too long.`)
  }
}

/**
 * Whether an id may stand for several series: it contains a wildcard or `+` (a space in a query string), or leaves a
 * part empty.
 */
function hasWildcards(id: string): boolean {
  return /[*+ ]/.test(id) || /[./]\.|[./]$|\.\./.test(id)
}

function provenance({ cachedAt, stale }: Read<unknown>): Provenance {
  if (cachedAt === undefined) return {}
  return { cachedAt: new Date(cachedAt).toISOString(), ...(stale ? { stale } : {}) }
}
