import type { Category, ProviderInfo, SearchPage, Series, SeriesPage } from './connector.ts'
import type { ConnectorError } from './errors.ts'
import type { Found } from './search/search-index.ts'
import type { SeriesQuery } from './transform/options.ts'

/** The user's own saved key, and an opaque id of its owner. */
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
  /**
   * Makes the call with the user's key, which has its own limits, and with a cache for its owner alone. Ignored if the
   * provider takes no key.
   */
  readonly userKey?: UserKey
  /** Ends the wait with `cancelled`; others who wait for the same answer are not disturbed. */
  readonly signal?: AbortSignal
  /** Never returns an answer that is no longer fresh: waits for a new one, and throws if none can be had. */
  readonly onlyFresh?: boolean
}

/** The state of a provider's tightest limit; all null if the provider publishes none. */
export interface LimitState {
  readonly requests: number | null
  readonly perSeconds: number | null
  readonly remaining: number | null
  /** ISO time at which the first counted request no longer counts; null if none is counted. */
  readonly resetsAt: string | null
}

/** Set for an answer from the cache: when it was fetched, and whether it is no longer fresh. */
export interface Provenance {
  readonly stale?: boolean
  readonly cachedAt?: string
}

export interface Connectors {
  list(): readonly ProviderInfo[]
  /** Ignores the case of letters. Throws `unknown_provider`. */
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
  /** The observations of a series within a range, oldest first, transformed if the query says so. */
  series(
    slug: string,
    id: string,
    query?: SeriesQuery,
    caller?: Caller,
  ): Promise<Series & { provider: string } & Provenance>
  /**
   * Who produced a series, for a provider such as FRED that tells it only by further requests. They count against its
   * limits. null for all other providers, if half of a limit is used, and if the requests fail or take longer than two
   * seconds. Throws `cancelled`.
   */
  source(slug: string, id: string, caller?: Caller): Promise<string | null>
  /** Splits a list of ids at its commas; the ids of some providers contain commas themselves. */
  splitIds(slug: string, text: string): readonly string[]
  /**
   * Many series, of one provider or of several; an id with wildcards stands for all series that match. Series that
   * can't be had are listed in the result, and the others are returned. Throws if no series at all can be had, and
   * `cancelled`.
   */
  many(
    wanted: readonly (WantedSeries & { readonly caller?: Caller })[],
    query?: SeriesQuery,
  ): Promise<SeriesBatch>
  /**
   * Uses the provider's own search if it has one, else searches the local index, including the provider's catalogue.
   */
  search(
    slug: string,
    question: string,
    page: { limit: number; offset: number },
    caller?: Caller,
  ): Promise<SearchPage & { provider: string }>
  /** Searches the local index of all providers; asks none of them. */
  searchAll(question: string, page: { limit: number; offset: number }): Found
  /**
   * Fills the index for a provider: its catalogue, and its categories down to a depth. Returns how many entries it
   * found.
   */
  index(
    slug: string,
    options?: { readonly depth?: number; readonly onFound?: (count: number) => void },
    caller?: Caller,
  ): Promise<number>
  /** `unchecked` if the provider offers no check or can't answer at the moment. Throws `key_rejected`. */
  checkKey(slug: string, key: string, signal?: AbortSignal): Promise<'accepted' | 'unchecked'>
  /** For metrics. */
  stats(): ConnectorStats
  /** Ends the requests that are under way; no method may be called afterwards. */
  close(): Promise<void>
}

export interface ConnectorStats {
  readonly cache: { entries: number; bytes: number; hits: number; staleHits: number; misses: number }
  readonly providers: readonly { provider: string; breaker: string; limit: LimitState }[]
}
