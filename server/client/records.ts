import type { Column, ColumnType, Format } from '../../engine/types/index.ts'

export type { Column, ColumnType, Format }

/** Times are ISO 8601, in UTC. */
export interface Repository {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly private: boolean
  /** Name of the account that it belongs to. */
  readonly owner: string
  readonly permission: Permission
  readonly createdAt: string
  readonly updatedAt: string
}

export type Permission = 'Read' | 'Write'

export interface Member {
  readonly account: string
  readonly permission: Permission
}

export interface Dataset {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly repositoryId: number
  /** Grows with every change of the rows or columns. */
  readonly version: number
  readonly rowCount: number
  readonly bytes: number
  readonly columns: readonly Column[]
  readonly createdAt: string
  readonly updatedAt: string
}

/** A dataset in a list: of one with many columns only their number is given. */
export interface DatasetSummary extends Omit<Dataset, 'columns'> {
  readonly columnCount: number
  readonly columns?: readonly Column[]
}

/** `nullable` is true where it isn't said. */
export interface DeclaredColumn {
  readonly name: string
  readonly type: ColumnType
  readonly nullable?: boolean
  readonly description?: string
}

export interface Account {
  readonly id: number
  readonly name: string
  readonly plan: string
  readonly apiKeyHint: string
  readonly usage: {
    readonly privateRepositories: number
    readonly exportedRows: number
    readonly month: string
  }
  /** null stands for no limit. */
  readonly limits: {
    readonly privateRepositories: number | null
    readonly paidProviders: boolean
    /** Rows of datasets a month. */
    readonly exportedRows: number | null
  }
}

/** An account, as admins see it. */
export interface ManagedAccount {
  readonly id: number
  readonly name: string
  readonly plan: string
  readonly admin: boolean
  /** None of its keys is accepted. */
  readonly disabled: boolean
  readonly apiKeyHint: string
  readonly createdAt: string
}

/** A further key of an account, without the key. */
export interface NamedKey {
  readonly name: string
  readonly keyHint: string
  readonly readOnly: boolean
  /** null: it does not end by itself. */
  readonly expiresAt: string | null
  readonly createdAt: string
}

export interface Provider {
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly homepage: string
  /** As it is for this account. */
  readonly tier: 'free' | 'paid'
  readonly keyRequired: boolean
  /** Whether this account has saved a key of its own. */
  readonly userKey: boolean
  /** The limit that is closest to being reached; all null where the provider names none. */
  readonly limit: {
    readonly requests: number | null
    readonly perSeconds: number | null
    readonly remaining: number | null
    /** null while nothing of it is used. */
    readonly resetsAt: string | null
  }
}

export interface Category {
  /** What `browse` takes to go down. */
  readonly path: string
  readonly name: string
  readonly description: string
  /** Whether series hang directly under it. */
  readonly series: boolean
}

export interface Categories {
  readonly provider: string
  readonly path: string
  readonly categories: readonly Category[]
}

export interface SeriesInfo {
  readonly series_id: string
  readonly name: string
  readonly frequency: string | null
  readonly unit: string | null
  readonly start: string | null
  readonly end: string | null
}

/** What a search in all that is known found. */
export interface Found {
  readonly query: string
  /** Of the series; null where it is not known. */
  readonly total: number | null
  readonly series: readonly (SeriesInfo & { readonly provider: string })[]
  readonly categories: readonly (Category & { readonly provider: string })[]
  readonly datasets: readonly {
    readonly id: number
    readonly name: string
    readonly repositoryId: number
    readonly description: string
  }[]
}

export interface SeriesPage {
  readonly provider: string
  readonly path: string
  /** null where the provider doesn't say. */
  readonly total: number | null
  readonly limit: number
  readonly offset: number
  readonly series: readonly SeriesInfo[]
}

export interface Observation {
  /** The first day of the period. */
  readonly date: string
  /** As `2024-Q1`, where the frequency is not daily. */
  readonly period?: string
  readonly value: number | null
}

export interface Series {
  readonly provider: string
  readonly series_id: string
  readonly name: string
  readonly frequency: string | null
  readonly unit: string | null
  readonly lastUpdated: string | null
  /** Oldest first. */
  readonly observations: readonly Observation[]
}

/** How often a dataset that follows series is refreshed. */
export type Interval = 'hour' | 'day' | 'week' | 'month'

/** What a dataset follows, and how that goes. Times are ISO 8601, UTC. */
export interface Source {
  /** Ids, each with its provider before it, as `fred/GDP`. */
  readonly series: readonly string[]
  readonly start: string | null
  readonly every: Interval
  /** null: not yet. */
  readonly lastRun: string | null
  readonly nextRun: string
  /** null: nothing went wrong. */
  readonly lastError: string | null
  /** What could not be had in the last run; its earlier rows are still there. */
  readonly missing: readonly { readonly series: string; readonly code: string; readonly error: string }[]
  /** The last version that a refresh made. */
  readonly lastVersion: number | null
}

/** An address that opens one export without a key. */
export interface Link {
  readonly url: URL
  /** ISO 8601. */
  readonly expiresAt: string
}

export interface UserKey {
  readonly provider: string
  readonly keyHint: string
  readonly updatedAt: string
}
