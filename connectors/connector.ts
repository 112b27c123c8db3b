/** What a provider is, to everybody who asks. `slug` is lower case; lookups ignore case. */
export interface ProviderInfo {
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly homepage: string
  /** `shared-key`: paid only while the service's own key is used. */
  readonly tier: 'free' | 'paid' | 'shared-key'
  /** Base address, replaced by configuration in tests and behind proxies. */
  readonly baseUrl: string
  readonly key: 'none' | 'optional' | 'required'
  readonly limits: ProviderLimits
}

/** One window of a provider's published limit. */
export interface Limit {
  readonly requests: number
  readonly perSeconds: number
}

/** Limits that hold at the same time, without a key and with one (`withKey` defaults to `windows`). */
export interface ProviderLimits {
  readonly windows: readonly Limit[]
  readonly withKey?: readonly Limit[]
  /** Requests under way at once; undefined where the provider names none. */
  readonly concurrency?: number
}

export interface Category {
  /** What `browse` takes to go down. Opaque to clients; may contain `/`. */
  readonly path: string
  readonly name: string
  readonly description: string
  /** Whether series hang directly under it. */
  readonly series: boolean
}

export interface SeriesInfo {
  readonly series_id: string
  readonly name: string
  /** `daily`, `weekly`, `monthly`, `quarterly`, `semiannual`, `annual` …; null where the provider doesn't say. */
  readonly frequency: string | null
  readonly unit: string | null
  readonly start: string | null
  readonly end: string | null
}

export interface SeriesPage {
  /** null where the provider does not say. */
  readonly total: number | null
  readonly series: readonly SeriesInfo[]
}

export interface Observation {
  /** The first day of the period, ISO. */
  readonly date: string
  /** As `2024-Q1`, where the frequency is not daily. */
  readonly period?: string
  readonly value: number | null
  /** In words, as `provisional` or `missing, holiday`; absent where the provider says nothing of the observation. */
  readonly status?: string
}

/** One dimension of the key of a series: `{id: 'FREQ', name: 'Frequency', code: 'M', label: 'Monthly'}`. */
export interface SeriesDimension {
  readonly id: string
  readonly name: string | null
  readonly code: string
  readonly label: string | null
}

/** A series as its connector reads it. What is absent the provider does not say. */
export interface SeriesData {
  readonly series_id: string
  readonly name: string
  readonly frequency: string | null
  readonly unit: string | null
  readonly lastUpdated: string | null
  /** `Seasonally adjusted`, in the words of the provider. */
  readonly seasonalAdjustment?: string | null
  /** Who made the numbers, where that is not the provider itself. */
  readonly source?: string | null
  readonly notes?: string | null
  readonly dimensions?: readonly SeriesDimension[] | null
  /** The period that the whole series covers, ISO dates; derived from the observations where all of them are here. */
  readonly start?: string | null
  readonly end?: string | null
  readonly observations: readonly Observation[]
}

export interface Series extends Required<SeriesData> {
  /** Oldest first. */
  readonly observations: readonly Observation[]
}

export interface SeriesRange {
  /** ISO dates, inclusive. */
  readonly start?: string
  readonly end?: string
  /** The series as it was published on that day, where the provider keeps that (`vintages`). */
  readonly asOf?: string
}

/** What a provider's own search found, or what its catalogue holds. */
export interface Catalogue {
  readonly series: readonly SeriesInfo[]
  readonly categories: readonly Category[]
}

export interface SearchPage extends Catalogue {
  /** Of the series; null where the provider does not say. */
  readonly total: number | null
}

/** A request below the provider's base address. The pipeline adds base, key, limits, cache, retries and timeouts. */
export interface UpstreamRequest {
  readonly method?: 'GET' | 'POST'
  /**
   * Segments are percent-encoded by the pipeline one by one, so no id can climb out of the base path. `.`, `..` and
   * empty segments are refused, but for an empty last one, which stands for a trailing slash.
   */
  readonly path: readonly string[]
  /** Another base on the same host, as a relative address (`../comext`); the connector's own, never a user's text. */
  readonly root?: string
  /** A value may be a list for a repeated parameter. */
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
}

export interface UpstreamAnswer {
  readonly status: number
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
  /** The body decoded to text by its charset (UTF-8 unless it says otherwise). */
  readonly text: string
}

/** What a connector is given for one call. */
export interface ConnectorContext {
  /** Sends through the pipeline. Statuses below 500 come back as answers, for the connector to read by meaning. */
  send(request: UpstreamRequest): Promise<UpstreamAnswer>
  /**
   * Sends, reads, and keeps what `read` makes of the answer, for all operations that need it: catalogues, structures,
   * code lists. The same request must always come with the same `read`. An answer that `read` throws on is not kept.
   */
  cached<T>(request: UpstreamRequest, read: (answer: UpstreamAnswer) => T): Promise<T>
  /** The key in force for this call: the user's own, else the service's, else undefined. */
  readonly key: string | undefined
  readonly signal: AbortSignal | undefined
}

/** A provider: one file that maps its API to ours. */
export interface Connector {
  readonly info: ProviderInfo
  /** How long series stay fresh in the cache, in seconds; categories and catalogues stay longer. Default 900. */
  readonly freshSeconds?: number
  /** Categories under a path; `''` is the root. */
  browse(path: string, context: ConnectorContext): Promise<readonly Category[]>
  /** Series directly under a path, sliced by us where the provider does not page. */
  list(path: string, page: { limit: number; offset: number }, context: ConnectorContext): Promise<SeriesPage>
  series(id: string, range: SeriesRange, context: ConnectorContext): Promise<SeriesData>
  /** Whether `asOf` is understood. */
  readonly vintages?: boolean
  /** The provider's own search; absent where it has none. */
  search?(
    question: string,
    page: { limit: number; offset: number },
    context: ConnectorContext,
  ): Promise<SearchPage>
  /** What is worth finding and can be had in a few requests. Default: the categories at the root. */
  catalogue?(context: ConnectorContext): Promise<Catalogue>
  /** All series that an id with wildcards names; absent where ids have none. */
  many?(id: string, range: SeriesRange, context: ConnectorContext): Promise<readonly SeriesData[]>
  /** A cheap request that fails with `key_rejected` when the key is bad; absent where the provider offers none. */
  checkKey?(context: ConnectorContext): Promise<void>
}
