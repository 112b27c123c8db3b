import type { Column, ColumnType, Format } from '../../engine/types/index.ts'

export type { Column, ColumnType, Format }

/** Times are ISO 8601, in UTC. */
export interface Repository {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly private: boolean
  /** Name of the account that owns the repository. */
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
  /** Increases with every change of the rows or columns. */
  readonly version: number
  readonly rowCount: number
  readonly bytes: number
  readonly columns: readonly Column[]
  readonly createdAt: string
  readonly updatedAt: string
}

/** A dataset in a list. If it has many columns, only their number is included. */
export interface DatasetSummary extends Omit<Dataset, 'columns'> {
  readonly columnCount: number
  readonly columns?: readonly Column[]
}

/** A column to declare. `nullable` is true by default. */
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
  /** null means unlimited. */
  readonly limits: {
    readonly privateRepositories: number | null
    readonly paidProviders: boolean
    /** Rows of datasets per month. */
    readonly exportedRows: number | null
    /** Datasets in the account's repositories. */
    readonly datasets: number | null
    /** Columns of one dataset. */
    readonly columns: number | null
    /** Bytes on disk of the account's datasets. */
    readonly storedBytes: number | null
  }
}

/** A plan, which sets the limits of its accounts. */
export interface Plan {
  readonly name: string
  readonly limits: Account['limits']
}

/** An account, as admins see it. */
export interface ManagedAccount {
  readonly id: number
  readonly name: string
  readonly plan: string
  readonly admin: boolean
  /** Whether all keys of the account are refused. */
  readonly disabled: boolean
  readonly apiKeyHint: string
  readonly createdAt: string
}

/** An additional key of an account, without the key itself. */
export interface NamedKey {
  readonly name: string
  readonly keyHint: string
  readonly readOnly: boolean
  /** null if the key doesn't expire. */
  readonly expiresAt: string | null
  readonly createdAt: string
}

export interface Provider {
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly homepage: string
  /** The tier that applies to this account. */
  readonly tier: 'free' | 'paid'
  readonly keyRequired: boolean
  /** Whether this account has saved its own key. */
  readonly userKey: boolean
  /** The limit that is closest to being reached; all null if the provider states none. */
  readonly limit: {
    readonly requests: number | null
    readonly perSeconds: number | null
    readonly remaining: number | null
    /** null while nothing of the limit is used. */
    readonly resetsAt: string | null
  }
}

export interface Category {
  /** The path to pass to `browse` for the categories below this one. */
  readonly path: string
  readonly name: string
  readonly description: string
  /** Whether the category itself contains series. */
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

/** What a search over everything that the server knows has found. */
export interface Found {
  readonly query: string
  /** Number of matching series; null if unknown. */
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
  /** Number of series in the category; null if the provider doesn't say. */
  readonly total: number | null
  readonly limit: number
  readonly offset: number
  readonly series: readonly SeriesInfo[]
}

export interface Observation {
  /** The first day of the period. */
  readonly date: string
  /** For example `2024-Q1`; missing for daily series. */
  readonly period?: string
  readonly value: number | null
  /** For example `provisional`; missing if the provider gives none. */
  readonly status?: string
}

/** One dimension of the key of a series, for example `{id: 'FREQ', name: 'Frequency', code: 'M', label: 'Monthly'}`. */
export interface SeriesDimension {
  readonly id: string
  readonly name: string | null
  readonly code: string
  readonly label: string | null
}

/** A series. Fields that its provider doesn't supply are null. */
export interface Series {
  readonly provider: string
  readonly series_id: string
  readonly name: string
  readonly frequency: string | null
  readonly unit: string | null
  readonly lastUpdated: string | null
  readonly seasonalAdjustment: string | null
  readonly source: string | null
  readonly notes: string | null
  readonly dimensions: readonly SeriesDimension[] | null
  /** First and last date of the whole series, regardless of the requested range. */
  readonly start: string | null
  readonly end: string | null
  /** Oldest first. */
  readonly observations: readonly Observation[]
}

/** Several series as one table, in the columns that `shape` gives. */
export interface SeriesTable {
  /** Series that could not be fetched, with the reason. */
  readonly missing: readonly {
    readonly provider: string
    readonly series_id: string
    readonly code: string
    readonly error: string
  }[]
  readonly rows: readonly Readonly<Record<string, string | number | null>>[]
}

/** How often a dataset that follows series is refreshed. */
export type Interval = 'hour' | 'day' | 'week' | 'month'

/** The series that a dataset follows, and the state of its refreshes. Times are ISO 8601, in UTC. */
export interface Source {
  /** Ids with the slug of the provider before them, for example `fred/GDP`. */
  readonly series: readonly string[]
  readonly start: string | null
  readonly every: Interval
  /** null before the first refresh. */
  readonly lastRun: string | null
  readonly nextRun: string
  /** null if the last refresh succeeded. */
  readonly lastError: string | null
  /** Series that the last refresh could not fetch. Their earlier rows are kept. */
  readonly missing: readonly { readonly series: string; readonly code: string; readonly error: string }[]
  /** The last version of the dataset that a refresh created. */
  readonly lastVersion: number | null
}

/** A URL that downloads one export without an API key. */
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
