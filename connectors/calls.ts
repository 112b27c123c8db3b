import type { Series } from './connector.ts'
import type { ConnectorError } from './errors.ts'

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
