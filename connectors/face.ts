import type { Category, ProviderInfo, SearchPage, Series, SeriesPage } from './connector.ts'
import type { ConnectorError } from './errors.ts'
import type { Found } from './search/search-index.ts'
import type { SeriesQuery } from './transform/options.ts'

/** The user's own saved key, and an opaque id of who it belongs to. */
export interface UserKey {
  readonly owner: string
  readonly key: string
}

export interface WantedSeries {
  readonly provider: string
  readonly id: string
}

export interface MissingSeries {
  readonly provider: string
  readonly series_id: string
  readonly error: ConnectorError
}

export interface SeriesBatch {
  readonly series: readonly (Series & { readonly provider: string })[]
  readonly missing: readonly MissingSeries[]
}

export interface Caller {
  /** Moves the call to the key's own limits, and to a cache of its owner's. Ignored where a provider takes no key. */
  readonly userKey?: UserKey
  /** Ends the wait with `cancelled`; others who wait for the same answer are not disturbed. */
  readonly signal?: AbortSignal
  /** Takes no answer that is past its freshness: waits for a new one, and hears of it where there is none. */
  readonly onlyFresh?: boolean
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
  /** The observations of a series within a range, oldest first, transformed where asked. */
  series(
    slug: string,
    id: string,
    query?: SeriesQuery,
    caller?: Caller,
  ): Promise<Series & { provider: string } & Provenance>
  /** The ids in a list of them, which for some providers hold commas of their own. */
  splitIds(slug: string, text: string): readonly string[]
  /**
   * Many series, of one provider or of several; an id may have wildcards, and then means all series that match. What
   * can't be had is named, and nothing else is lost. Throws where nothing at all can be had, and `cancelled`.
   */
  many(
    wanted: readonly (WantedSeries & { readonly caller?: Caller })[],
    query?: SeriesQuery,
  ): Promise<SeriesBatch>
  /** By the provider's own search where it has one, else over what of it is known here, its catalogue included. */
  search(
    slug: string,
    question: string,
    page: { limit: number; offset: number },
    caller?: Caller,
  ): Promise<SearchPage & { provider: string }>
  /** Over all that is known here of all providers; asks none of them. */
  searchAll(question: string, page: { limit: number; offset: number }): Found
  /** Fills the index of a provider: its catalogue, and its categories down to a depth. Says how many it found. */
  index(
    slug: string,
    options?: { readonly depth?: number; readonly onFound?: (count: number) => void },
    caller?: Caller,
  ): Promise<number>
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
