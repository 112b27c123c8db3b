import type { ConnectorError } from './errors.ts'

/** JSON as it was received; nothing about its shape is certain. */
export type Json = null | boolean | number | string | readonly Json[] | JsonRecord
export type JsonRecord = { readonly [name: string]: Json }

export interface Page {
  readonly limit: number
  readonly offset: number
}

/** The description of a provider that anybody may read. `slug` is lower case; lookups ignore case. */
export interface ProviderInfo {
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly homepage: string
  /** `shared-key`: paid only when the service's own key is used. */
  readonly tier: 'free' | 'paid' | 'shared-key'
  /** Base address, replaced by configuration in tests and behind proxies. */
  readonly baseUrl: string
  readonly key: 'none' | 'optional' | 'required'
  /** The page where a key is had. */
  readonly keyPage?: string
  /** Whether a key is text in which words are separated by spaces. */
  readonly keyOfWords?: boolean
  readonly limits: ProviderLimits
}

/** One window of a provider's published limits. */
export interface Limit {
  readonly requests: number
  readonly perSeconds: number
}

/** Limits that apply at the same time, without a key and with one (`withKey` defaults to `windows`). */
export interface ProviderLimits {
  readonly windows: readonly Limit[]
  readonly withKey?: readonly Limit[]
  /** How many requests may be under way at once; undefined if the provider publishes no number. */
  readonly concurrency?: number
}

export interface Category {
  /** The argument for `browse` that lists what is below this category. Opaque to clients; may contain `/`. */
  readonly path: string
  readonly name: string
  readonly description: string
  /** Whether series are directly below this category. */
  readonly series: boolean
}

export interface SeriesInfo {
  readonly series_id: string
  readonly name: string
  /** `daily`, `weekly`, `monthly`, `quarterly`, `semiannual`, `annual` …; null if the provider doesn't say. */
  readonly frequency: string | null
  readonly unit: string | null
  readonly start: string | null
  readonly end: string | null
}

export interface SeriesPage {
  /** null if the provider doesn't say. */
  readonly total: number | null
  readonly series: readonly SeriesInfo[]
}

export interface Observation {
  /** The first day of the period, ISO. */
  readonly date: string
  /** The period, such as `2024-Q1`, if the frequency is not daily. */
  readonly period?: string
  readonly value: number | null
  /** In words, such as `provisional` or `missing, holiday`; absent if the provider gives no status. */
  readonly status?: string
  /** With `vintages`: the day since which the provider has given this value, and the first day on which it no longer did. */
  readonly known_from?: string
  readonly known_to?: string | null
}

/** One dimension of the key of a series: `{id: 'FREQ', name: 'Frequency', code: 'M', label: 'Monthly'}`. */
export interface SeriesDimension {
  readonly id: string
  readonly name: string | null
  readonly code: string
  readonly label: string | null
}

/** What the provider says of a series. Fields that it doesn't give are absent. */
interface SeriesFields {
  /** Default: the id that was asked for. */
  readonly series_id?: string
  readonly name: string
  readonly frequency: string | null
  /** Why the frequency may be wrong. Periods then stay as they are written, and nothing is calculated that counts them. */
  readonly frequencyDoubt?: string
  readonly unit?: string | null
  readonly lastUpdated?: string | null
  /** In the words of the provider, such as `Seasonally adjusted`. */
  readonly seasonalAdjustment?: string | null
  /** Who produced the numbers, if that is not the provider itself. */
  readonly source?: string | null
  readonly notes?: string | null
  readonly dimensions?: readonly SeriesDimension[] | null
  /**
   * The period that the whole series covers, as ISO dates: null if it is unknown, derived from the observations if
   * undefined and no range was asked for.
   */
  readonly start?: string | null
  readonly end?: string | null
}

/** A series as its connector reads it, with its values as the provider wrote them. */
export interface SeriesData extends SeriesFields {
  readonly rows: readonly Row[]
}

/** A time and a value, both as the provider wrote them, in any order. */
export interface Row {
  readonly time: Json | undefined
  readonly value: Json | undefined
  /** In our own words. */
  readonly status?: string | undefined
  /** As in `Observation.known_from` and `known_to`. */
  readonly known?: { readonly from: string; readonly to: string | null } | undefined
}

export interface Series extends Required<Omit<SeriesFields, 'frequencyDoubt'>> {
  readonly frequencyDoubt?: string
  /** Oldest first. */
  readonly observations: readonly Observation[]
}

export interface SeriesRange {
  /** ISO dates, inclusive. */
  readonly start?: string | undefined
  readonly end?: string | undefined
  /** The series as it was published on that day, for providers that keep old versions (`history`). */
  readonly asOf?: string | undefined
  /** All values that each period had, the first of each, or those of the newest vintages, of which it is the number. */
  readonly vintages?: 'all' | 'first' | number | undefined
}

/** The result of a provider's own search, or the content of its catalogue. */
export interface Catalogue {
  readonly series: readonly SeriesInfo[]
  readonly categories: readonly Category[]
}

export interface SearchPage extends Catalogue {
  /** The number of series; null if the provider doesn't say. */
  readonly total: number | null
}

/**
 * A request below the provider's base address. The pipeline adds the base, what the connector's requests have in common,
 * limits, cache, retries and timeouts.
 */
export interface UpstreamRequest {
  readonly method?: 'GET' | 'POST'
  /**
   * The pipeline percent-encodes each segment separately, so that no id can climb out of the base path. `.`, `..` and
   * empty segments are refused, except for an empty last one, which stands for a trailing slash.
   */
  readonly path: readonly string[]
  /**
   * Another base on the same host, as a relative address (`../comext`). Only the connector sets it, never a user's
   * text.
   */
  readonly root?: string
  /** Another host of the provider; it is ignored if the base address is not the provider's own. */
  readonly host?: string
  /** A value may be a list, for a parameter that is repeated. */
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>
  /** Under names in small letters. */
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
  /** Whether it does not count against the provider's limits. */
  readonly isFree?: boolean
}

export interface UpstreamAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The body, decoded to text with its charset (UTF-8 unless the answer names another). */
  readonly text: string
}

/** The context of one call to a connector. */
export interface ConnectorContext {
  /**
   * Sends through the pipeline. Answers with a status below 500 are returned, because the connector knows what they
   * mean.
   */
  send(request: UpstreamRequest): Promise<UpstreamAnswer>
  /**
   * Sends a request, reads the answer with `read` and caches the result for all operations that need it: catalogues,
   * structures, code lists. The same request must always come with the same `read`. If `read` throws, nothing is
   * cached.
   */
  cached<T>(request: UpstreamRequest, read: (answer: UpstreamAnswer) => T): Promise<T>
  /**
   * Waits for an answer that the provider still prepares: longer with each attempt, which are counted from 1. Resolves to
   * false once that has taken too long.
   */
  pause(attempt: number): Promise<boolean>
  /** The key for this call: the user's own, else the service's, else undefined. */
  readonly key: string | undefined
}

/** What is at a path: categories, series, or both; asked for only when it is needed. */
export interface Place {
  categories?(): readonly Category[] | Promise<readonly Category[]>
  /** A page of the series, or the whole list if the provider doesn't page. The root has none. */
  series?(page: Page): SeriesPage | readonly SeriesInfo[] | Promise<SeriesPage | readonly SeriesInfo[]>
}

/** A release that a provider has announced. */
export interface Release {
  /** In the provider's words. */
  readonly name: string
  /** ISO. */
  readonly date: string
  /** ISO 8601 in UTC; null if only the day is announced. */
  readonly time: string | null
  /** Which period it is about, in the provider's words; null if it doesn't say. */
  readonly period: string | null
}

/** ISO dates, both included. */
export interface Days {
  readonly from: string
  readonly to: string
}

/** A provider's calendar of releases. */
export interface Calendar {
  /** The releases of all series, in any order; those of other days are dropped. */
  announced(days: Days, context: ConnectorContext): Promise<readonly Release[]>
  /** Those that change a series; absent where the calendar doesn't say which series a release changes. */
  of?(id: string, days: Days, context: ConnectorContext): Promise<readonly Release[]>
}

/** A provider: one file that maps its API to ours. */
export interface Connector {
  readonly info: ProviderInfo
  /** How long series stay fresh in the cache, in seconds; categories and catalogues stay longer. Default 900. */
  readonly freshSeconds?: number
  /** What every request has besides its own, such as the key. */
  common?(key: string | undefined): Pick<UpstreamRequest, 'query' | 'headers'>
  /** What is at a path of the provider's tree; `''` is the root. Throws `absent()` for a path that isn't there. */
  at(path: string, context: ConnectorContext): Place | Promise<Place>
  series(id: string, range: SeriesRange, context: ConnectorContext): Promise<SeriesData>
  /**
   * Who produced a series, for a provider that tells it only by further requests; `series` then leaves it out. null if
   * nobody is named.
   */
  source?(id: string, context: ConnectorContext): Promise<string | null>
  /** Whether the provider understands `asOf`, and `vintages`. */
  readonly history?: readonly ('asOf' | 'vintages')[]
  /** Absent where the provider publishes no calendar for programs. */
  readonly calendar?: Calendar
  /** The provider's own search; absent where it has none. */
  search?(question: string, page: Page, context: ConnectorContext): Promise<SearchPage>
  /** The entries worth finding that a few requests can fetch. Default: the categories at the root. */
  catalogue?(context: ConnectorContext): Promise<Catalogue>
  /** All series that match an id with wildcards; absent if the provider's ids have no wildcards. */
  many?(id: string, range: SeriesRange, context: ConnectorContext): Promise<readonly SeriesData[]>
  /** A cheap request that fails with `key_rejected` if the key is bad; absent if the provider offers none. */
  checkKey?(context: ConnectorContext): Promise<void>
}

/** The user's own saved key, and an opaque id of its owner. */
export interface UserKey {
  readonly owner: string
  readonly key: string
}

/** One of several series that are asked for together; `id` may contain wildcards. */
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
  /** Who calls. Accounts that share a key take turns, so that none waits for all requests of another. */
  readonly account?: string
  /** Ends the wait with `cancelled`; others who wait for the same answer are not disturbed. */
  readonly signal?: AbortSignal
  /** Never returns an answer that is no longer fresh: waits for a new one, and throws if none can be had. */
  readonly onlyFresh?: boolean
}

/** Which releases: of which days, by default a month from today on, and of which series, by default all. */
export interface ReleaseQuery {
  /** ISO dates, both included. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly series?: string | undefined
}

/** What a provider announces, in the order of time. */
export interface Releases extends Provenance {
  readonly provider: string
  readonly from: string
  readonly to: string
  readonly releases: readonly Release[]
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

/** The description of a provider. Where it says nothing else, the provider is free, needs no key and publishes no limits. */
export function providerInfo(
  given: Omit<ProviderInfo, 'tier' | 'key' | 'limits'> &
    Partial<Pick<ProviderInfo, 'tier' | 'key' | 'limits'>>,
): ProviderInfo {
  return { tier: 'free', key: 'none', limits: { windows: [] }, ...given }
}

export function rate(requests: number, perSeconds: number): Limit {
  return { requests, perSeconds }
}

/** A category; `series` says whether series are directly below it. */
export function category(path: string, name: string, description = '', series = true): Category {
  return { path, name, description, series }
}

/** Categories without a description: for each path its name. */
export function categories(names: Readonly<Record<string, string>>, series: boolean): Category[] {
  return Object.entries(names).map(([path, name]) => category(path, name, '', series))
}

/** Each series once, from rows of which several are of one series. */
export function distinct(series: readonly SeriesInfo[]): readonly SeriesInfo[] {
  return [...new Map(series.map((one) => [one.series_id, one])).values()]
}

/** A series in a list; null for what the provider doesn't say there. */
export function listed(series: Pick<SeriesInfo, 'series_id' | 'name'> & Partial<SeriesInfo>): SeriesInfo {
  return { frequency: null, unit: null, start: null, end: null, ...series }
}
